/**
 * The state of a run: the fold of its journal, and nothing else.
 *
 *  I1 Only `evolve` changes what the journal determines; `decide` calls it for every entry that it makes.
 *  I2 `ready`, `timers`, `running` and the counters are indexes over the nodes: derived, never trusted to be stored.
 *  I3 A node is in `running` exactly while its phase is `running`.
 *  I4 `scope.open` counts the nodes of the scope that are not final; the run can end when it is 0 (or when stopping
 *     and nothing runs).
 *
 * A frame that the store refuses leaves this state wrong: its owner drops it and folds the journal again.
 */

import type { Effect } from '../../action.ts';
import type { Ceiling } from '../../capability/narrow.ts';
import type { FailurePolicy } from '../../definition/model.ts';
import type { RunError } from '../../error.ts';
import type { Heap } from '../../heap.ts';
import type { ExecutionId, NodePath, WorkflowId } from '../../ids.ts';
import type { GraphPlan, NodePlan, Plan, SettingValues } from '../../plan/plan.ts';
import type { Json, JsonObject } from '../../value.ts';
import type {
  AwaitedEvent,
  CacheHit,
  CacheMiss,
  CancelRequested,
  ConcurrencySlot,
  FailureHandling,
  Finally,
  Gate,
  Parent,
  RunAuthority,
  SkipReason,
} from '../journal/entry.ts';
import type { StoredValue } from '../journal/stored-value.ts';
import type { Estimates } from './estimates.ts';
import type { FinalRunStatus } from './status.ts';

/** A composite node that is final keeps its body where a retry goes on with it, or where an outcome in it is unknown. */
export type Phase =
  | { readonly status: 'pending' }
  | { readonly status: 'queued'; readonly since: number }
  | {
      readonly status: 'running';
      readonly since: number;
      readonly attempt: number;
      readonly worker: string;
      readonly effect: Effect;
    }
  | { readonly status: 'waiting'; readonly until: number; readonly error: RunError }
  /** A composite node whose body runs. `stopping`: it fails with this once nothing of it runs any more. */
  | {
      readonly status: 'open';
      readonly body: BodyState;
      readonly since: number;
      readonly stopping: Stopping | null;
      /** The body failed with this error: its completed nodes are undone, and then it begins again. */
      readonly retrying?: RunError;
    }
  /** It must be granted something first. `until`: it has been, and begins then. */
  | { readonly status: 'gated'; readonly since: number; readonly gate: Gate; readonly until: number | null }
  /** Another execution runs for this node. */
  | {
      readonly status: 'child';
      readonly since: number;
      readonly attempt: number;
      readonly executionId: ExecutionId;
      /** It has run for the node before: it is not started, but gone on with. */
      readonly again?: boolean;
      /** It has been cancelled, and the node ends with it. */
      readonly stopping?: Stopping;
    }
  | {
      readonly status: 'listening';
      readonly since: number;
      readonly waits: readonly AwaitedEvent[];
      readonly deadline: number | null;
      /** The time is a date: a pause does not move it. */
      readonly isDeadlineFixed?: boolean;
    }
  | {
      readonly status: 'completed';
      readonly at: number;
      readonly dead: readonly string[] | undefined;
      readonly cached?: CacheHit | undefined;
      readonly body?: BodyState;
    }
  | {
      readonly status: 'failed';
      readonly at: number;
      readonly error: RunError;
      readonly handling: FailureHandling;
      readonly taken: readonly string[] | undefined;
      readonly dead: readonly string[] | undefined;
      readonly body?: BodyState;
    }
  | {
      readonly status: 'skipped';
      readonly at: number;
      readonly why: SkipReason;
      readonly dead: readonly string[] | undefined;
    }
  /** `ran`: it had begun, so its always edges are taken, except for those in `dead`. */
  | {
      readonly status: 'cancelled';
      readonly at: number;
      readonly error: RunError | undefined;
      readonly ran?: boolean;
      readonly dead?: readonly string[] | undefined;
      readonly body?: BodyState;
    }
  /** `isVerified`: the action's `verify` has been asked and could not tell. */
  | { readonly status: 'unknown'; readonly at: number; readonly error: RunError; readonly isVerified: boolean };

export type FinalPhase = Extract<Phase, { status: 'completed' | 'failed' | 'skipped' | 'cancelled' }>;

/** Running nodes are asked to stop, the finally runs, and then comes the failure; null: a `break`, and no failure. */
export interface Stopping<E extends RunError | null = RunError> {
  readonly error: E;
  readonly since: number;
  readonly finally?: Finally | undefined;
  /** A node that somebody has cancelled: then it does not fail. */
  readonly cancelled?: boolean;
  /** False: what has been done is not undone. */
  readonly compensate?: boolean;
  readonly cancelRequested?: CancelRequested;
}

export interface NodeState {
  readonly plan: NodePlan;
  readonly scope: ScopeState;
  phase: Phase;
  /** Sources whose edges to it are decided; of these, those with a taken one, and those whose edge is dead by failure. */
  decided: number;
  taken: number;
  failedEdges: number;
  /** A taken always edge leads to it, or a taken edge from such a node: it runs although its scope ends early. */
  inFinally: boolean;
  /** How its edges were decided while its scope ended and its outcome was unknown. */
  decidedAs: Phase | undefined;
  attempts: number;
  /** Retries of errors, by the index of the rule that allowed them. */
  retries: readonly number[];
  /** Attempts cut off by a crash or a lost lease. */
  lost: number;
  /** Results of its expressions when it became ready; undefined where it has none. */
  settings: SettingValues | undefined;
  /** When it first became ready; `total` counts from here. */
  queuedAt: number | null;
  /** Start of the first attempt. */
  startedAt: number | null;
  input: StoredValue | undefined;
  output: StoredValue | undefined;
  /** Gates that it has passed on its way to the next attempt. */
  passed: number;
  /** Keys among whose holders it is, or waits to be. */
  permits: readonly string[];
  /** What the cache did not have. */
  missed: CacheMiss | undefined;
  /** The generation with which it last began as something new: a replay, or a repetition of what had been undone. */
  generation: number;
  /** Attempts below this composite node are counted from here: numbers of iterations that are gone are not used again. */
  attemptsBefore: number;
  /** The execution that ran for it last: a retry from failed goes on with it. */
  child: string | undefined;
  /** Attempts under way below this composite node, and undoings there of which nobody knows the outcome. */
  busy: number;
  /** Of its iterations that end early, those that are not over yet. */
  endings: number;
  /** In this process: held back by its level, ready, or handed to the queue. Not part of the fold. */
  dispatchState: 'none' | 'blocked' | 'ready' | 'dispatched';
}

/**
 * The iterations of a composite node. A node that runs its body once (a workflow, a returned graph) has one, numbered 0.
 * Iterations that went well are gone, with only their result left; failed ones are kept for a retry.
 */
export interface BodyState {
  readonly graph: GraphPlan;
  /** Its scopes by iteration. */
  readonly scopes: Map<number, ScopeState>;
  /** The items of a forEach: first those that it began with, then those that were added. */
  readonly items: Batch[];
  /** Iterations that there will be, as far as is known. */
  total: number;
  /** The iteration that is opened next. */
  next: number;
  /** Iterations under way. */
  open: number;
  succeeded: number;
  failed: number;
  /** forEach: by iteration, undefined for those that failed or have not ended; else the last one only. */
  readonly results: (StoredValue | undefined)[];
  /** Of the failed iterations the first (forEach) or last. */
  error: RunError | null;
  /** A node with `break` has completed: no further iteration begins. */
  isBroken: boolean;
  /** The graph that an action returned, where the body is that. */
  readonly returned: Json | undefined;
  /** retryUntil: when the next iteration begins. */
  until: number | null;
  /** Iterations before the run was last reopened: limits on the number of iterations count from here. */
  base: number;
}

export interface Batch {
  readonly from: number;
  readonly count: number;
  readonly items: StoredValue;
}

/** The value that a node assigned to a variable. */
export interface Assignment {
  /** Grows with every assignment of the realm. */
  readonly order: number;
  readonly value: StoredValue;
}

/** The nodes that assigned the variables of a workflow. */
export interface Assignments {
  /** The values that the variables began with. */
  readonly initial: JsonObject;
  count: number;
  readonly byNode: Map<NodeState, Map<string, Assignment>>;
}

/** What expressions see as `$input`, `$vars` and `$workflow`: of the run, or of a workflow that runs inside it. */
export interface Realm {
  readonly input: StoredValue;
  readonly vars: Map<string, StoredValue>;
  /** The nodes that assigned them. Shared with `vars` by the realms of one workflow. */
  readonly assigned: Assignments;
  readonly workflowId: WorkflowId;
  readonly version: number;
  readonly onFailure: FailurePolicy;
}

/** One run of a graph. The root has path ''; a loop's third iteration is `items/2`; a workflow inside is `sub`. */
export interface ScopeState {
  readonly path: string;
  readonly graph: GraphPlan;
  readonly nodes: NodeState[];
  /** The composite node that it belongs to, and which of its iterations it is; null for the root. */
  readonly parent: NodeState | null;
  readonly iteration: number;
  realm: Realm;
  /** What comes after the composite node, and counts for the urgency of the nodes in it. */
  readonly rankBase: number;
  /** Longest ways to an end node by what the run was told at its start; null: those of the plan. */
  ranks: readonly number[] | null;
  /** The scope ends early. For the root, `RunState.stopping` says how. */
  stopping: Stopping<RunError | null> | null;
  /** While it ends early: nodes that were under way and have to end before its finally begins. */
  underWay: number;
  /** Nodes of which nobody knows the outcome. */
  doubts: number;
  /** The first failure that will fail the scope at its end. */
  deferredError: RunError | null;
  /** What undoes its nodes, while that runs and afterwards. */
  undoing: ScopeState | null;
  /** The scope whose nodes this one undoes, and what these are. */
  readonly undoes: ScopeState | null;
  undoItems: readonly UndoItem[];
  /** It has failed and is kept; nothing happens in it any more. */
  isClosed: boolean;
  /** It went well, and is kept only for what nobody knows the outcome of. A scope that undoes: `scope.compensated` says so. */
  isDone: boolean;
  /** Attempts under way in this scope and below. */
  busy: number;
  /** Nodes that are not final yet. */
  open: number;
  /** For `mode: levels`: ready nodes of levels whose turn has not come. */
  readonly blockedByLevel: Set<NodeState>;
  /** For `mode: levels`: open nodes per level, and the lowest level that has any. */
  readonly openPerLevel: number[];
  level: number;
}

export interface Ending {
  readonly status: FinalRunStatus;
  readonly error: RunError | null;
  readonly output: StoredValue | undefined;
  /** A cancelled run is left as it is when its canceller says so. */
  readonly compensate: boolean;
}

/** Where a run stands. Only a run that has failed has an error, only a completed one an output, and so on. */
export type RunPhase = ActivePhase | PausedPhase | FinishedPhase;

export type ActivePhase =
  | { readonly status: 'pending' }
  | { readonly status: 'running' }
  /** What was done is undone, then the failure node runs, and then the run ends like this. */
  | { readonly status: 'compensating'; readonly ending: Ending };

/** Nothing starts and no timer fires until the run is resumed, and goes on with the phase that it had. */
export interface PausedPhase {
  readonly status: 'paused';
  readonly at: number;
  readonly reason: string | null;
  readonly resumes: ActivePhase;
}

export type FinishedPhase =
  | { readonly status: 'completed'; readonly at: number; readonly output: StoredValue }
  | { readonly status: Exclude<FinalRunStatus, 'completed'>; readonly at: number; readonly error: RunError };

/** A completed node that can be undone. */
export interface UndoItem {
  readonly path: NodePath;
  readonly input: StoredValue | undefined;
  readonly error: RunError | undefined;
  /** Of the graphs that dynamic nodes around it returned, outermost first, the keys in `undoGraphs`. */
  readonly graphs: readonly string[];
  /** That of the node when it completed. */
  readonly generation: number;
}

export interface FreedPermit {
  readonly key: string;
  readonly node: NodePath;
}

export interface BufferedSignal {
  readonly signal: string;
  readonly key: string;
  readonly payload: StoredValue;
}

export interface TimerItem {
  readonly at: number;
  readonly kind:
    | 'retry'
    | 'attempt'
    | 'queued'
    | 'total'
    | 'workflow'
    | 'stop'
    | 'iteration'
    | 'wait'
    | 'deadline'
    | 'gate'
    | 'delayed';
  readonly node: NodeState | null;
  /** For `stop`: what is being stopped, where it is not the run or a node. */
  readonly scope?: ScopeState;
}

export interface RunState {
  readonly executionId: ExecutionId;
  readonly plan: Plan;
  /** Frames folded so far. */
  seq: number;
  phase: RunPhase;
  trigger: Json;
  parent: Parent | null;
  /** The trace of whoever started it; null: it is a trace of its own. */
  traceparent: string | null;
  /** The authority with which the run was started; null in journals of earlier versions. */
  authority: RunAuthority | null;
  /** Of its project, where the journal says nothing: set by whoever loads the run. */
  projectCeiling: Ceiling;
  /** The seed of `uuid()` and `random()`, beside the id of the execution. */
  seed: string | null;
  /** The start key that this run holds; null once it is released. */
  startKey: string | null;
  /** How long nodes took in earlier runs, as the run was told at its start. */
  estimates: Estimates | null;
  startedAt: number;
  /** Time of the newest frame. */
  updatedAt: number;
  /** When it was started or last reopened: the workflow's timeout counts from here. */
  activeSince: number;
  /** How the run will end, once it is being stopped. */
  stopping: (Ending & { readonly since: number; readonly cancelRequested?: CancelRequested }) | null;
  totalRetries: number;
  reopened: number;
  /** How many times it was reopened, or a composite node of it began again: each has idempotency keys of its own. */
  generations: number;
  /** The highest number that an attempt of any node has had. */
  lastAttempt: number;
  /** When a child execution was last asked for. */
  lastChildAt: number;
  /** Values that are in blobs: zero for nearly every run, so nearly nobody has to ask for them. */
  spilled: number;
  readonly root: ScopeState;
  readonly scopes: Map<string, ScopeState>;
  /** Something ends early by an entry from before always edges were a finally: the next turn says it anew. */
  hasOldStops: boolean;
  /** What would be undone, in the order of finishing. */
  undo: UndoItem[];
  /** Graphs that actions returned, and in which something may have to be undone. */
  undoGraphs: Record<string, Json>;
  /** Paths of what has been undone: a retry does it again. */
  undone: string[];
  /** Begins then, or when it has its place; null when it has begun. */
  delayedUntil: number | null;
  /** Its place among the runs that go on at once; null when it needs none. A run that is reopened does without. */
  slot: (ConcurrencySlot & { readonly standing: 'waiting' | 'held' | 'over' }) | null;
  /** Signals for which nobody waited when they came, oldest first. */
  bufferedSignals: BufferedSignal[];
  readonly running: Set<NodeState>;
  readonly unknown: Set<NodeState>;
  /** Nodes that wait to be granted something. */
  readonly gated: Set<NodeState>;
  /** Nodes for which another execution runs. */
  readonly children: Set<NodeState>;
  /** Waits, the oldest first. */
  readonly listening: Set<NodeState>;
  /** Handed to the queue and not started yet; of these, those that remote workers run. */
  dispatched: number;
  dispatchedRemote: number;
  /** Of what runs, what remote workers run. */
  runningRemote: number;
  readonly ready: Heap<NodeState>;
  /** Ready for remote workers: neither they nor what this process runs stand in each other's way. */
  readonly readyRemote: Heap<NodeState>;
  readonly timers: Heap<TimerItem>;
  /** Scopes and composite nodes at whose end the decision must look: all nodes final, or stopped and nothing runs. */
  readonly endChecks: Set<ScopeState | NodeState>;
  /** Nodes other than actions whose level has come. */
  readonly released: Set<NodeState>;
}
