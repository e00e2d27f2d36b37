/** Triggers of active workflows, and schedules that were created with the API. */
import type { AnswerOf } from '@nebula/client/contract';
import { formatDuration, NebulaError } from '@nebula/core';
import { type Handlers, ok } from '../http/handler.ts';
import { visibleProjects } from '../identity/principal.ts';
import type { Parts } from '../parts.ts';
import { listRecords, type Read } from '../records.ts';
import type { EventRecord, FileRecord, ScheduleRecord, TriggerSource, WebhookRecord } from '../triggers/records.ts';
import { firesOf } from '../triggers/schedules.ts';
import { isoTime, isoTimeOrNull } from './times.ts';

const KINDS = ['schedule', 'webhook', 'event', 'file'] as const;
type Kind = (typeof KINDS)[number];
type Document = AnswerOf<'listTriggers'>['items'][number];

const DEFAULT_FIRES = 5;

export function triggerRoutes({ records, clock }: Parts) {
  return {
    async listTriggers({ query: { kind, workflowId, cursor, limit = 50, fires = DEFAULT_FIRES }, who, project }) {
      const visible = project === undefined ? visibleProjects(who) : [project];
      const isShown = ({ body }: Read<TriggerSource | ScheduleRecord>): boolean =>
        (visible?.includes(body.project) ?? true) && (workflowId === undefined || body.workflowId === workflowId);
      const place = placeIn(cursor);
      const kinds = kind === undefined ? KINDS : [kind];
      const items: Document[] = [];
      for (const [index, one] of kinds.entries()) {
        if (place !== undefined && KINDS.indexOf(one) < KINDS.indexOf(place.kind)) continue;
        const after = place?.kind === one && place.after !== '' ? { cursor: place.after } : {};
        const page = await listRecords(records, one, { ...after, limit: limit - items.length }, isShown);
        for (const record of page.items) {
          const nextFires = one === 'schedule' ? await firesOf(record.body as ScheduleRecord, clock, fires) : [];
          items.push(documentOf(one, record, nextFires));
        }
        const next = kinds[index + 1];
        if (page.next !== null) return ok({ items, next: cursorOf(one, page.next) });
        if (items.length === limit) return ok({ items, next: next === undefined ? null : cursorOf(next, '') });
      }
      return ok({ items, next: null });
    },
  } satisfies Partial<Handlers>;
}

function documentOf(
  kind: Kind,
  { id, body }: Read<TriggerSource | ScheduleRecord>,
  nextFires: readonly number[],
): Document {
  const base = { kind, id, project: body.project, workflowId: body.workflowId };
  switch (kind) {
    case 'schedule': {
      const { trigger, plan, cron, everyMs, timezone, active, lastFiredAt } = body as ScheduleRecord;
      return {
        ...base,
        active,
        version: trigger?.version ?? null,
        plan,
        cron,
        every: everyMs === null ? null : formatDuration(everyMs),
        timezone,
        lastFiredAt: isoTimeOrNull(lastFiredAt),
        nextFires: nextFires.map(isoTime),
      };
    }
    case 'webhook': {
      const { version, signature, respond } = body as WebhookRecord;
      const [method = '', path = ''] = id.split(' ');
      return { ...base, active: true, version, method, path, respond, signed: signature !== null };
    }
    case 'event':
      return { ...base, active: true, version: (body as EventRecord).version, event: eventName(id) };
    case 'file': {
      const { version, path } = body as FileRecord;
      return { ...base, active: true, version, path };
    }
  }
}

/** The id of an event trigger begins with the name of the event as JSON. */
function eventName(id: string): string {
  const [, quoted = '""'] = /^("(?:[^"\\]|\\.)*")/.exec(id) ?? [];
  return JSON.parse(quoted) as string;
}

function cursorOf(kind: Kind, after: string): string {
  return `${kind}:${after}`;
}

function placeIn(cursor: string | undefined): { readonly kind: Kind; readonly after: string } | undefined {
  if (cursor === undefined) return undefined;
  const colon = cursor.indexOf(':');
  const kind = KINDS.find((one) => one === cursor.slice(0, colon));
  if (kind !== undefined) return { kind, after: cursor.slice(colon + 1) };
  throw new NebulaError('CURSOR_INVALID', `'${cursor.slice(0, 80)}' is not a cursor of this list.`, {
    hint: 'Give the cursor of an earlier page unchanged, or none for the first page.',
  });
}
