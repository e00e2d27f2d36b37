/** The oracle's record of a node. */
import type { Entry, RunError } from '@nebula/core';
import type { StoredValue } from '@nebula/core/run';

export type Status =
  | 'idle'
  | 'queued'
  /** The node waits for a grant. */
  | 'gated'
  | 'running'
  | 'waiting'
  | 'unknown'
  /** The outcome was unknown, and has just been settled. */
  | 'settled'
  /** A composite node whose iterations are under way. */
  | 'open'
  /** A child execution runs for the node. */
  | 'child'
  | 'listening'
  /** A person has just approved or rejected. */
  | 'answered'
  | 'completed'
  | 'failed'
  | 'skipped'
  | 'cancelled';

export interface NodeRecord {
  status: Status;
  attempts: number;
  /** The node was gated when a scope around it began to end with its finally. Only in a cleanup does it stay gated. */
  isGatedInCleanup: boolean;
  /** True since the run started, or was last reopened with the node among those that begin again. */
  hasBegun: boolean;
  /** The effect of the last attempt. */
  effect: string | undefined;
  worker: string | undefined;
  /** The output was taken from the cache. */
  isCached: boolean;
  /** The events that it waits for. */
  waits: Extract<Entry, { type: 'node.waiting' }>['waits'];
  /** The child execution of the node. */
  child: string | undefined;
  output: StoredValue | undefined;
  /** The error of its last failure, or of its cut-off. */
  error: RunError | undefined;
  /** The generation in which it last began as something new. */
  generation: number;
}

export const FINAL: readonly Status[] = ['completed', 'failed', 'skipped', 'cancelled'];
/** Statuses in which something outside the run works for the node. */
export const BUSY: readonly Status[] = ['running', 'child'];
