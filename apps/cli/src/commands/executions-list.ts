import type { ExecutionFilter, ExecutionRow, ExecutionStatus } from '@nebula/ports';
import { readingWidth, writeLines } from '../conclude.ts';
import { countOption, textOption, withDesk } from '../desk.ts';
import type { CommandOptions, Context } from '../services.ts';
import { executionLines, isParked } from '../views/executions.ts';
import { jsonDocument } from '../views/json.ts';

const DEFAULT_LIMIT = 20;

export function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io } = context;
  return withDesk(context, options, async ({ desk }) => {
    const { rows, next } = await desk.list(filterOf(options));
    if (options.json === true) {
      io.out.write(jsonDocument({ executions: rows.map(rowDocument), next }));
      return 0;
    }
    const { colors } = io.out;
    if (rows.length === 0) {
      const isFiltered = [options.status, options.workflow, options.cursor].some((given) => given !== undefined);
      const none = `no runs here yet; ${colors.bold(`${context.program} run FILE`)} makes one`;
      writeLines(io.out, [isFiltered ? 'no run matches' : none]);
      return 0;
    }
    writeLines(io.out, executionLines(rows, { colors, width: readingWidth(io.out), now: io.now() }));
    if (next !== null) writeLines(io.out, [colors.dim(`more: --cursor ${next}`)]);
    return 0;
  });
}

function filterOf(options: CommandOptions): ExecutionFilter {
  const workflowId = textOption(options, 'workflow');
  const cursor = textOption(options, 'cursor');
  return {
    limit: countOption(options, 'limit', DEFAULT_LIMIT),
    ...(Array.isArray(options.status) && { status: options.status as ExecutionStatus[] }),
    ...(workflowId !== undefined && { workflowId }),
    ...(cursor !== undefined && { cursor }),
  };
}

function rowDocument(row: ExecutionRow): Record<string, unknown> {
  return {
    executionId: row.executionId,
    workflowId: row.workflowId,
    version: row.version,
    status: row.status,
    parked: isParked(row),
    startedAt: new Date(row.createdAt).toISOString(),
    finishedAt: row.finishedAt === null ? null : new Date(row.finishedAt).toISOString(),
  };
}
