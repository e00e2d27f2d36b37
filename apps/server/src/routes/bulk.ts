/** Applies one operation to many executions. */
import type { AnswerOf } from '@nebula/client/contract';
import { type Json, NebulaError } from '@nebula/core';
import { type Handlers, ok } from '../http/handler.ts';
import type { Principal } from '../identity/principal.ts';
import type { Parts } from '../parts.ts';
import { isNoop, rejectNoop } from './execution-requests.ts';
import { filterOf } from './executions.ts';
import { migrateOne } from './migrations.ts';

export function bulkRoutes(parts: Parts) {
  return {
    async bulkExecutions(call) {
      const { body, who } = call;
      const operation = bulkOperation(parts, body, who);
      const { ids, unknown, more } = await chosen(parts, body, who);
      let done = 0;
      const failed: AnswerOf<'bulkExecutions'>['failed'] = unknown.map(notThere);
      for (const executionId of ids) {
        try {
          await rejectNoop(parts, executionId, body.operation);
          if (await operation(executionId)) done++;
          else failed.push(body.operation === 'delete' ? notEnded(executionId) : notThere(executionId));
        } catch (error) {
          if (!(error instanceof NebulaError)) throw error;
          // Executions found by a filter are skipped if the operation does not apply to them; named ones are reported.
          const isMeant = body.ids !== undefined || !isNoop(error);
          if (isMeant) failed.push({ executionId, code: error.code, message: error.message });
        }
      }
      return ok({ done, failed, more });
    },
  } satisfies Partial<Handlers>;
}

type BulkBody = Parameters<Handlers['bulkExecutions']>[0]['body'];

function bulkOperation(parts: Parts, body: BulkBody, who: Principal): (executionId: string) => Promise<boolean> {
  const { executions } = parts;
  const { operation, reason, compensate, signal, migration } = body;
  switch (operation) {
    case 'cancel':
      return (id) =>
        executions.requestCancel(
          id,
          reason ?? `cancelled by ${who.name}`,
          compensate === undefined ? {} : { compensate },
        );
    case 'pause':
      return (id) => executions.requestPause(id, reason);
    case 'resume':
      return (id) => executions.requestResume(id);
    case 'retry':
      return (id) => executions.requestRetry(id);
    case 'migrate':
      return (id) => migrateOne(parts, id, migration ?? {});
    case 'delete':
      return (id) => executions.delete(id);
    case 'signal': {
      if (signal === undefined) throw bodyLacks('signal', 'Which signal?');
      const { signal: name, key, payload } = signal;
      return (id) =>
        executions.requestSignal(id, {
          signal: name,
          ...(key !== undefined && { key }),
          payload: (payload ?? null) as Json,
        });
    }
  }
}

interface Chosen {
  readonly ids: readonly string[];
  /** Named executions that do not exist or that the caller may not see. */
  readonly unknown: readonly string[];
  readonly more: boolean;
}

const notThere = (executionId: string): AnswerOf<'bulkExecutions'>['failed'][number] => ({
  executionId,
  code: 'UNKNOWN_EXECUTION',
  message: `There is no execution ${executionId}.`,
});

const notEnded = (executionId: string): AnswerOf<'bulkExecutions'>['failed'][number] => ({
  executionId,
  code: 'NOT_FINISHED',
  message: `${executionId} has not ended.`,
});

/** The named or found executions of a bulk operation, limited to those that the caller may operate. */
async function chosen(parts: Parts, { ids, filter, limit = 1_000 }: BulkBody, who: Principal): Promise<Chosen> {
  const may = new Set(who.isAdmin ? [] : Object.keys(who.roles).filter((project) => who.roles[project] !== 'viewer'));
  const isTheirs = (project: string): boolean => who.isAdmin || may.has(project);
  if (ids !== undefined) {
    const theirs: string[] = [];
    for (const id of ids) {
      const row = await parts.store.execution(id);
      if (row !== undefined && isTheirs(row.project)) theirs.push(id);
    }
    return { ids: theirs, unknown: ids.filter((id) => !theirs.includes(id)), more: false };
  }
  if (filter === undefined) throw bodyLacks('ids', 'Say which: `ids`, or a `filter`.');
  if (filter.project !== undefined && !isTheirs(filter.project)) {
    throw new NebulaError('NOT_ALLOWED', `${who.name} may not operate runs of project '${filter.project}'.`);
  }
  const found: string[] = [];
  const where = filterOf(filter, who.isAdmin ? who : { ...who, roles: rolesOf(who, may) }, filter.project);
  let cursor: string | undefined;
  do {
    const page = await parts.store.list({
      ...where,
      limit: Math.min(1_000, limit - found.length),
      ...(cursor !== undefined && { cursor }),
    });
    found.push(...page.rows.map(({ executionId }) => executionId));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && found.length < limit);
  return { ids: found, unknown: [], more: cursor !== undefined };
}

function rolesOf({ roles }: Principal, projects: ReadonlySet<string>): Principal['roles'] {
  return Object.fromEntries(Object.entries(roles).filter(([project]) => projects.has(project)));
}

function bodyLacks(member: string, hint: string): NebulaError {
  return new NebulaError('BODY_INVALID', `The body lacks '${member}'.`, {
    hint,
    details: { errors: [{ pointer: `/${member}`, detail: 'is missing' }] },
  });
}
