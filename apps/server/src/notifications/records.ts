/** Notifications as they are stored. */
import type { Position } from '@nebula/ports';
import { NOTIFICATION_LIMITS } from '../limits.ts';

/**
 *  - `failed`: a run failed or timed out, or is stuck (`stuck.ts`). Not one that was cancelled, nor a child that failed:
 *    its parent decides what that means.
 *  - `unknown`: an attempt has an unknown outcome, and nobody has settled it yet.
 *  - `approval`: a node waits for an approval, and nobody has answered yet.
 */
export type NotificationKind = 'failed' | 'unknown' | 'approval';

export type EventKind = NotificationKind | 'stuck';

export interface NotifiedEvent {
  readonly kind: EventKind;
  readonly executionId: string;
  readonly workflowId: string;
  readonly node: string | null;
  readonly at: number;
  /** Since the run was created. */
  readonly durationMs: number;
  readonly code: string | null;
  readonly message: string | null;
  /** The part of the definition that the error is about, where it is known: `order: nodes.charge.with.amount`. */
  readonly place: string | null;
}

/** A stuck run that a notification is about, until it moves. */
export interface StuckEvent extends NotifiedEvent {
  /** Execution and cause. */
  readonly key: string;
  /** The newest frame of the run: with another one, the run has moved. */
  readonly seq: number;
  readonly isTold: boolean;
}

/** A message whose content is fixed: the events after `from`, up to `to`. A repetition has the same id. */
export interface Sending {
  readonly from: Position;
  readonly to: Position;
  /** Keys of the stuck runs in it; absent: none. */
  readonly stuck?: readonly string[];
  readonly attempts: number;
  readonly nextTryAt: number;
}

export interface NotificationRecord {
  readonly project: string;
  /** A webhook, a mail server or a command. `{{NAME}}` in the path or query stands for a secret of the project. */
  readonly url: string;
  /** The secret of the project that signs the body; null: unsigned. */
  readonly secret: string | null;
  /** Addresses that the host may lead to, if they are not public. */
  readonly network: readonly string[];
  readonly on: readonly NotificationKind[];
  /** Null: all. */
  readonly workflows: readonly string[] | null;
  readonly tag: string | null;
  /** Events within this time after the first one are one message. */
  readonly gatherMs: number;
  readonly active: boolean;
  /** Events up to here are in messages that were delivered, or concern nobody. */
  readonly cursor: Position;
  readonly sending: Sending | null;
  readonly lastSentAt: number | null;
  readonly lastError: string | null;
  /** Absent: `NOTIFICATION_LIMITS.stuckAfterMs`. */
  readonly stuckAfterMs?: number;
  /** Stuck runs, told or not; absent: none. */
  readonly stuck?: readonly StuckEvent[];
}

/** The members of `notifications` in `nebula.config.ts`. Exactly one of `url` and `command` is set. */
export interface ConfiguredNotification {
  readonly id: string;
  readonly project?: string;
  readonly url?: string;
  /** A program and its arguments. */
  readonly command?: readonly string[];
  readonly secret?: string;
  readonly network?: readonly string[];
  readonly on?: readonly NotificationKind[];
  readonly workflows?: readonly string[];
  readonly tag?: string;
  readonly gather?: string;
  readonly stuckAfter?: string;
}

export const NOTIFICATIONS = {
  kind: 'notification',
  limit: NOTIFICATION_LIMITS.maxNotifications,
  what: 'notifications',
};
