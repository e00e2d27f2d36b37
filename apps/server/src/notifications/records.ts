/** Notifications as they are stored. */
import type { Position } from '@nebula/ports';
import { NOTIFICATION_LIMITS } from '../limits.ts';

/**
 *  - `failed`: a run failed or timed out. Not one that was cancelled, nor a child: its parent decides what that means.
 *  - `unknown`: an attempt has an unknown outcome, and nobody has settled it yet.
 *  - `approval`: a node waits for an approval, and nobody has answered yet.
 */
export type NotificationKind = 'failed' | 'unknown' | 'approval';

/** A message whose content is fixed: the events after `from`, up to `to`. A repetition has the same id. */
export interface Sending {
  readonly from: Position;
  readonly to: Position;
  readonly attempts: number;
  readonly nextTryAt: number;
}

export interface NotificationRecord {
  readonly project: string;
  /** `{{NAME}}` in the path or query stands for a secret of the project. */
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
}

export const NOTIFICATIONS = {
  kind: 'notification',
  limit: NOTIFICATION_LIMITS.maxNotifications,
  what: 'notifications',
};
