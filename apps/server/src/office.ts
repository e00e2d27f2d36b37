/**
 * Operations of the API without HTTP: for whoever has the data folder itself, and so owns what is in it. What comes in
 * is checked as a request is; who may do what is not asked.
 */
import type { AnswerOf, BodyOf, OperationId, ParamsOf, QueryOf } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import type { Call, Handlers, Reply } from './http/handler.ts';
import { subjectOf } from './http/subject.ts';
import { type Validator, validators } from './http/validate.ts';
import { Accounts, principalOf } from './identity/accounts.ts';
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

let checks: Readonly<Record<OperationId, Validator>> | undefined;

export function officeOf(parts: Parts, handlers: Partial<Handlers>, who: Principal = OWNER): Office {
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
      const project = await subjectOf(parts, operation, given);
      const signal = new AbortController().signal;
      const call = { operation, ...given, who, project, headers: {}, ip: '', isSecure: false, signal };
      const { body: answer } = await handler(call as unknown as Call<OperationId>);
      return answer as AnswerOf<typeof operation>;
    },

    async as(userId) {
      const user = await readRecord<UserRecord>(parts.records, 'user', userId);
      if (user === undefined) throw new NebulaError('UNKNOWN_USER', `There is no user '${userId}'.`);
      return officeOf(parts, handlers, principalOf(user));
    },
  };
}

/** What can be done where no server runs: nothing that starts a run. */
export function localOffice(parts: Parts): Office {
  const { fireSchedule: _, ...schedules } = scheduleRoutes(parts, new Launcher(parts), () => undefined);
  return officeOf(parts, {
    ...workflowRoutes(parts, () => undefined),
    ...identityRoutes(parts, new Accounts(parts), { isSecure: false }),
    ...planRoutes(parts),
    ...schedules,
  });
}
