/** Notifications of a project. Only a server sends them. */
import type { AnswerOf } from '@nebula/client/contract';
import { formatDuration, NebulaError, parseDuration } from '@nebula/core';
import { gone, type Handlers, ok, reply } from '../http/handler.ts';
import { DEFAULT_PROJECT, requireProject } from '../http/subject.ts';
import { isAtLeast } from '../identity/principal.ts';
import { NOTIFICATION_LIMITS } from '../limits.ts';
import { deliver, errorText, expectWithinCeiling } from '../notifications/deliver.ts';
import { messageOf, sampleEvent } from '../notifications/message.ts';
import { NOTIFICATIONS, type NotificationRecord } from '../notifications/records.ts';
import type { Parts } from '../parts.ts';
import {
  etagOf,
  idTaken,
  indexChange,
  listRecords,
  putRecord,
  type Read,
  readRecord,
  refuseMany,
  removeRecord,
} from '../records.ts';
import { isoTimeOrNull } from './times.ts';

const KIND = 'notification';
const DEFAULT_GATHER_MS = 60_000;

export function notificationRoutes(parts: Parts) {
  const { records, clock, store, random } = parts;
  return {
    async listNotifications({ query, who, project }) {
      // A URL may be a secret by itself: it is shown to those who may change it.
      const isShown = ({ body }: Read<NotificationRecord>): boolean => {
        const role = Object.hasOwn(who.roles, body.project) ? who.roles[body.project] : undefined;
        const isEditor = who.isAdmin || (role !== undefined && isAtLeast(role, 'editor'));
        return isEditor && (project === undefined || body.project === project);
      };
      const { items, next } = await listRecords(records, KIND, query, isShown);
      return ok({ items: items.map(documentOf), next });
    },

    async putNotification({ params: { notificationId: id }, body, project, headers }) {
      const home = project ?? DEFAULT_PROJECT;
      await requireProject(parts, home);
      const cursor = await store.lastPosition();
      const made = async (before: Read<NotificationRecord> | undefined): Promise<NotificationRecord> => {
        if (before === undefined) await refuseMany(records, { ...NOTIFICATIONS, project: home }, [id]);
        else if (before.body.project !== home) throw idTaken(id);
        const record = recordOf(body, home, before?.body ?? { cursor, sending: null, lastSentAt: null });
        await expectWithinCeiling(parts, record);
        // What happened while it was off is not sent.
        return before?.body.active === false ? { ...record, cursor, sending: null } : record;
      };
      const target = { kind: KIND, id, ifMatch: headers['if-match'] };
      const put = await putRecord<NotificationRecord>(records, target, made, [indexChange(KIND, home, id, true)]);
      return reply(put.isNew ? 201 : 200, documentOf({ id, body: put.body }), { etag: etagOf(put) });
    },

    async deleteNotification({ params: { notificationId: id }, headers }) {
      const { body } = await named(parts, id);
      const index = indexChange(KIND, body.project, id, false);
      await removeRecord(records, KIND, id, headers['if-match'], [index]);
      return gone();
    },

    async testNotification({ params: { notificationId: id }, signal }) {
      const { body } = await named(parts, id);
      const now = clock.now();
      const sample = { events: [sampleEvent(now)], counts: { failed: 1, unknown: 0, approval: 0 } };
      try {
        await deliver(parts, body, messageOf(id, body, random.id('ntf'), sample, now, true), signal);
        return ok({ delivered: true, error: null });
      } catch (error) {
        return ok({ delivered: false, error: errorText(error) });
      }
    },
  } satisfies Partial<Handlers>;
}

async function named({ records }: Parts, id: string): Promise<Read<NotificationRecord>> {
  const found = await readRecord<NotificationRecord>(records, KIND, id);
  if (found === undefined) throw new NebulaError('UNKNOWN_NOTIFICATION', `There is no notification '${id}'.`);
  return found;
}

type Body = Parameters<Handlers['putNotification']>[0]['body'];
type Progress = Pick<NotificationRecord, 'cursor' | 'sending' | 'lastSentAt'>;

function recordOf(body: Body, project: string, { cursor, sending, lastSentAt }: Progress): NotificationRecord {
  const { url, secret = null, network = [], workflows, tag = null, gather, active = true } = body;
  return {
    project,
    url,
    secret,
    network,
    on: [...new Set(body.on ?? (['failed', 'unknown'] as const))],
    workflows: workflows ?? null,
    tag,
    gatherMs: gatherMsOf(gather),
    active,
    cursor,
    // A change is tried at once.
    sending: sending === null ? null : { ...sending, nextTryAt: 0 },
    lastSentAt,
    lastError: null,
  };
}

function gatherMsOf(text: string | undefined): number {
  const { minGatherMs, maxGatherMs } = NOTIFICATION_LIMITS;
  const ms = text === undefined ? DEFAULT_GATHER_MS : parseDuration(text);
  if (typeof ms === 'number' && ms >= minGatherMs && ms <= maxGatherMs) return ms;
  throw new NebulaError('BODY_INVALID', 'gather: it is not a time from one second to one day', {
    hint: 'E.g. 1m: the events of a minute are one message.',
    details: { errors: [{ pointer: '/gather', detail: 'must be a time from 1s to 1d' }] },
  });
}

function documentOf({ id, body }: Pick<Read<NotificationRecord>, 'id' | 'body'>): AnswerOf<'putNotification'> {
  const { project, url, secret, network, on, workflows, tag, gatherMs, active, sending, lastSentAt, lastError } = body;
  return {
    notificationId: id,
    project,
    url,
    secret,
    network: [...network],
    on: [...on],
    workflows: workflows === null ? null : [...workflows],
    tag,
    gather: formatDuration(gatherMs),
    active,
    lastSentAt: isoTimeOrNull(lastSentAt),
    lastError,
    nextTryAt: sending === null || lastError === null ? null : isoTimeOrNull(sending.nextTryAt),
  };
}
