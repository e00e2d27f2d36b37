/** Stimuli: the events that can happen to a run. `decide` gets no other information from outside. */

import type { Ceiling } from '../../capability/narrow.ts';
import type { RunError } from '../../error.ts';
import type { ExecutionId, NodePath } from '../../ids.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Json } from '../../value.ts';
import type { CacheHit, CacheMiss, ConcurrencySlot, Gate, Parent, RunAuthority } from '../journal/entry.ts';
import type { StoredValue } from '../journal/stored-value.ts';
import type { MigrationDecisions } from '../migrate/migration.ts';
import type { Estimates } from '../state/estimates.ts';
import type { FinalRunStatus } from '../state/status.ts';

/**
 * How an attempt ended.
 *  - broken-off: it was aborted, timed out or lost; whether it took effect is not known
 *  - returned: it was stopped before it began to matter, by a worker that shuts down
 */
export type Outcome =
  | { readonly status: 'completed'; readonly output: StoredValue }
  | { readonly status: 'failed'; readonly error: RunError }
  | { readonly status: 'broken-off'; readonly error: RunError }
  | { readonly status: 'returned' };

/** The verdict of a person or of `verify` on an unknown outcome. */
export type Settlement =
  | { readonly happened: true; readonly output: Json }
  | { readonly happened: false; readonly then: 'retry' | 'fail' }
  /** `verify` could not tell: a person has to settle the outcome. */
  | { readonly happened: 'unknown' };

/** The run begins at `until`, unless it is delayed again. */
export interface Delay {
  readonly until: number;
}

export interface ChildResult {
  readonly status: FinalRunStatus;
  readonly output: Json;
  readonly error: RunError | null;
  /** The execution does not exist: it could not be started, or has been deleted. */
  readonly notStarted?: boolean;
}

export interface OpenAttempt {
  readonly node: NodePath;
  readonly attempt: number;
  readonly worker: string;
}

export type Stimulus =
  | {
      readonly type: 'start';
      readonly input: Json;
      readonly trigger: Json;
      readonly parent?: Parent;
      readonly delay?: Delay;
      readonly key?: string;
      readonly estimates?: Estimates;
      readonly traceparent?: string;
      readonly seed?: string;
      readonly slot?: ConcurrencySlot;
      readonly authority?: RunAuthority;
    }
  /** The run has the concurrency slot that it waits for. */
  | { readonly type: 'placed' }
  /** A delayed run begins with this input instead, and later. */
  | { readonly type: 'restart'; readonly input: Json; readonly until: number }
  /** A child execution has ended, or could not be started. */
  | {
      readonly type: 'child';
      readonly node: NodePath;
      readonly executionId: ExecutionId;
      readonly result: ChildResult;
      readonly jitter: number;
    }
  /**
   * `jitter`: from 0 up to 1, drawn by the caller. `worker`: the worker that must own the attempt, if several may have
   * begun it.
   */
  | {
      readonly type: 'ended';
      readonly node: NodePath;
      readonly attempt: number;
      readonly worker?: string;
      readonly outcome: Outcome;
      readonly jitter: number;
    }
  /** Time has passed. `lost`: open attempts whose worker is gone. */
  | { readonly type: 'wake'; readonly lost: readonly OpenAttempt[]; readonly jitter: number }
  /** Cancels the run or, with `node`, that node and its body. `compensate: false`: completed nodes are not undone. */
  | { readonly type: 'cancel'; readonly reason: string; readonly compensate?: boolean; readonly node?: NodePath }
  /**
   * `reply`: the retry comes from the parent, which waits for the result even if nothing is left to do. `ceiling`: the
   * current ceiling of the project, which narrows the run when it is reopened.
   */
  | { readonly type: 'retry'; readonly reply?: boolean; readonly ceiling?: Ceiling }
  /** Replays this node and all nodes that depend on it. `input`: replaces the node's own input. */
  | { readonly type: 'replay'; readonly node: NodePath; readonly input?: Json; readonly ceiling?: Ceiling }
  /**
   * Moves the run to another version of its workflow, or `back` to the one before. `decisions`: by path in the definition.
   * `input`: the input of the run with the defaults of that version.
   */
  | {
      readonly type: 'migrate';
      readonly plan: Plan;
      readonly decisions?: MigrationDecisions;
      readonly input?: Json;
      readonly back?: true;
    }
  | { readonly type: 'pause'; readonly reason?: string }
  | { readonly type: 'resume' }
  /** The state after frame `seq` is stored as a snapshot. */
  | { readonly type: 'checkpointed'; readonly seq: number }
  | { readonly type: 'signal'; readonly signal: string; readonly key: string; readonly payload: Json }
  | {
      readonly type: 'answer';
      readonly node: NodePath;
      readonly approved: boolean;
      readonly by: string;
      readonly comment?: string;
      readonly form?: Json;
    }
  /**
   * A gate lets the node pass, at `until` if that is later. `ask`: the request that the permit was granted for
   * (`gateRequestId`).
   */
  | {
      readonly type: 'granted';
      readonly node: NodePath;
      readonly gate: Gate['kind'];
      readonly ask?: string;
      readonly until?: number;
      readonly miss?: CacheMiss;
    }
  | { readonly type: 'cached'; readonly node: NodePath; readonly output: Json; readonly hit: CacheHit }
  /** `generation`: the generation in the called address; such a call may arrive before the node waits. */
  | { readonly type: 'callback'; readonly node: NodePath; readonly payload: Json; readonly generation?: number }
  /** `attempt`: the attempt that was examined; its settlement does not apply to a later one. */
  | {
      readonly type: 'settle';
      readonly node: NodePath;
      readonly by: 'verify' | 'person';
      readonly attempt?: number;
      readonly settlement: Settlement;
    };
