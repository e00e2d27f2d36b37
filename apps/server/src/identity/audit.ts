/** Who changed what. Ids are time-ordered, so the newest come first without an index of their own. */
import type { AnswerOf } from '@nebula/client/contract';
import type { Json } from '@nebula/core';
import type { RecordChange } from '@nebula/ports';
import type { Deed } from '../http/app.ts';
import { type Handlers, ok } from '../http/handler.ts';
import type { Parts } from '../parts.ts';
import { isoTime } from '../routes/times.ts';

interface AuditRecord {
  readonly at: number;
  readonly who: string;
  readonly operation: string;
  readonly target: string | null;
  readonly project: string | null;
  readonly outcome: number;
  readonly details: Json;
}

/** Parameters of requests that were refused may be of any length. */
const MAX_TARGET = 200;
/** How long it is kept. */
const KEPT_MS = 400 * 24 * 3_600_000;

export function auditLog({ records, clock, random }: Parts): (deed: Deed) => Promise<void> {
  const commit = gathered((changes: readonly RecordChange[]) => records.commit(changes));
  return async ({ operation, who, params, project, status, ip }) => {
    const at = clock.now();
    const target =
      Object.values((params ?? {}) as Record<string, unknown>)
        .map(String)[0]
        ?.slice(0, MAX_TARGET) ?? null;
    const body: AuditRecord = {
      at,
      who: who.name,
      operation,
      target,
      project: project ?? null,
      outcome: status,
      details: { ip, kind: who.kind },
    };
    const id = random.id('aud');
    await commit({ kind: 'audit', id, body: JSON.stringify(body), expiresAt: at + KEPT_MS });
  };
}

/** What comes while a write is under way goes with the next one: one sync of the disk serves all who wait for it. */
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
    async listAudit({ query: { who, cursor, limit = 50 } }) {
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
