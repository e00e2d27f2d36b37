/** A cause: why something is as it is. It has a code for programs, a sentence for people, and the data of both. */
import type { Json } from '../value.ts';

export type CauseCode =
  | 'attempt-failed'
  | 'attempt-running'
  | 'body-running'
  | 'cache-hit'
  | 'cache-miss'
  | 'cancelled'
  | 'child-running'
  | 'collapsed'
  | 'completed'
  | 'compensating'
  | 'concurrency'
  | 'edge'
  | 'ending'
  | 'error'
  | 'finally'
  | 'handling'
  | 'held-back'
  | 'held-by'
  | 'inside'
  | 'level'
  | 'never-started'
  | 'once'
  | 'parallelism'
  | 'paused'
  | 'pending'
  | 'pinned'
  | 'place'
  | 'rate'
  | 'retries'
  | 'round-delayed'
  | 'single-flight'
  | 'skipped'
  | 'unknown-outcome'
  | 'upstream'
  | 'wait'
  | 'worker';

export interface Cause {
  readonly code: CauseCode;
  /** A plain sentence. */
  readonly message: string;
  /** The node that the cause is about, if it is another one than the explained node. */
  readonly node?: string;
  readonly edge?: EdgeCause;
  /** The figures of the sentence, by name; moments in milliseconds since the epoch. */
  readonly value?: Readonly<Record<string, Json>>;
  /** The execution, and the node in it, to look at next. */
  readonly link?: { readonly executionId: string; readonly node?: string };
}

export interface EdgeCause {
  readonly from: string;
  readonly to: string;
  readonly on: 'success' | 'error' | 'always' | 'result';
  /** `choice` and `failure`: the edge is dead for this reason. */
  readonly verdict: 'taken' | 'choice' | 'failure' | 'undecided';
}

export interface Explanation {
  readonly node: string | null;
  readonly status: string;
  /** Causes, the most important one first. */
  readonly causes: readonly Cause[];
  readonly reasons: readonly string[];
  /** Commands that a person could give next; empty when nothing is needed. */
  readonly next: readonly string[];
}

export function cause(code: CauseCode, message: string, about: Omit<Cause, 'code' | 'message'> = {}): Cause {
  return { code, message, ...about };
}

export function explanation(
  node: string | null,
  status: string,
  causes: readonly Cause[],
  next: readonly string[] = [],
): Explanation {
  return { node, status, causes, reasons: causes.map(({ message }) => message), next };
}
