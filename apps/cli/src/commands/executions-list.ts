import type { NebulaClient } from '@nebula/client';
import { type Entry, isJsonObject } from '@nebula/core';
import { withApi } from '../api.ts';
import { filterOf } from '../bulk.ts';
import { countOption, definedMembers, textOption } from '../command-options.ts';
import { print } from '../print.ts';
import { type RunWaits, waitsOf } from '../run-waits.ts';
import { findBareRun, type RunSummary, runsOf } from '../runs.ts';
import type { Command, CommandOptions } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { executionLines, type RunTrigger } from '../views/executions.ts';

const DEFAULT_LIMIT = 20;
const MAX_LOOKED_AT = 200;

export const execute: Command = (call) =>
  withApi(call, 'read', async ({ api, io, options, program }) => {
    const page = { limit: countOption(options, 'limit', DEFAULT_LIMIT), cursor: textOption(options, 'cursor') };
    const { rows, next } = await runsOf(api, { ...filterOf(options), ...listFilter(options) }, page);
    const waits = await allWaits(api, rows, io.now());
    const triggers = await allTriggers(api, rows);
    const items = rows.map((row) => rowDocument(row, waits.get(row.executionId), triggers.get(row.executionId)));
    return print(call, { items, next }, () => {
      const { colors } = io.out;
      if (rows.length === 0) {
        const { status, workflow, project, cursor } = options;
        const given = [status, workflow, project, cursor, ...Object.values(listFilter(options))];
        const isFiltered = given.some((one) => one !== undefined);
        return [isFiltered ? 'no run matches' : `no runs yet; start one with ${colors.bold(`${program} run FILE`)}`];
      }
      const listed = rows.map(({ trigger: _, ...row }) => ({
        ...row,
        ...definedMembers({ trigger: triggers.get(row.executionId) }),
        createdAt: Date.parse(row.createdAt),
        finishedAt: row.finishedAt === null ? null : Date.parse(row.finishedAt),
      }));
      const lines = executionLines(listed, { colors, width: readingWidth(io.out), now: io.now() }, waits);
      return next === null ? lines : [...lines, colors.dim(`more: --cursor ${next}`)];
    });
  });

function listFilter(options: CommandOptions) {
  return definedMembers({
    trigger: textOption(options, 'trigger'),
    errorCode: textOption(options, 'error'),
    parent: textOption(options, 'parent'),
    root: options.root === true ? true : undefined,
    search: textOption(options, 'search'),
    order: options.oldest === true ? ('oldest' as const) : undefined,
  });
}

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

/** The trigger of each run, from the first frame of its journal. */
async function allTriggers(api: NebulaClient, rows: readonly RunSummary[]): Promise<Map<string, RunTrigger>> {
  const triggers = new Map<string, RunTrigger>();
  for (const { executionId } of rows.slice(0, MAX_LOOKED_AT)) {
    const query = { limit: 1 };
    const page = await api.call('getJournal', { params: { executionId }, query }).catch(() => undefined);
    const entries = (page?.items[0]?.entries ?? []) as readonly Entry[];
    const started = entries.find((entry) => entry.type === 'run.started');
    const trigger = started?.type === 'run.started' ? started.trigger : undefined;
    if (!isJsonObject(trigger) || typeof trigger['type'] !== 'string') continue;
    const { type, id } = trigger;
    triggers.set(executionId, { type, ...(typeof id === 'string' && { id }) });
  }
  return triggers;
}

function rowDocument(
  row: RunSummary,
  own: RunWaits | undefined,
  trigger: RunTrigger | undefined,
): Record<string, unknown> {
  return {
    executionId: row.executionId,
    workflowId: row.workflowId,
    version: row.version,
    status: row.status,
    parked: own?.parked === true,
    ...(own !== undefined && own.waits.length > 0 && { waits: own.waits }),
    ...definedMembers({ trigger }),
    startedAt: row.createdAt,
    finishedAt: row.finishedAt,
  };
}
