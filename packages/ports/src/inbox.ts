/**
 * Messages to runs, and signals to whichever run listens.
 *
 *  P5 A published signal goes to one listener, the one that has listened longest. With none it is kept until one comes,
 *     or until it expires. A listener gets each signal once.
 */
import type { ExecutionId, NodePath } from '@nebula/core';

/** A message to a run: cancel, settle, retry, a signal, an approval, the result of a child. */
export interface InboxRow {
  /** Makes delivery idempotent: the same id is one message. */
  readonly messageId: string;
  readonly executionId: ExecutionId;
  readonly body: string;
}

/** A message that makes its run due at `wakeAt`. */
export interface OutgoingRow extends InboxRow {
  readonly wakeAt: number;
}

/** A node that waits for a signal of this name and key. */
export interface Subscription {
  readonly signal: string;
  readonly key: string;
  readonly node: NodePath;
}

/** Part of a write: nodes of the execution that listen from now on, and nodes that stop. */
export interface SubscriptionChanges {
  readonly at: number;
  readonly add?: readonly Subscription[];
  readonly remove?: readonly string[];
}

/** The message is put into the inbox of the run that gets the signal. */
export interface PublishedSignal {
  readonly signal: string;
  readonly key: string;
  readonly messageId: string;
  readonly body: string;
  readonly at: number;
  readonly expiresAt: number;
}

export interface Inbox {
  /** Puts a message into a run's inbox and makes the run due at `wakeAt`; false when there is no such execution. */
  send(message: InboxRow, wakeAt: number): Promise<boolean>;
  /** Messages that no frame has taken, in order of arrival. */
  inbox(executionId: ExecutionId): Promise<readonly InboxRow[]>;
  /** Gives a signal to one listener and returns its execution, or keeps it. The same message id is the same signal. */
  publish(signal: PublishedSignal): Promise<string | undefined>;
}
