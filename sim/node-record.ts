/** What the oracle knows of a node. */
import type { Entry, RunError, StoredValue } from '@nebula/core';

export type Status =
  | 'idle'
  | 'queued'
  /** It must be granted something first. */
  | 'gated'
  | 'running'
  | 'waiting'
  | 'unknown'
  /** Unknown, and somebody has just said what became of it. */
  | 'settled'
  /** A composite node whose iterations are under way. */
  | 'open'
  /** Another execution runs for it. */
  | 'child'
  | 'listening'
  /** Somebody has just approved or rejected it. */
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
  /** Since the run started, or was last reopened with the node among those that begin again. */
  hasBegun: boolean;
  /** Of the last attempt. */
  effect: string | undefined;
  worker: string | undefined;
  /** `verify` has been asked, and could not tell. */
  isRetryRequested: boolean;
  /** Its output is that of another one. */
  isCached: boolean;
  /** What it waits for. */
  waits: Extract<Entry, { type: 'node.waiting' }>['waits'];
  /** The execution that runs for it. */
  child: string | undefined;
  output: StoredValue | undefined;
  /** Of its last failure, or of what cut it off. */
  error: RunError | undefined;
  /** The reopening with which it last began as something new. */
  generation: number;
}

export const FINAL: readonly Status[] = ['completed', 'failed', 'skipped', 'cancelled'];
/** Something outside works for the node. */
export const BUSY: readonly Status[] = ['running', 'child'];
