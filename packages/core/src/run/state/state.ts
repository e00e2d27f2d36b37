/**
 * The state of a run: the fold of its journal, and the lists by which a turn finds its work without a search.
 *
 *  I1 Facts (`phase`, `attempts`, `output`, `undo` …) follow from the journal alone. Only `evolve` changes them; `decide`
 *     calls it for every entry that it makes.
 *  I2 Indexes (`running`, `unknown`, `gated`, `children`, `listening`, `runningRemote`; `open`, `busy`, `unknowns`, `held`,
 *     `level` of a scope; `decided`, `taken`, `isHeld`, `endings` of a node …) follow from the facts. Only `evolve`
 *     changes them, together with those facts. A snapshot does not have them.
 *  I3 Working sets list what is left to do. `evolve` keeps them, and a decision changes them without an entry:
 *       - `released`, `endChecks`: `drain` takes out what it handles. An outcome that may end an undo adds end checks
 *         (`undone` in `composite.ts`, `checkUndoScopes` in `decide.ts`).
 *       - `timers`: `popDue` and `nextTimer` take out what is due or obsolete.
 *       - `ready`, `readyRemote`, `blockedByLevel`, `dispatchState`: `makeReady` queues a node before an entry says so, so
 *         that a node which starts in the same turn has one entry, not two.
 *       - `dispatchState`, `dispatched`, `dispatchedRemote`: `nextReady` hands nodes to the queue, `recallDispatched`
 *         takes them back. The queue is that of a process, and no part of the journal.
 *       - `hasOldStops` is changed by `evolve` only.
 *  I4 An item of a working set is a hint, and is checked before anything follows from it (`needsEndCheck`, `isDue`,
 *     `firstReady`, `mayStart`). An item too many has no effect; one that is missing would stall the run. After a frame
 *     the items that still apply are the same in the decided, the folded and the restored state; tests compare them
 *     after every step (`test/run/state-facts.ts`).
 *  I5 `seq` is changed by `countFrame`, when a frame is folded or stored. `plan`, `planOf`,
 *     `executionId` and `projectCeiling` are given by the code that loads the run; only `run.migrated` changes `plan`.
 *  I6 A node is in `running` exactly while its phase is `running`.
 *  I7 `scope.open` counts the nodes of the scope that are not final; the run can end when it is 0 (or when stopping
 *     and nothing runs). `scope.held` counts those that wait for the finally of a deferred failure and for nothing
 *     else: the finally can begin when both are equal, apart from a pending failure node.
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

/** A final composite node keeps its body if a retry continues in it, or if the outcome of a node inside is unknown. */
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
  /** A composite node whose body runs. `stopping`: the node fails with this error once nothing inside runs any more. */
  | {
      readonly status: 'open';
      readonly body: BodyState;
      readonly since: number;
      readonly stopping: Stopping | null;
      /** The body failed with this error: its completed nodes are undone, and then it begins again. */
      readonly retrying?: RunError;
    }
  /** The node waits for a grant. `until`: the grant was given, and the node begins at this time. */
  | { readonly status: 'gated'; readonly since: number; readonly gate: Gate; readonly until: number | null }
  /** Another execution runs for this node. */
  | {
      readonly status: 'child';
      readonly since: number;
      readonly attempt: number;
      readonly executionId: ExecutionId;
      /** The child has run for this node before: it is continued, not started. */
      readonly again?: boolean;
      /** The child has been cancelled; the node ends when the child does. */
      readonly stopping?: Stopping;
    }
  | {
      readonly status: 'listening';
      readonly since: number;
      readonly waits: readonly AwaitedEvent[];
      readonly deadline: number | null;
      /** The deadline was written as a date: a pause does not move it. */
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
  /** `ran`: the node had begun, so its always edges are taken, except for those in `dead`. */
  | {
      readonly status: 'cancelled';
      readonly at: number;
      readonly error: RunError | undefined;
      readonly ran?: boolean;
      readonly dead?: readonly string[] | undefined;
      readonly body?: BodyState;
    }
  /** `isVerified`: the action's `verify` was called and could not tell. */
  | { readonly status: 'unknown'; readonly at: number; readonly error: RunError; readonly isVerified: boolean };

export type FinalPhase = Extract<Phase, { status: 'completed' | 'failed' | 'skipped' | 'cancelled' }>;

/**
 * Something ends early: running nodes are asked to stop, then the finally runs, then the failure follows. A null error
 * means a `break`, without a failure.
 */
export interface Stopping<E extends RunError | null = RunError> {
  readonly error: E;
  readonly since: number;
  readonly finally?: Finally | undefined;
  /** True for a node that a person cancelled: it does not fail. */
  readonly cancelled?: boolean;
  /** False: completed nodes are not undone. */
  readonly compensate?: boolean;
  readonly cancelRequested?: CancelRequested;
}

export interface NodeState {
  readonly plan: NodePlan;
  readonly scope: ScopeState;
  phase: Phase;
  /**
   * Numbers of source nodes: with decided edges to this node; of those, with a taken edge; and with an edge that is
   * dead by failure.
   */
  decided: number;
  taken: number;
  failedEdges: number;
  /**
   * With `finish-running` the finally begins when everything else in the scope has ended. Until then the taken edges of
   * an unhandled failure are held: joins do not count them.
   */
  isHolding: boolean;
  /** Sources that hold their edges or are held, and whether the join is open and waits for nothing else. */
  heldSources: number;
  isHeld: boolean;
  /** The node runs although its scope ends early: a taken always edge leads to it, or a taken edge from such a node. */
  inFinally: boolean;
  /** The phase by which its edges were decided when its scope ended while its outcome was unknown. */
  decidedAs: Phase | undefined;
  attempts: number;
  /** Retries of errors, by the index of the rule that allowed them. */
  retries: readonly number[];
  /** Attempts cut off by a crash or a lost lease. */
  lost: number;
  /** Results of the node's setting expressions when it became ready; undefined if it has none. */
  settings: SettingValues | undefined;
  /** The time at which the node first became ready. */
  queuedAt: number | null;
  /** How much later than `queuedAt` the time `total` begins, because of pauses. */
  pausedMs: number;
  /** Start of the first attempt. */
  startedAt: number | null;
  input: StoredValue | undefined;
  output: StoredValue | undefined;
  /** The number of gates that the node has passed on its way to the next attempt. */
  passed: number;
  /** Keys of the permits that the node holds or waits for. */
  permits: readonly string[];
  /** The lookup that missed the cache. */
  missed: CacheMiss | undefined;
  /** The generation in which the node last began as something new: by a replay, or by a repetition after an undo. */
  generation: number;
  /**
   * Attempts below this composite node are numbered from here, so that numbers of dropped iterations are not used
   * again.
   */
  attemptsBefore: number;
  /** The execution that last ran for this node: a retry from failed continues it. */
  child: string | undefined;
  /** Attempts under way below this composite node, plus compensations there whose outcome is unknown. */
  busy: number;
  /** The number of iterations that end early and are not over yet. */
  endings: number;
  /**
   * The progress of the node in this process: blocked by its level, ready, or handed to the queue. Not part of the fold.
   */
  dispatchState: 'none' | 'blocked' | 'ready' | 'dispatched';
}

/**
 * The iterations of a composite node. A node that runs its body once (a workflow, a returned graph) has one, numbered
 * 0. Iterations that succeed are dropped and leave only their result; failed ones are kept for a retry.
 */
export interface BodyState {
  readonly graph: GraphPlan;
  /** Scopes by iteration. */
  readonly scopes: Map<number, ScopeState>;
  /** The items of a forEach: first the initial ones, then those that were added. */
  readonly items: Batch[];
  /** The number of iterations, as far as it is known. */
  total: number;
  /** The number of the iteration that is opened next. */
  next: number;
  /** The number of iterations under way. */
  open: number;
  succeeded: number;
  failed: number;
  /**
   * Results by iteration for a forEach, undefined for iterations that failed or have not ended. Other loops keep only
   * the last.
   */
  readonly results: (StoredValue | undefined)[];
  /** The error of the first failed iteration for a forEach, of the last one for other loops. */
  error: RunError | null;
  /** A node with `break` has completed: no further iteration begins. */
  isBroken: boolean;
  /** The graph that the action of a dynamic node returned. */
  readonly returned: Json | undefined;
  /** The time at which a retryUntil begins its next iteration. */
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

/** The assignments of variables of a workflow, by node. */
export interface Assignments {
  /** The initial values of the variables. */
  readonly initial: JsonObject;
  count: number;
  readonly byNode: Map<NodeState, Map<string, Assignment>>;
}

/** Values that expressions see as `$input`, `$vars` and `$workflow`: those of the run, or of an inline workflow. */
export interface Realm {
  readonly input: StoredValue;
  readonly vars: Map<string, StoredValue>;
  /** The assignments behind `vars`. Realms of one workflow share both. */
  readonly assigned: Assignments;
  readonly workflowId: WorkflowId;
  readonly version: number;
  readonly onFailure: FailurePolicy;
}

/** One run of a graph. The root has path ''; a loop's third iteration is `items/2`; an inline workflow is `sub`. */
export interface ScopeState {
  readonly path: string;
  readonly graph: GraphPlan;
  readonly nodes: NodeState[];
  /** The composite node that contains this scope, and the number of the iteration; null for the root. */
  readonly parent: NodeState | null;
  readonly iteration: number;
  realm: Realm;
  /** The rank of the composite node, which adds to the urgency of the nodes inside. */
  readonly rankBase: number;
  /** Longest ways to an end node, by the estimates that the run was started with; null: those of the plan. */
  ranks: readonly number[] | null;
  /** The scope ends early. For the root, `RunState.stopping` says how. */
  stopping: Stopping<RunError | null> | null;
  /** Nodes that must end before the finally begins, while the scope ends early. */
  underWay: number;
  /** The number of nodes whose outcome is unknown. */
  unknowns: number;
  /** The number of nodes that wait for the finally of a deferred failure and for nothing else. */
  held: number;
  /** The first failure that will fail the scope at its end. */
  deferredError: RunError | null;
  /** The scope with the compensations of this scope's nodes, while they run and afterwards. */
  undoing: ScopeState | null;
  /** The scope whose nodes this one undoes, and the items to undo. */
  readonly undoes: ScopeState | null;
  undoItems: readonly UndoItem[];
  /** The scope has failed and is kept; nothing happens in it any more. */
  isClosed: boolean;
  /**
   * The scope succeeded and is kept only because an outcome in it is unknown. For a scope that undoes: it was
   * `scope.compensated`.
   */
  isDone: boolean;
  /** Attempts under way in this scope and below. */
  busy: number;
  /** Nodes that are not final yet. */
  open: number;
  /** Ready nodes that wait for their level, in `mode: levels`. */
  readonly blockedByLevel: Set<NodeState>;
  /** Open nodes per level without held ones, and the lowest level that has any, in `mode: levels`. */
  readonly openPerLevel: number[];
  level: number;
}

export interface Ending {
  readonly status: FinalRunStatus;
  readonly error: RunError | null;
  readonly output: StoredValue | undefined;
  /** False if the caller that cancelled the run asked not to undo it. */
  readonly compensate: boolean;
}

/**
 * The phase of a run. Each status carries its own data: only a failed run has an error, only a completed one an output.
 */
export type RunPhase = ActivePhase | PausedPhase | FinishedPhase;

export type ActivePhase =
  | { readonly status: 'pending' }
  | { readonly status: 'running' }
  /** Completed nodes are undone, then the failure node runs, then the run ends with `ending`. */
  | { readonly status: 'compensating'; readonly ending: Ending };

/** Nothing starts and no timer fires until the run is resumed. `resumes`: the phase that it then continues with. */
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
  /** Keys in `undoGraphs` of the returned graphs around the node, outermost first. */
  readonly graphs: readonly string[];
  /** The generation of the node when it completed. */
  readonly generation: number;
}

export type PlanOf = (version: number) => Plan;

/** The version before a migration, and the state in it, as a snapshot. */
export interface Migrated {
  readonly from: number;
  readonly before: string;
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
  /** The scope that is being stopped, for a `stop` timer that is not about the run or a node. */
  readonly scope?: ScopeState;
}

export interface RunState {
  readonly executionId: ExecutionId;
  readonly plan: Plan;
  /** The plan of another version, to which the run was migrated. Given by the code that loads the run. */
  planOf: PlanOf;
  /** The last migration, as long as nothing has happened since; null otherwise. */
  migrated: Migrated | null;
  /** Frames folded so far. */
  seq: number;
  phase: RunPhase;
  trigger: Json;
  parent: Parent | null;
  /** The trace context of the caller that started the run; null: the run has a trace of its own. */
  traceparent: string | null;
  /** The authority with which the run was started; null in journals of earlier versions. */
  authority: RunAuthority | null;
  /** The ceiling of the run's project, for journals without an authority. Set by the code that loads the run. */
  projectCeiling: Ceiling;
  /** The seed of `uuid()` and `random()`, beside the id of the execution. */
  seed: string | null;
  /** The start key that this run holds; null once it is released. */
  startKey: string | null;
  /** How long nodes took in earlier runs, as given at the start of the run. */
  estimates: Estimates | null;
  startedAt: number;
  /** Time of the newest frame. */
  updatedAt: number;
  /** The time at which the run was started or last reopened: the workflow's timeout counts from here. */
  activeSince: number;
  /** How the run will end, once it is being stopped. */
  stopping: (Ending & { readonly since: number; readonly cancelRequested?: CancelRequested }) | null;
  totalRetries: number;
  reopened: number;
  /**
   * How many times the run was reopened or a composite node in it began again. Each time has its own idempotency keys.
   */
  generations: number;
  /** The highest number of an attempt of any node. */
  lastAttempt: number;
  /** The time at which a child execution was last requested. */
  lastChildAt: number;
  /** The number of values in blobs. It is zero for nearly every run, so callers can skip the lookup. */
  spilled: number;
  readonly root: ScopeState;
  readonly scopes: Map<string, ScopeState>;
  /** An entry from before finallys ends something early: the next turn journals it in today's form. */
  hasOldStops: boolean;
  /** Completed nodes that can be undone, in the order of their completion. */
  undo: UndoItem[];
  /** Returned graphs that contain nodes in `undo`. */
  undoGraphs: Record<string, Json>;
  /** Paths of nodes that have been undone: a retry runs them again. */
  undone: string[];
  /** The run begins at this time, or when it gets its concurrency slot; null once it has begun. */
  delayedUntil: number | null;
  /** The concurrency slot of the run; null if it needs none. A reopened run does not need one. */
  slot: (ConcurrencySlot & { readonly status: 'waiting' | 'held' | 'over' }) | null;
  /** Signals that arrived while no node waited for them, oldest first. */
  bufferedSignals: BufferedSignal[];
  readonly running: Set<NodeState>;
  readonly unknown: Set<NodeState>;
  /** Nodes that wait for a grant. */
  readonly gated: Set<NodeState>;
  /** Nodes for which a child execution runs. */
  readonly children: Set<NodeState>;
  /** Nodes that wait for an event, oldest first. */
  readonly listening: Set<NodeState>;
  /** The number of nodes handed to the queue and not started yet, and how many of them are for remote workers. */
  dispatched: number;
  dispatchedRemote: number;
  /** How many of the running nodes remote workers run. */
  runningRemote: number;
  readonly ready: Heap<NodeState>;
  /** Ready nodes for remote workers, which compete for no slot with those of this process. */
  readonly readyRemote: Heap<NodeState>;
  readonly timers: Heap<TimerItem>;
  /**
   * Scopes and composite nodes that may have come to their end: all nodes are final, or the scope is stopped and
   * nothing runs.
   */
  readonly endChecks: Set<ScopeState | NodeState>;
  /** Nodes that the current turn looks at: they need no slot, or have a gate to pass first. */
  readonly released: Set<NodeState>;
}
