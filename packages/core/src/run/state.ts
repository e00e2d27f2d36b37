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
import type { FailurePolicy } from '../definition/model.ts';
import type { RunError } from '../error.ts';
import { Heap } from '../heap.ts';
import type { GraphPlan, NodePlan, Plan } from '../plan/plan.ts';
import type { Json, JsonObject } from '../value.ts';
import type { Awaited, CacheHit, CacheMiss, FailureHandling, Gate, Parent, SkipReason } from './entry.ts';
import { type Estimates, ranksWith } from './estimates.ts';
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
  /** A composite node whose body runs. `stopping`: it fails with this once nothing of it runs any more. */
  | { readonly status: 'open'; readonly since: number; readonly stopping: Stopping | null }
  /** It must be granted something first. `until`: it has been, and begins then. */
  | { readonly status: 'gated'; readonly since: number; readonly gate: Gate; readonly until: number | null }
  /** Another execution runs for this node. */
  | { readonly status: 'child'; readonly since: number; readonly attempt: number; readonly executionId: string }
  /** A wait. */
  | {
      readonly status: 'listening';
      readonly since: number;
      readonly waits: readonly Awaited[];
      readonly deadline: number | null;
    }
  | {
      readonly status: 'completed';
      readonly at: number;
      readonly dead: readonly string[] | undefined;
      readonly cached?: CacheHit | undefined;
    }
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

/** What runs is asked to stop; then comes the failure. */
export interface Stopping {
  readonly error: RunError;
  readonly since: number;
}

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
  /** Gates that it has passed on its way to the next attempt. */
  passed: number;
  /** Keys among whose holders it is, or waits to be. */
  permits: readonly string[];
  /** What the cache did not have. */
  missed: CacheMiss | undefined;
  /** The reopening with which it last began as something new: a replay, or a repetition of what had been undone. */
  generation: number;
  /** Attempts below this composite node are counted from here: numbers of rounds that are gone are not used again. */
  attemptsBefore: number;
  /** For a composite node that has been opened. */
  body: BodyState | undefined;
  /** Attempts under way below this composite node. */
  busy: number;
  /** In this process: held back by its level, ready, or handed to the queue. Not part of the fold. */
  place: 'none' | 'held' | 'ready' | 'dispatched';
}

/**
 * The rounds of a composite node. A node that runs its body once (a workflow, a returned graph) has one, numbered 0.
 * Rounds that went well are gone, with only their result left; failed ones are kept for a retry.
 */
export interface BodyState {
  readonly graph: GraphPlan;
  /** Its scopes by round. */
  readonly scopes: Map<number, ScopeState>;
  /** The items of a forEach: first those that it began with, then those that were added. */
  readonly items: Batch[];
  /** Rounds that there will be, as far as is known. */
  total: number;
  /** The round that is opened next. */
  next: number;
  /** Rounds under way. */
  open: number;
  succeeded: number;
  failed: number;
  /** forEach: by round, undefined for those that failed or have not ended; else the last one only. */
  readonly results: (Held | undefined)[];
  /** Of the failed rounds the first (forEach) or last. */
  error: RunError | null;
  /** A node with `break` has completed: no further round begins. */
  isBroken: boolean;
  /** The graph that an action returned, where the body is that. */
  readonly returned: Json | undefined;
  /** retryUntil: when the next round begins. */
  until: number | null;
  /** Rounds before the run was last reopened: limits on the number of rounds count from here. */
  base: number;
}

export interface Batch {
  readonly from: number;
  readonly count: number;
  readonly items: Held;
}

/** What expressions see as `$input`, `$vars` and `$workflow`: of the run, or of a workflow that runs inside it. */
export interface Realm {
  readonly input: Held;
  readonly vars: Map<string, Held>;
  readonly workflowId: string;
  readonly version: number;
  readonly onFailure: FailurePolicy;
}

/** One run of a graph. The root has path ''; a loop's third round is `items/2`; a workflow inside is `sub`. */
export interface ScopeState {
  readonly path: string;
  readonly graph: GraphPlan;
  readonly nodes: NodeState[];
  /** The composite node that it belongs to, and which of its rounds it is; null for the root. */
  readonly parent: NodeState | null;
  readonly round: number;
  realm: Realm;
  /** What comes after the composite node, and counts for the urgency of the nodes in it. */
  readonly rankBase: number;
  /** Longest ways to an end node by what the run was told at its start; null: those of the plan. */
  ranks: readonly number[] | null;
  /** It fails with this once nothing of it runs any more. The root's is in the run. */
  stopping: Stopping | null;
  /** The first failure that will fail the scope at its end. */
  deferredError: RunError | null;
  /** What undoes its nodes, while that runs and afterwards. */
  undoing: ScopeState | null;
  /** The scope whose nodes this one undoes, and what these are. */
  readonly undoes: ScopeState | null;
  undoItems: readonly UndoItem[];
  /** It has failed and is kept; nothing happens in it any more. */
  isClosed: boolean;
  /** It went well, and is kept only for what nobody knows the outcome of. */
  isDone: boolean;
  /** Attempts under way in it and below. */
  busy: number;
  /** Nodes that are not final yet. */
  open: number;
  /** For `mode: levels`: ready nodes of levels whose turn has not come. */
  readonly held: Set<NodeState>;
  /** For `mode: levels`: open nodes per level, and the lowest level that has any. */
  readonly openPerLevel: number[];
  level: number;
}

export interface Ending {
  readonly status: FinalRunStatus;
  readonly error: RunError | null;
  readonly output: Held | undefined;
  /** A cancelled run is left as it is when its canceller says so. */
  readonly compensate: boolean;
}

/** A completed node that can be undone. */
export interface UndoItem {
  readonly path: string;
  readonly input: Held | undefined;
  readonly error: RunError | undefined;
  /** Graphs that dynamic nodes around it returned, outermost first: its plan is in the last of them. */
  readonly graphs: readonly Json[];
  /** That of the node when it completed. */
  readonly generation: number;
}

export interface FreedPermit {
  readonly key: string;
  readonly node: string;
}

export interface KeptSignal {
  readonly signal: string;
  readonly key: string;
  readonly payload: Held;
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
    | 'round'
    | 'wait'
    | 'deadline'
    | 'gate'
    | 'held';
  readonly node: NodeState | null;
  /** For `stop`: what is being stopped, where it is not the run or a node. */
  readonly scope?: ScopeState;
}

export interface RunState {
  readonly executionId: string;
  readonly plan: Plan;
  /** Frames folded so far. */
  seq: number;
  status: RunStatus;
  trigger: Json;
  parent: Parent | null;
  /** Of the starts of this workflow, which ones it stands for, while it does. */
  startKey: string | null;
  /** How long nodes took in earlier runs, as it was told at its start. */
  estimates: Estimates | null;
  startedAt: number;
  /** When it was started or last reopened: the workflow's timeout counts from here. */
  activeSince: number;
  finishedAt: number | null;
  output: Held | undefined;
  error: RunError | null;
  /** How the run will end, once it is being stopped. */
  stopping: (Ending & { readonly since: number }) | null;
  totalRetries: number;
  /** How many times it has been reopened. */
  reopened: number;
  /** The highest number that an attempt of any node has had. */
  lastAttempt: number;
  /** When a child execution was last asked for. */
  lastChildAt: number;
  /** Values that are in blobs: zero for nearly every run, so nearly nobody has to ask for them. */
  spilled: number;
  readonly root: ScopeState;
  readonly scopes: Map<string, ScopeState>;
  /** How the run will end, once what was done is undone and the failure node has run. */
  ending: Ending | null;
  /** What would be undone, in the order of finishing. */
  undo: UndoItem[];
  /** Paths of what has been undone: a retry does it again. */
  undone: string[];
  /** Begins then; null when it has begun. */
  heldUntil: number | null;
  /** When it was paused; nothing starts and no timer fires until it is resumed. */
  pausedAt: number | null;
  /** Signals for which nobody waited when they came, oldest first. */
  kept: KeptSignal[];
  readonly running: Set<NodeState>;
  readonly unknown: Set<NodeState>;
  /** Nodes that wait to be granted something. */
  readonly gated: Set<NodeState>;
  /** Permits that are given back with the next frame. */
  freed: FreedPermit[];
  /** Nodes that do not wait for a signal any more: told with the next frame. */
  deaf: string[];
  /** Nodes for which another execution runs. */
  readonly children: Set<NodeState>;
  /** Waits, the oldest first. */
  readonly listening: Set<NodeState>;
  /** Handed to the queue and not started yet. */
  dispatched: number;
  readonly ready: Heap<NodeState>;
  readonly timers: Heap<TimerItem>;
  /** Scopes and composite nodes at whose end the decision must look: all nodes final, or stopped and nothing runs. */
  readonly settled: Set<ScopeState | NodeState>;
  /** Nodes other than actions whose level has come. */
  readonly released: Set<NodeState>;
}

const NONE: readonly string[] = [];
const PENDING: Phase = { status: 'pending' };

export function newRunState(plan: Plan, executionId: string): RunState {
  const { workflowId, version, onFailure } = plan;
  const realm: Realm = { input: { value: null }, vars: varsOf(plan.variables), workflowId, version, onFailure };
  const root = newScope(plan.root, '', null, 0, realm);
  return {
    executionId,
    plan,
    seq: 0,
    status: 'pending',
    trigger: null,
    parent: null,
    startKey: null,
    estimates: null,
    startedAt: 0,
    activeSince: 0,
    finishedAt: null,
    output: undefined,
    error: null,
    stopping: null,
    ending: null,
    undo: [],
    undone: [],
    totalRetries: 0,
    reopened: 0,
    lastAttempt: 0,
    lastChildAt: 0,
    spilled: 0,
    root,
    scopes: new Map([['', root]]),
    heldUntil: null,
    pausedAt: null,
    kept: [],
    running: new Set(),
    unknown: new Set(),
    gated: new Set(),
    freed: [],
    deaf: [],
    children: new Set(),
    listening: new Set(),
    dispatched: 0,
    ready: new Heap(plan.mode === 'sequential' ? isEarlier : isMoreUrgent),
    timers: new Heap((a, b) => a.at < b.at),
    settled: new Set(),
    released: new Set(),
  };
}

export function varsOf(variables: JsonObject): Map<string, Held> {
  return new Map(Object.entries(variables).map(([name, value]) => [name, { value }]));
}

export function newScope(
  graph: GraphPlan,
  path: string,
  parent: NodeState | null,
  round: number,
  realm: Realm,
  undoes: ScopeState | null = null,
): ScopeState {
  const scope: ScopeState = {
    path,
    graph,
    nodes: [],
    parent,
    round,
    realm,
    rankBase: parent === null ? 0 : rankOf(parent),
    ranks: null,
    stopping: null,
    deferredError: null,
    undoing: null,
    undoes,
    undoItems: [],
    isClosed: false,
    isDone: false,
    busy: 0,
    open: graph.nodes.length,
    held: new Set(),
    openPerLevel: graph.levels.map((level) => level.length),
    level: 0,
  };
  for (const plan of graph.nodes) scope.nodes.push(newNode(plan, scope));
  return scope;
}

function newNode(plan: NodePlan, scope: ScopeState): NodeState {
  const attemptsBefore = scope.parent?.attemptsBefore ?? 0;
  return {
    plan,
    scope,
    phase: PENDING,
    decided: 0,
    taken: 0,
    attempts: attemptsBefore,
    userFailures: 0,
    systemFailures: 0,
    queuedAt: null,
    startedAt: null,
    input: undefined,
    output: undefined,
    passed: 0,
    permits: NONE,
    missed: undefined,
    generation: 0,
    attemptsBefore,
    body: undefined,
    busy: 0,
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
  node.body = undefined;
  node.passed = 0;
  node.missed = undefined;
  node.place = 'none';
}

function rankOf({ scope, plan }: NodeState): number {
  return scope.rankBase + (scope.ranks?.[plan.index] ?? plan.rank);
}

/** Before anything of it is ready. */
export function estimate(state: RunState, estimates: Estimates): void {
  state.estimates = estimates;
  state.root.ranks = ranksWith(state.plan.root, estimates);
}

/** Priority first, then the longer way to the end, then the order of the definition. */
function isMoreUrgent(a: NodeState, b: NodeState): boolean {
  if (a.plan.priority !== b.plan.priority) return a.plan.priority > b.plan.priority;
  const rankA = rankOf(a);
  const rankB = rankOf(b);
  return rankA === rankB ? isEarlier(a, b) : rankA > rankB;
}

/** The order of the definition: a body stands where its composite node stands, its rounds one after the other. */
function isEarlier(a: NodeState, b: NodeState): boolean {
  if (a.scope === b.scope) return a.plan.index < b.plan.index;
  const wayA = wayTo(a);
  const wayB = wayTo(b);
  const length = Math.min(wayA.length, wayB.length);
  for (let step = 0; step < length; step++) {
    if (wayA[step] !== wayB[step]) return (wayA[step] as number) < (wayB[step] as number);
  }
  return wayA.length < wayB.length;
}

/** Positions and rounds from the root down. */
function wayTo(node: NodeState): number[] {
  const way: number[] = [];
  for (let at: NodeState | null = node; at !== null; at = at.scope.parent) way.push(at.plan.index, at.scope.round);
  return way.reverse();
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

/** The items among which that of a round is. Halved, not searched: a loop whose rounds emit items has a batch for each. */
export function batchOf({ items }: BodyState, round: number): Batch | undefined {
  let low = 0;
  let high = items.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((items[middle] as Batch).from <= round) low = middle;
    else high = middle - 1;
  }
  const batch = items[low];
  return batch !== undefined && round >= batch.from && round < batch.from + batch.count ? batch : undefined;
}

/** In `mode: levels` a node waits until everything on the levels before it has ended. */
export function isHeldByLevel(state: RunState, node: NodeState): boolean {
  return state.plan.mode === 'levels' && node.plan.level > node.scope.level;
}

/** The permit that keeps other starts with the same key out. */
export function startPermit(workflowId: string, key: string): string {
  return `start:${workflowId}:${key}`;
}

/** Nothing begins in the scope any more: it, or something around it, is ending. */
export function isStopped(state: RunState, scope: ScopeState): boolean {
  if (state.stopping !== null) return true;
  for (let at = scope; ; at = at.parent.scope) {
    // What undoes a scope runs although the scope itself has ended.
    if (at.undoes === null && (at.stopping !== null || at.isClosed)) return true;
    if (at.parent === null) return false;
    if (at.parent.phase.status !== 'open' || at.parent.phase.stopping !== null) return true;
    if (isOver(state, at.parent)) return true;
  }
}

/** While a run is undone, and its failure node runs, no other node of the root has a future. */
export function isOver(state: RunState, { scope, plan }: NodeState): boolean {
  return state.ending !== null && scope === state.root && plan !== state.plan.failureNode;
}

/** Whether a scope is the given one or below it; likewise for a composite node. */
export function isInside(scope: ScopeState, outer: ScopeState | NodeState): boolean {
  for (let at: ScopeState | undefined = scope; at !== undefined; at = at.parent?.scope) {
    if (at === outer || at.parent === outer) return true;
  }
  return false;
}

/** As people and expressions see it. */
export function statusOf(phase: Phase): NodeStatus {
  if (phase.status === 'open' || phase.status === 'child') return 'running';
  return phase.status === 'listening' || phase.status === 'gated' ? 'waiting' : phase.status;
}

export function isFinal(status: Phase['status']): boolean {
  return status === 'completed' || status === 'failed' || status === 'skipped' || status === 'cancelled';
}

export function isFinished(status: RunStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'timed-out';
}

/** Stable over attempts; retry from failed keeps it, a replay and what is done again after it was undone do not. */
export function idempotencyKey(state: RunState, path: string): string {
  return `${state.executionId}:${path}:${generationOf(nodeAt(state, path) ?? null)}`;
}

/** With which reopening the node, or something around it, last began as something new. */
export function generationOf(node: NodeState | null): number {
  let generation = 0;
  for (let at = node; at !== null; at = at.scope.parent) generation = Math.max(generation, at.generation);
  return generation;
}
