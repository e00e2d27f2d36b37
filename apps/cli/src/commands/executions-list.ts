import type { Desk } from '@nebula/engine';
import type { ExecutionFilter, ExecutionRow, ExecutionStatus } from '@nebula/ports';
import { writeLines } from '../conclude.ts';
import { countOption, inProject, textOption, withDesk } from '../desk.ts';
import { type RunWaits, waitsOf } from '../run-waits.ts';
import type { CommandOptions, Context } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { executionLines } from '../views/executions.ts';
import { jsonDocument } from '../views/json.ts';

const DEFAULT_LIMIT = 20;
const MAX_LOOKED_AT = 200;

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  return withDesk(context, options, async ({ desk }) => {
    const { rows, next } = await desk.list(filterOf(options));
    const waits = await allWaits(desk, rows, io.now());
    if (options.json === true) {
      const executions = rows.map((row) => rowDocument(row, waits.get(row.executionId)));
      io.out.write(jsonDocument({ executions, next }));
      return 0;
    }
    const { colors } = io.out;
    if (rows.length === 0) {
      const isFiltered = [options.status, options.workflow, options.project, options.cursor].some(
        (given) => given !== undefined,
      );
      const none = `no runs here yet; ${colors.bold(`${context.program} run FILE`)} makes one`;
      writeLines(io.out, [isFiltered ? 'no run matches' : none]);
      return 0;
    }
    writeLines(io.out, executionLines(rows, { colors, width: readingWidth(io.out), now: io.now() }, waits));
    if (next !== null) writeLines(io.out, [colors.dim(`more: --cursor ${next}`)]);
    return 0;
  });
}

function filterOf(options: CommandOptions): ExecutionFilter {
  const workflowId = textOption(options, 'workflow');
  const cursor = textOption(options, 'cursor');
  return {
    limit: countOption(options, 'limit', DEFAULT_LIMIT),
    ...inProject(options),
    ...(Array.isArray(options.status) && { status: options.status as ExecutionStatus[] }),
    ...(workflowId !== undefined && { workflowId }),
    ...(cursor !== undefined && { cursor }),
  };
}

/** Of runs that have not ended: reading these costs more than their rows, so not of more than anybody reads. */
async function allWaits(desk: Desk, rows: readonly ExecutionRow[], now: number): Promise<Map<string, RunWaits>> {
  const waits = new Map<string, RunWaits>();
  for (const { executionId } of rows.filter(({ finishedAt }) => finishedAt === null).slice(0, MAX_LOOKED_AT)) {
    // One that cannot be read (its action may be gone) is still in the list.
    const own = await waitsOf((id) => desk.document(id), executionId, now).catch(() => undefined);
    if (own !== undefined) waits.set(executionId, own);
  }
  return waits;
}

function rowDocument(row: ExecutionRow, own: RunWaits | undefined): Record<string, unknown> {
  return {
    executionId: row.executionId,
    workflowId: row.workflowId,
    version: row.version,
    status: row.status,
    parked: own?.parked === true,
    ...(own !== undefined && own.waits.length > 0 && { waits: own.waits }),
    startedAt: new Date(row.createdAt).toISOString(),
    finishedAt: row.finishedAt === null ? null : new Date(row.finishedAt).toISOString(),
  };
}
