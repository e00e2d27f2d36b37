/**
 * Messages to runs, and signals to whichever run waits for them.
 *
 *  P5 A published signal goes to one subscription, the oldest one. Without one it is buffered until one comes, or until
 *  it
 *     expires. A subscription gets each signal once.
 */
import type { ExecutionId, NodePath } from '@nebula/core';

/** A message to a run: cancel, settle, retry, a signal, an approval, the result of a child. */
export interface InboxRow {
  /** Makes delivery idempotent: a second message with the same id has no effect. */
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

/** Part of a write: nodes of the execution that wait from now on, and nodes that stop waiting. */
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
  /**
   * Puts a message into a run's inbox and makes the run due at `wakeAt`. Returns false if there is no such execution.
   */
  send(message: InboxRow, wakeAt: number): Promise<boolean>;
  /** Messages that no frame has taken, in order of arrival. */
  inbox(executionId: ExecutionId): Promise<readonly InboxRow[]>;
  /**
   * Delivers a signal to one waiting execution and returns it, or buffers the signal. A second signal with the same
   * message id has no effect.
   */
  publish(signal: PublishedSignal): Promise<string | undefined>;
  /** Drops the buffered signals whose names begin with the prefix. */
  forgetSignals(prefix: string): Promise<void>;
}
