/** The audit log. Ids are ordered by time, so reading the newest first needs no index. */
import type { AnswerOf } from '@nebula/client/contract';
import { PAGE_LIMITS } from '@nebula/client/limits';
import { isJsonObject, type Json } from '@nebula/core';
import { executionOfLease } from '@nebula/engine';
import type { RecordChange } from '@nebula/ports';
import type { AuditedCall } from '../http/app.ts';
import { type Handlers, ok } from '../http/handler.ts';
import type { Parts } from '../parts.ts';
import { isoTime } from '../routes/times.ts';
import { OWNER } from './principal.ts';

interface AuditRecord {
  readonly at: number;
  readonly who: string;
  readonly operation: string;
  readonly target: string | null;
  readonly project: string | null;
  readonly outcome: number;
  readonly details: Json;
}

/** Parameters of rejected requests may have any length, so they are cut. */
const MAX_TARGET = 200;
const THINGS = ['executionId', 'workflowId', 'keyId', 'workerId'];
/** How long entries are kept. */
const KEPT_MS = 400 * 24 * 3_600_000;

export function auditLog({ records, clock, random }: Parts): (auditedCall: AuditedCall) => Promise<void> {
  /** Records a login name only if the user exists: people type passwords into the name field. */
  const userOf = async ({ body }: AuditedCall): Promise<string | null> => {
    const user = memberOf(body, 'user');
    return user !== undefined && (await records.get('user', user)) !== undefined ? user : null;
  };
  const commit = gathered((changes: readonly RecordChange[]) => records.commit(changes));
  return async (auditedCall) => {
    const { operation, who, project, status, ip } = auditedCall;
    const at = clock.now();
    const target = operation === 'login' ? await userOf(auditedCall) : targetOf(auditedCall);
    const { name, kind } = status < 400 ? signedIn(operation, target, who) : who;
    const body: AuditRecord = {
      at,
      who: name,
      operation,
      target,
      project: project ?? null,
      outcome: status,
      details: { ...(ip !== undefined && { ip }), kind, ...ceilingIn(auditedCall) },
    };
    const id = random.id('aud');
    await commit({ kind: 'audit', id, body: JSON.stringify(body), expiresAt: at + KEPT_MS });
  };
}

/** A call that signs somebody in is theirs. */
function signedIn(
  operation: AuditedCall['operation'],
  target: string | null,
  who: AuditedCall['who'],
): Pick<AuditedCall['who'], 'name' | 'kind'> {
  if (operation === 'signIn') return OWNER;
  return operation === 'login' ? { name: target ?? who.name, kind: 'user' } : who;
}

/** Records an event that no request has caused. */
export async function recordEvent(
  { records, clock, random }: Pick<Parts, 'records' | 'clock' | 'random'>,
  event: Pick<AuditRecord, 'operation' | 'target' | 'project' | 'details'>,
): Promise<void> {
  const at = clock.now();
  const body: AuditRecord = { ...event, at, who: 'server', outcome: 200 };
  await records.commit([{ kind: 'audit', id: random.id('aud'), body: JSON.stringify(body), expiresAt: at + KEPT_MS }]);
}

/** Records the ceiling itself, so that the log shows earlier ones. */
function ceilingIn({ operation, body, status }: AuditedCall): { readonly ceiling?: Json } {
  const { ceiling } = (operation === 'putProject' && status < 400 ? (body ?? {}) : {}) as { readonly ceiling?: Json };
  return ceiling === undefined ? {} : { ceiling };
}

/** The id of the changed thing, which the response may have assigned; otherwise the parameters. */
function targetOf({ params, body, answer }: AuditedCall): string | null {
  const { leaseId, ...others } = (params ?? {}) as Record<string, unknown>;
  // A lease id is a bearer token, so the entry names the run instead.
  const leased = leaseId === undefined ? [] : [executionOfLease(String(leaseId)) ?? 'a lease'];
  const [named] = [...leased, ...Object.values(others).map(String)];
  const found =
    named ??
    THINGS.map((name) => memberOf(answer, name)).find((id) => id !== undefined) ??
    [...THINGS, 'plan', 'signal', 'name'].map((name) => memberOf(body, name)).find((id) => id !== undefined);
  return found?.slice(0, MAX_TARGET) ?? null;
}

function memberOf(value: unknown, name: string): string | undefined {
  const member = isJsonObject(value as Json) ? (value as Record<string, unknown>)[name] : undefined;
  return typeof member === 'string' ? member : undefined;
}

/** Entries that arrive during a write go into the next one: one disk sync serves all of them. */
function gathered<T>(write: (items: readonly T[]) => Promise<unknown>): (item: T) => Promise<void> {
  let items: T[] = [];
  let next: Promise<void> | undefined;
  let underWay: Promise<unknown> = Promise.resolve();
  return (item) => {
    items.push(item);
    next ??= underWay
      .catch(() => undefined)
      .then(async () => {
        const now = items;
        items = [];
        next = undefined;
        underWay = write(now);
        await underWay;
      });
    return next;
  };
}

export function auditRoutes({ records }: Parts): Pick<Handlers, 'listAudit'> {
  return {
    async listAudit({ query: { who, cursor, limit = PAGE_LIMITS.default } }) {
      const items: AnswerOf<'listAudit'>['items'] = [];
      let after = cursor;
      for (;;) {
        const page = await records.list('audit', {
          order: 'descending',
          limit: 200,
          ...(after !== undefined && { after }),
        });
        for (const { id, body } of page) {
          if (items.length === limit) return ok({ items, next: after ?? null });
          after = id;
          const { at, ...rest } = JSON.parse(body) as AuditRecord;
          if (who === undefined || rest.who === who) items.push({ id, at: isoTime(at), ...rest });
        }
        if (page.length < 200) return ok({ items, next: null });
      }
    },
  };
}
