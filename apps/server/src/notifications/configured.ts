/** Notifications of the configuration. Their progress is stored as that of the others, under ids that the API refuses. */
import { NebulaError } from '@nebula/core';
import type { Parts } from '../parts.ts';
import { everyRecord, indexChange, readRecord } from '../records.ts';
import { durationIn, newRecord } from './new-record.ts';
import type { ConfiguredNotification, NotificationRecord } from './records.ts';
import { COMMAND_URL, targetOf } from './target.ts';

const PREFIX = 'config_';

export function configuredId({ id }: Pick<ConfiguredNotification, 'id'>): string {
  return `${PREFIX}${id}`;
}

/** Throws `NOT_ALLOWED` for an id of the configuration. */
export function refuseConfigured(id: string): void {
  if (!id.startsWith(PREFIX)) return;
  throw new NebulaError('NOT_ALLOWED', `The notification '${id}' comes from the configuration of the server.`, {
    hint: `Change it in nebula.config.ts. Ids that begin with ${PREFIX} are for the configuration.`,
  });
}

/** Makes the records equal to the configuration, and keeps the progress of those that are still in it. */
export async function storeConfigured(parts: Parts): Promise<void> {
  const { records, store, configured } = parts;
  const list = configured?.list ?? [];
  const cursor = await store.lastPosition();
  for (const one of list) {
    const id = configuredId(one);
    const before = await readRecord<NotificationRecord>(records, 'notification', id);
    const made = recordOf(one, before?.body ?? { cursor, sending: null, lastSentAt: null });
    const isMoved = before !== undefined && before.body.project !== made.project;
    await records.commit([
      { kind: 'notification', id, body: JSON.stringify(made) },
      indexChange('notification', made.project, id, true),
      ...(isMoved ? [indexChange('notification', before.body.project, id, false)] : []),
    ]);
  }
  const wanted = new Set(list.map(configuredId));
  for await (const { id, body } of everyRecord<NotificationRecord>(records, 'notification', PREFIX)) {
    if (wanted.has(id)) continue;
    await records.commit([
      { kind: 'notification', id, body: null },
      indexChange('notification', body.project, id, false),
    ]);
  }
}

/** Throws `CONFIG_INVALID` that names the notification. */
function recordOf(
  one: ConfiguredNotification,
  progress: Pick<NotificationRecord, 'cursor' | 'sending' | 'lastSentAt' | 'stuck'>,
): NotificationRecord {
  const { command, stuckAfter, ...given } = one;
  try {
    // The record has the name of the program for lists, and no arguments.
    const url = command === undefined ? (given.url ?? '') : `${COMMAND_URL}${command[0]}`;
    const record = newRecord({ ...given, url }, one.project ?? 'default', progress);
    if (command === undefined) targetOf(record);
    return { ...record, stuckAfterMs: durationIn('stuckAfter', stuckAfter) };
  } catch (error) {
    if (!(error instanceof NebulaError)) throw error;
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    throw new NebulaError('CONFIG_INVALID', `notifications: '${one.id}': ${error.message}`, hint);
  }
}
