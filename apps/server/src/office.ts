/**
 * Operations of the API without HTTP: for whoever has the data folder itself, and so owns what is in it. What comes in
 * is checked as a request is; who may do what is not asked.
 */
import {
  type AnswerOf,
  type BodyOf,
  OPERATIONS,
  type Operation,
  type OperationId,
  type ParamsOf,
  type QueryOf,
  ROUTES,
} from '@nebula/client/contract';
import { isJsonObject, NebulaError } from '@nebula/core';
import type { Call, Handlers, Reply } from './http/handler.ts';
import { subjectOf } from './http/subject.ts';
import { type Validator, validators } from './http/validate.ts';
import { Accounts, principalOf } from './identity/accounts.ts';
import { auditLog, auditRoutes } from './identity/audit.ts';
import { OWNER } from './identity/desktop.ts';
import type { Principal } from './identity/principal.ts';
import { identityRoutes } from './identity/routes.ts';
import { Launcher } from './launcher.ts';
import type { Parts } from './parts.ts';
import { readRecord, type UserRecord } from './records.ts';
import { planRoutes } from './routes/plans.ts';
import { scheduleRoutes } from './routes/schedules.ts';
import { workflowRoutes } from './routes/workflows.ts';

export interface OfficeCall<K extends OperationId> {
  readonly params?: ParamsOf<K>;
  readonly query?: QueryOf<K>;
  readonly body?: BodyOf<K>;
}

export interface Office {
  call<K extends OperationId>(operation: K, input?: OfficeCall<K>): Promise<AnswerOf<K>>;
  /** The same in the name of a user. Rejects with `UNKNOWN_USER`. */
  as(userId: string): Promise<Office>;
}

type Audit = ReturnType<typeof auditLog>;

let checks: Readonly<Record<OperationId, Validator>> | undefined;

export function officeOf(parts: Parts, handlers: Partial<Handlers>, audit: Audit, who: Principal = OWNER): Office {
  return {
    async call(operation, input = {}) {
      checks ??= validators();
      const handler = handlers[operation] as ((call: Call<OperationId>) => Promise<Reply<unknown>>) | undefined;
      if (handler === undefined) {
        throw new NebulaError('NEEDS_SERVER', `${operation} is done by a server only.`, {
          hint: '`nebula serve` starts one; --server names one that runs.',
        });
      }
      const { params = {}, query = {}, body = {} } = input;
      const given = { params, query, body } as Parameters<typeof subjectOf>[2];
      checks[operation](given);
      const project = (await subjectOf(parts, operation, given))?.project;
      const signal = new AbortController().signal;
      const call = { operation, ...given, who, project, headers: {}, ip: '', isSecure: false, isLocal: true, signal };
      const before = await workflowMark(parts, operation, body);
      const { status, body: answer } = await handler(call as unknown as Call<OperationId>);
      const isUnchanged = before !== undefined && before === (await workflowMark(parts, operation, body));
      if (isChange(operation) && !isUnchanged) await audit({ operation, who, params, body, answer, project, status });
      return answer as AnswerOf<typeof operation>;
    },

    async as(userId) {
      const user = await readRecord<UserRecord>(parts.records, 'user', userId);
      if (user === undefined) throw new NebulaError('UNKNOWN_USER', `There is no user '${userId}'.`);
      return officeOf(parts, handlers, audit, principalOf(user));
    },
  };
}

function isChange(operation: OperationId): boolean {
  const { isReading }: Operation = OPERATIONS[operation];
  return !ROUTES[operation].startsWith('GET ') && isReading !== true;
}

/** A server registers its files with every start: of those that stay as they are nothing is to be told. */
async function workflowMark(
  { store, records }: Parts,
  operation: OperationId,
  body: unknown,
): Promise<string | undefined> {
  if (operation !== 'registerWorkflow') return undefined;
  const { definition } = body as BodyOf<'registerWorkflow'>;
  if (!isJsonObject(definition) || typeof definition.id !== 'string') return undefined;
  const newest = await store.workflowVersion(definition.id);
  const record = await records.get('workflow', definition.id);
  return `${newest?.version ?? 0} ${record?.revision ?? 0}`;
}

/** What can be done where no server runs: nothing that starts a run. */
export function localOffice(parts: Parts): Office {
  const { fireSchedule: _, ...schedules } = scheduleRoutes(parts, new Launcher(parts), () => undefined);
  const handlers = {
    ...workflowRoutes(parts, () => undefined),
    ...identityRoutes(parts, new Accounts(parts), { isSecure: false }),
    ...planRoutes(parts),
    ...auditRoutes(parts),
    ...schedules,
  };
  return officeOf(parts, handlers, auditLog(parts));
}
