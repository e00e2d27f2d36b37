/** Moves executions to another version of their workflow. */
import type { BodyOf } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import type { MigrationDecision, MigrationReport } from '@nebula/engine';
import { type Handlers, ok, reply } from '../http/handler.ts';
import { unknownExecution } from '../http/subject.ts';
import type { Parts } from '../parts.ts';
import { readRecord, type WorkflowRecord } from '../records.ts';

export function migrationRoutes(parts: Parts) {
  const { executions } = parts;
  return {
    async migrateExecution({ params: { executionId }, body: { back, dryRun, version, ...decisions } }) {
      if (back) return moved(executionId, await movedBack(parts, executionId));
      const request = { version: await versionFor(parts, executionId, version), decisions: decisionsOf(decisions) };
      if (dryRun) return ok(reportOf(executionId, await executions.checkMigration(executionId, request), false));
      return moved(executionId, await executions.requestMigration(executionId, request));
    },
  } satisfies Partial<Handlers>;
}

const moved = (executionId: string, report: MigrationReport | undefined) =>
  reply(202, reportOf(executionId, report, true));

function reportOf(executionId: string, report: MigrationReport | undefined, accepted: boolean) {
  if (report === undefined) throw unknownExecution(executionId);
  const { from, to, changes, refusal } = report;
  const { code, message, hint } = refusal ?? {};
  const refused = code === undefined || message === undefined ? null : { code, message, ...(hint && { hint }) };
  return {
    ...{ executionId, accepted, from, to, refusal: refused },
    changes: changes.map(({ keys, choices, ...change }) => ({ ...change, keys: [...keys], choices: [...choices] })),
  };
}

async function movedBack({ executions, store }: Parts, executionId: string): Promise<MigrationReport | undefined> {
  const from = (await store.execution(executionId))?.version;
  const to = await executions.requestMigrationBack(executionId);
  return from === undefined || to === undefined ? undefined : { from, to, changes: [], refusal: undefined };
}

/** `latest`: the version that a start uses, or the newest if none is active. */
async function versionFor(
  parts: Parts,
  executionId: string,
  version: number | 'latest' = 'latest',
): Promise<number | undefined> {
  if (version !== 'latest') return version;
  const workflowId = (await parts.store.execution(executionId))?.workflowId;
  const home =
    workflowId === undefined ? undefined : await readRecord<WorkflowRecord>(parts.records, 'workflow', workflowId);
  return home?.body.active ?? undefined;
}

type Decisions = Readonly<Partial<Record<MigrationDecision, readonly string[]>>>;

function decisionsOf(lists: Decisions): Readonly<Record<string, MigrationDecision>> {
  const decisions: [string, MigrationDecision][] = [];
  for (const how of ['keep', 'again', 'drop'] as const) {
    for (const node of lists[how] ?? []) decisions.push([node, how]);
  }
  return Object.fromEntries(decisions);
}

/** Moves one run of a bulk operation. Returns false if there is no such run. */
export async function migrateOne(
  parts: Parts,
  executionId: string,
  { from, version, ...decisions }: NonNullable<BodyOf<'bulkExecutions'>['migration']>,
): Promise<boolean> {
  const row = await parts.store.execution(executionId);
  if (row !== undefined && from !== undefined && row.version !== from) {
    throw new NebulaError('OTHER_VERSION', `${executionId} runs version ${row.version}, not ${from}.`);
  }
  const request = { version: await versionFor(parts, executionId, version), decisions: decisionsOf(decisions) };
  return (await parts.executions.requestMigration(executionId, request)) !== undefined;
}
