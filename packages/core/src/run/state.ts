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
import type { Effect } from '../action.ts';
import type { RunError } from '../error.ts';
import { Heap } from '../heap.ts';
import type { GraphPlan, NodePlan, Plan } from '../plan/plan.ts';
import type { Json, JsonObject } from '../value.ts';
import type { FailureHandling, SkipReason } from './entry.ts';
import type { Held } from './held.ts';
import type { FinalRunStatus, NodeStatus, RunStatus } from './status.ts';

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
  | { readonly status: 'completed'; readonly at: number; readonly dead: readonly string[] | undefined }
  | {
      readonly status: 'failed';
      readonly at: number;
      readonly error: RunError;
      readonly handling: FailureHandling;
      readonly taken: readonly string[] | undefined;
      readonly dead: readonly string[] | undefined;
    }
  | {
      readonly status: 'skipped';
      readonly at: number;
      readonly why: SkipReason;
      readonly dead: readonly string[] | undefined;
    }
  | { readonly status: 'cancelled'; readonly at: number; readonly error: RunError | undefined }
  /** `isVerified`: the action's `verify` has been asked and could not tell. */
  | { readonly status: 'unknown'; readonly at: number; readonly error: RunError; readonly isVerified: boolean };

export interface NodeState {
  readonly plan: NodePlan;
  readonly scope: ScopeState;
  phase: Phase;
  /** Incoming edges that are decided, and of these the taken ones. */
  decided: number;
  taken: number;
  attempts: number;
  userFailures: number;
  systemFailures: number;
  /** When it first became ready; `total` counts from here. */
  queuedAt: number | null;
  /** Start of the first attempt. */
  startedAt: number | null;
  input: Held | undefined;
  output: Held | undefined;
  /** In this process: ready or handed to the queue. Not part of the fold. */
  place: 'none' | 'ready' | 'dispatched';
}

/** One run of a graph. The root has path ''; a loop's third round would be `items/3`. */
export interface ScopeState {
  readonly path: string;
  readonly graph: GraphPlan;
  readonly nodes: NodeState[];
  /** Nodes that are not final yet. */
  open: number;
  /** For `mode: levels`: open nodes per level, and the lowest level that has any. */
  readonly openPerLevel: number[];
  level: number;
}

export interface TimerItem {
  readonly at: number;
  readonly kind: 'retry' | 'attempt' | 'queued' | 'total' | 'workflow' | 'stop';
  readonly node: NodeState | null;
}

export interface RunState {
  readonly executionId: string;
  readonly plan: Plan;
  /** Frames folded so far. */
  seq: number;
  status: RunStatus;
  input: Held;
  trigger: Json;
  vars: JsonObject;
  startedAt: number;
  /** When it was started or last reopened: the workflow's timeout counts from here. */
  activeSince: number;
  finishedAt: number | null;
  output: Held | undefined;
  error: RunError | null;
  /** How the run will end, once it is being stopped. */
  stopping: { readonly status: FinalRunStatus; readonly error: RunError | null; readonly since: number } | null;
  /** The first failure that will fail the run at its end. */
  deferredError: RunError | null;
  totalRetries: number;
  /** How many times it has been reopened. */
  reopened: number;
  /** Values that are in blobs: zero for nearly every run, so nearly nobody has to ask for them. */
  spilled: number;
  readonly root: ScopeState;
  readonly scopes: Map<string, ScopeState>;
  readonly running: Set<NodeState>;
  readonly unknown: Set<NodeState>;
  /** Handed to the queue and not started yet. */
  dispatched: number;
  readonly ready: Heap<NodeState>;
  readonly timers: Heap<TimerItem>;
}

const PENDING: Phase = { status: 'pending' };

export function newRunState(plan: Plan, executionId: string): RunState {
  const root = newScope(plan.root, '');
  return {
    executionId,
    plan,
    seq: 0,
    status: 'pending',
    input: { value: null },
    trigger: null,
    vars: plan.variables,
    startedAt: 0,
    activeSince: 0,
    finishedAt: null,
    output: undefined,
    error: null,
    stopping: null,
    deferredError: null,
    totalRetries: 0,
    reopened: 0,
    spilled: 0,
    root,
    scopes: new Map([['', root]]),
    running: new Set(),
    unknown: new Set(),
    dispatched: 0,
    ready: new Heap(plan.mode === 'levels' ? isEarlierLevel : isMoreUrgent),
    timers: new Heap((a, b) => a.at < b.at),
  };
}

function newScope(graph: GraphPlan, path: string): ScopeState {
  const scope: ScopeState = {
    path,
    graph,
    nodes: [],
    open: graph.nodes.length,
    openPerLevel: graph.levels.map((level) => level.length),
    level: 0,
  };
  for (const plan of graph.nodes) scope.nodes.push(newNode(plan, scope));
  return scope;
}

function newNode(plan: NodePlan, scope: ScopeState): NodeState {
  return {
    plan,
    scope,
    phase: PENDING,
    decided: 0,
    taken: 0,
    attempts: 0,
    userFailures: 0,
    systemFailures: 0,
    queuedAt: null,
    startedAt: null,
    input: undefined,
    output: undefined,
    place: 'none',
  };
}

/** Puts a node back to where it was before anything happened to it; attempts are still counted. */
export function resetNode(node: NodeState): void {
  node.phase = PENDING;
  node.decided = 0;
  node.taken = 0;
  node.userFailures = 0;
  node.systemFailures = 0;
  node.queuedAt = null;
  node.startedAt = null;
  node.input = undefined;
  node.output = undefined;
  node.place = 'none';
}

/** Priority first, then the longer way to the end, then the order of the definition. */
function isMoreUrgent(a: NodeState, b: NodeState): boolean {
  if (a.plan.priority !== b.plan.priority) return a.plan.priority > b.plan.priority;
  if (a.plan.rank !== b.plan.rank) return a.plan.rank > b.plan.rank;
  return a.plan.index < b.plan.index;
}

/** For `mode: levels`: a level begins when the one before it is done, so lower levels go first. */
function isEarlierLevel(a: NodeState, b: NodeState): boolean {
  return a.plan.level === b.plan.level ? isMoreUrgent(a, b) : a.plan.level < b.plan.level;
}

export function pathOf(node: NodeState): string {
  return node.scope.path === '' ? node.plan.id : `${node.scope.path}/${node.plan.id}`;
}

export function nodeAt(state: RunState, path: string): NodeState | undefined {
  const cut = path.lastIndexOf('/');
  const scope = cut < 0 ? state.root : state.scopes.get(path.slice(0, cut));
  const index = scope?.graph.indexOf.get(cut < 0 ? path : path.slice(cut + 1));
  return index === undefined ? undefined : scope?.nodes[index];
}

/** In `mode: levels` a node waits until everything on the levels before it has ended. */
export function isHeldByLevel(state: RunState, node: NodeState): boolean {
  return state.plan.mode === 'levels' && node.plan.level > node.scope.level;
}

export function isFinal(status: NodeStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'skipped' || status === 'cancelled';
}

export function isFinished(status: RunStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'timed-out';
}

/** Stable over attempts; retry from failed keeps it. */
export function idempotencyKey(state: RunState, path: string): string {
  return `${state.executionId}:${path}:0`;
}
