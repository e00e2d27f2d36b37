import type { NebulaClient } from '@nebula/client';
import { withApi } from '../api.ts';
import { filterOf } from '../bulk.ts';
import { countOption, textOption } from '../command-options.ts';
import { print } from '../print.ts';
import { type RunWaits, waitsOf } from '../run-waits.ts';
import { findBareRun, type RunSummary, runsOf } from '../runs.ts';
import type { Command } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { executionLines } from '../views/executions.ts';

const DEFAULT_LIMIT = 20;
const MAX_LOOKED_AT = 200;

export const execute: Command = (call) =>
  withApi(call, 'read', async ({ api, io, options, program }) => {
    const page = { limit: countOption(options, 'limit', DEFAULT_LIMIT), cursor: textOption(options, 'cursor') };
    const { rows, next } = await runsOf(api, filterOf(options), page);
    const waits = await allWaits(api, rows, io.now());
    const items = rows.map((row) => rowDocument(row, waits.get(row.executionId)));
    return print(call, { items, next }, () => {
      const { colors } = io.out;
      if (rows.length === 0) {
        const { status, workflow, project, cursor } = options;
        const isFiltered = [status, workflow, project, cursor].some((given) => given !== undefined);
        return [isFiltered ? 'no run matches' : `no runs yet; start one with ${colors.bold(`${program} run FILE`)}`];
      }
      const listed = rows.map((row) => ({
        ...row,
        createdAt: Date.parse(row.createdAt),
        finishedAt: row.finishedAt === null ? null : Date.parse(row.finishedAt),
      }));
      const lines = executionLines(listed, { colors, width: readingWidth(io.out), now: io.now() }, waits);
      return next === null ? lines : [...lines, colors.dim(`more: --cursor ${next}`)];
    });
  });

/** The waits of open runs. Each needs a read of its own, so at most `MAX_LOOKED_AT` runs are read. */
async function allWaits(api: NebulaClient, rows: readonly RunSummary[], now: number): Promise<Map<string, RunWaits>> {
  const waits = new Map<string, RunWaits>();
  for (const { executionId } of rows.filter(({ finishedAt }) => finishedAt === null).slice(0, MAX_LOOKED_AT)) {
    // A run that cannot be read (its action may be gone) stays in the list, without its waits.
    const own = await waitsOf((id) => findBareRun(api, id), executionId, now).catch(() => undefined);
    if (own !== undefined) waits.set(executionId, own);
  }
  return waits;
}

function rowDocument(row: RunSummary, own: RunWaits | undefined): Record<string, unknown> {
  return {
    executionId: row.executionId,
    workflowId: row.workflowId,
    version: row.version,
    status: row.status,
    parked: own?.parked === true,
    ...(own !== undefined && own.waits.length > 0 && { waits: own.waits }),
    startedAt: row.createdAt,
    finishedAt: row.finishedAt,
  };
}
