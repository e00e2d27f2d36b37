/** Makes the record of a notification from its settings. */
import { NebulaError, parseDuration } from '@nebula/core';
import { NOTIFICATION_LIMITS } from '../limits.ts';
import type { NotificationKind, NotificationRecord } from './records.ts';

const DEFAULT_GATHER_MS = 60_000;

export interface Settings {
  readonly url: string;
  readonly secret?: string;
  readonly network?: readonly string[];
  readonly on?: readonly NotificationKind[];
  readonly workflows?: readonly string[];
  readonly tag?: string;
  readonly gather?: string;
  readonly active?: boolean;
}

type Progress = Pick<NotificationRecord, 'cursor' | 'sending' | 'lastSentAt' | 'stuck'>;

/** Throws `BODY_INVALID` with the place. */
export function newRecord(settings: Settings, project: string, progress: Progress): NotificationRecord {
  const { url, secret = null, network = [], workflows, tag = null, gather, active = true } = settings;
  const { cursor, sending, lastSentAt, stuck } = progress;
  return {
    project,
    url,
    secret,
    network,
    on: [...new Set(settings.on ?? (['failed', 'unknown'] as const))],
    workflows: workflows ?? null,
    tag,
    gatherMs: durationIn('gather', gather),
    active,
    cursor,
    // A change is tried at once, after messages that are sent for the first time.
    sending: sending === null ? null : { ...sending, nextTryAt: 0 },
    lastSentAt,
    lastError: null,
    ...(stuck !== undefined && { stuck }),
  };
}

const DURATIONS = {
  gather: {
    fallbackMs: DEFAULT_GATHER_MS,
    minMs: NOTIFICATION_LIMITS.minGatherMs,
    maxMs: NOTIFICATION_LIMITS.maxGatherMs,
    range: ['one second to one day', '1s to 1d'],
    hint: 'E.g. 1m: the events of a minute are one message.',
  },
  stuckAfter: {
    fallbackMs: NOTIFICATION_LIMITS.stuckAfterMs,
    minMs: NOTIFICATION_LIMITS.minStuckAfterMs,
    maxMs: NOTIFICATION_LIMITS.maxStuckAfterMs,
    range: ['one minute to 30 days', '1m to 30d'],
    hint: 'E.g. 15m: a run without progress for 15 minutes is stuck.',
  },
} as const;

export function durationIn(name: keyof typeof DURATIONS, text: string | undefined): number {
  const { fallbackMs, minMs, maxMs, range, hint } = DURATIONS[name];
  const ms = text === undefined ? fallbackMs : parseDuration(text);
  if (typeof ms === 'number' && ms >= minMs && ms <= maxMs) return ms;
  throw new NebulaError('BODY_INVALID', `${name}: it is not a time from ${range[0]}`, {
    hint,
    details: { errors: [{ pointer: `/${name}`, detail: `must be a time from ${range[1]}` }] },
  });
}
