/**
 * The journal of a run: what happened, in order. A contract: entries are only ever added to, never changed,
 * and golden journals guard them. Nodes are named by path (`items/3/pack`), never by position in the definition.
 *
 * Entries of one frame share its time. Decisions that need an expression are recorded with their result
 * (`dead`, `taken`, `input`), so replaying a journal evaluates nothing.
 */
import type { Effect } from '../action.ts';
import type { RunError } from '../error.ts';
import type { Json } from '../value.ts';
import type { Held } from './held.ts';
import type { FinalRunStatus } from './status.ts';

/** Version of the entry format; a newer one is refused with `JOURNAL_TOO_NEW`. */
export const JOURNAL_FORMAT = 1;

export type Entry =
  | RunStarted
  | NodeScheduled
  | NodeStarted
  | NodeCompleted
  | NodeRetrying
  | NodeReturned
  | NodeFailed
  | NodeSkipped
  | NodeCancelled
  | NodeUnknown
  | NodeSettled
  | RunStopping
  | RunFinished
  | RunReopened;

export interface RunStarted {
  readonly type: 'run.started';
  readonly format: typeof JOURNAL_FORMAT;
  readonly workflowId: string;
  readonly version: number;
  readonly input: Held;
  readonly trigger: Json;
}

/** Ready, and waits for a slot. Left out for a node that starts in the same frame. */
export interface NodeScheduled {
  readonly type: 'node.scheduled';
  readonly nodes: readonly string[];
}

export interface NodeStarted {
  readonly type: 'node.started';
  readonly node: string;
  readonly attempt: number;
  readonly worker: string;
  readonly effect: Effect;
  /** The resolved parameters; with the first attempt only. */
  readonly input?: Held;
}

export interface NodeCompleted {
  readonly type: 'node.completed';
  readonly node: string;
  readonly output?: Held;
  /** Keys of the conditional edges that were not taken. */
  readonly dead?: readonly string[];
}

/** An attempt failed, and another one will follow at `until`. */
export interface NodeRetrying {
  readonly type: 'node.retrying';
  readonly node: string;
  readonly error: RunError;
  readonly until: number;
}

/** A graceful hand-back: the attempt ended without an outcome and costs nothing. */
export interface NodeReturned {
  readonly type: 'node.returned';
  readonly node: string;
}

/**
 * A node failed for good.
 *  - handled: error edges take it (`taken`)
 *  - ignored: `onError: ignore`; goes on as if completed with null, except for the edges in `dead`
 *  - tolerated: workflow policy `ignore`; what depends on it is skipped
 *  - deferred: workflow policy `finish-running`; the run fails once the others are done
 *  - fatal: ends the run now
 */
export type FailureHandling = 'handled' | 'ignored' | 'tolerated' | 'deferred' | 'fatal';

export interface NodeFailed {
  readonly type: 'node.failed';
  readonly node: string;
  readonly error: RunError;
  readonly handling: FailureHandling;
  readonly taken?: readonly string[];
  readonly dead?: readonly string[];
}

/**
 *  - dead: no incoming edge was taken (or fewer than the join needs)
 *  - when: its condition is false
 *  - disabled: `enabled: false`; goes on along its success edges
 *  - failure: reachable from a failure that nothing handled
 */
export type SkipReason = 'dead' | 'when' | 'disabled' | 'failure';

export interface NodeSkipped {
  readonly type: 'node.skipped';
  readonly nodes: readonly string[];
  readonly why: SkipReason;
  /** For a disabled node: keys of its conditional edges that were not taken. */
  readonly dead?: readonly string[];
}

/** A running attempt that ended, or was given up, because the run is being stopped. */
export interface NodeCancelled {
  readonly type: 'node.cancelled';
  readonly node: string;
  readonly error?: RunError;
}

/** Nobody knows whether a `once` attempt took effect. */
export interface NodeUnknown {
  readonly type: 'node.unknown';
  readonly node: string;
  readonly error: RunError;
}

/** Somebody looked; what follows from it is in the entries after this one. `unknown`: `verify` could not tell either. */
export interface NodeSettled {
  readonly type: 'node.settled';
  readonly node: string;
  readonly by: 'verify' | 'person';
  readonly outcome: 'happened' | 'retry' | 'fail' | 'unknown';
}

/** The run will end like this as soon as nothing of it runs any more. */
export interface RunStopping {
  readonly type: 'run.stopping';
  readonly status: FinalRunStatus;
  readonly error: RunError | null;
}

/** Exactly one per generation of the run. Nodes that are not final become `cancelled`. */
export interface RunFinished {
  readonly type: 'run.finished';
  readonly status: FinalRunStatus;
  readonly output?: Held;
  readonly error?: RunError;
}

/** Retry from the failed nodes: these begin again, everything else stands. */
export interface RunReopened {
  readonly type: 'run.reopened';
  readonly nodes: readonly string[];
}
