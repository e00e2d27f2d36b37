/** Notifications of a project. Only a server sends them. */
import type { AnswerOf } from '@nebula/client/contract';
import { formatDuration, NebulaError } from '@nebula/core';
import { gone, type Handlers, ok, reply } from '../http/handler.ts';
import { DEFAULT_PROJECT, requireProject } from '../http/subject.ts';
import { isAtLeast } from '../identity/principal.ts';
import { refuseConfigured } from '../notifications/configured.ts';
import { deliver, errorText, expectWithinCeiling } from '../notifications/deliver.ts';
import { messageOf, sampleEvent } from '../notifications/message.ts';
import { newRecord } from '../notifications/new-record.ts';
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
      refuseConfigured(id);
      await requireProject(parts, home);
      const cursor = await store.lastPosition();
      const made = async (before: Read<NotificationRecord> | undefined): Promise<NotificationRecord> => {
        if (before === undefined) await refuseMany(records, { ...NOTIFICATIONS, project: home }, [id]);
        else if (before.body.project !== home) throw idTaken(id);
        const record = newRecord(body, home, before?.body ?? { cursor, sending: null, lastSentAt: null });
        await expectWithinCeiling(parts, record);
        // Events from the time in which it was off are not sent.
        return before?.body.active === false ? { ...record, cursor, sending: null } : record;
      };
      const target = { kind: KIND, id, ifMatch: headers['if-match'] };
      const put = await putRecord<NotificationRecord>(records, target, made, [indexChange(KIND, home, id, true)]);
      return reply(put.isNew ? 201 : 200, documentOf({ id, body: put.body }), { etag: etagOf(put) });
    },

    async deleteNotification({ params: { notificationId: id }, headers }) {
      refuseConfigured(id);
      const { body } = await named(parts, id);
      const index = indexChange(KIND, body.project, id, false);
      await removeRecord(records, KIND, id, headers['if-match'], [index]);
      return gone();
    },

    async testNotification({ params: { notificationId: id }, signal }) {
      const { body } = await named(parts, id);
      const now = clock.now();
      const sample = { events: [sampleEvent(now)], counts: { failed: 1, unknown: 0, approval: 0, stuck: 0 } };
      const message = messageOf(id, body, random.id('ntf'), sample, { now, publicUrl: parts.publicUrl, isTest: true });
      try {
        return ok({ delivered: true, error: await deliver(parts, body, message, signal) });
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
