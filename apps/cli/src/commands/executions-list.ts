import type { Desk } from '@nebula/engine';
import type { ExecutionFilter, ExecutionRow, ExecutionStatus } from '@nebula/ports';
import { writeLines } from '../conclude.ts';
import { countOption, inProject, textOption, withDesk } from '../desk.ts';
import type { CommandOptions, Context } from '../services.ts';
import { type Standing, standingOf } from '../standing.ts';
import { readingWidth } from '../terminal/io.ts';
import { executionLines } from '../views/executions.ts';
import { jsonDocument } from '../views/json.ts';

const DEFAULT_LIMIT = 20;
const MAX_STANDINGS = 200;

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  return withDesk(context, options, async ({ desk }) => {
    const { rows, next } = await desk.list(filterOf(options));
    const standings = await standingsOf(desk, rows, io.now());
    if (options.json === true) {
      const executions = rows.map((row) => rowDocument(row, standings.get(row.executionId)));
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
    writeLines(io.out, executionLines(rows, { colors, width: readingWidth(io.out), now: io.now() }, standings));
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
async function standingsOf(desk: Desk, rows: readonly ExecutionRow[], now: number): Promise<Map<string, Standing>> {
  const standings = new Map<string, Standing>();
  for (const { executionId } of rows.filter(({ finishedAt }) => finishedAt === null).slice(0, MAX_STANDINGS)) {
    // One that cannot be read (its action may be gone) is still in the list.
    const standing = await standingOf(desk, executionId, now).catch(() => undefined);
    if (standing !== undefined) standings.set(executionId, standing);
  }
  return standings;
}

function rowDocument(row: ExecutionRow, standing: Standing | undefined): Record<string, unknown> {
  return {
    executionId: row.executionId,
    workflowId: row.workflowId,
    version: row.version,
    status: row.status,
    parked: standing?.parked === true,
    ...(standing !== undefined && standing.waits.length > 0 && { waits: standing.waits }),
    startedAt: new Date(row.createdAt).toISOString(),
    finishedAt: row.finishedAt === null ? null : new Date(row.finishedAt).toISOString(),
  };
}
