/**
 * Advances a run after an event at one of its nodes: decides the node's edges and then, by a worklist, every node that
 * these edges make ready, skip or fail. Nothing here looks at the rest of the graph.
 */
import type { RunError } from '../../error.ts';
import type { CompiledValue } from '../../expression/index.ts';
import type { EdgeError } from '../../plan/plan.ts';
import { decideRepeat, decideRetry, impliedRule, type RetryDecision, WORKER_LOST } from '../../retry/retry.ts';
import type { Json } from '../../value.ts';
import {
  type DecidedEdges,
  decideCancelled,
  decideFailure,
  decideOnward,
  expressionFailure,
  isPassedOver,
  stillBroken,
  targetOf,
} from '../joins/edges.ts';
import { isTaken } from '../joins/joins.ts';
import type { CacheHit, FailureHandling, RunStopping, SkipReason } from '../journal/entry.ts';
import { resolveValue, type StoredValue } from '../journal/stored-value.ts';
import { type NodeEnding, RunScope } from '../state/expression-scope.ts';
import { bodyOf, endingOf, isCleaningUp, isFinal, isPaused, isStopped, pathOf, stateIn } from '../state/selectors.ts';
import { retryPlanOf, ttlOf } from '../state/settings.ts';
import type { NodeState, Ending as RunEnding, ScopeState } from '../state/state.ts';
import type { FinalRunStatus } from '../state/status.ts';
import { abort, abortInside, leave, leaveInside } from '../stop/abort.ts';
import { hasFinally } from '../stop/early-end.ts';
import { undoesMore } from './preconditions.ts';
import { emit, emitSkipped, type Turn } from './turn.ts';

/** `dead`: edges that the node itself decided against. `vars`: variables that it assigned. */
export function completeNode(
  turn: Turn,
  node: NodeState,
  output: StoredValue,
  own: {
    readonly dead?: readonly string[];
    readonly vars?: Record<string, StoredValue>;
    readonly cached?: CacheHit;
    /** Its output was given to a test run. */
    readonly pinned?: true;
  } = {},
): void {
  if (node.plan.emits !== undefined && !addItems(turn, node, node.plan.emits, output)) return;
  const ending: NodeEnding = { node, status: 'completed', output: resolveValue(output, turn.lookup), error: null };
  const { dead: conditional = [], broken } = decideOnward(turn, ending);
  const dead = [...(own.dead ?? []), ...conditional];
  const path = pathOf(node);
  const { missed: miss, plan } = node;
  if (own.cached === undefined && miss !== undefined && plan.cache !== undefined) {
    turn.cacheFills.push({ node: path, output, miss, ttlMs: ttlOf(node, plan.cache) });
  }
  emit(turn, {
    type: 'node.completed',
    node: path,
    ...(output.value === null ? {} : { output }),
    ...(dead.length === 0 ? {} : { dead }),
    ...(own.vars === undefined ? {} : { vars: own.vars }),
    // An output from the cache, or a pinned one, has no effect to undo.
    ...(own.cached === undefined && own.pinned === undefined && !isCleaningUp(node) ? undoOf(turn, ending) : {}),
    ...(own.cached === undefined ? {} : { cached: own.cached }),
  });
  if (!plan.breaks || node.scope.parent === null) return follow(turn, node, broken);
  failCleanups(turn, node, broken);
  follow(turn, node, []);
  breakIteration(turn, node.scope);
}

/** Resolves the parameters of the compensation now, while the values that they read are available. */
function undoOf(turn: Turn, { node, output }: NodeEnding): { undo?: StoredValue; undoError?: RunError } {
  const { compensate } = node.plan;
  if (compensate === undefined) return {};
  try {
    const scope = RunScope.ofNode(turn.state, node, turn.lookup, output).at(node, 'compensate');
    return { undo: turn.store(compensate.with.evaluate(scope, turn.budgets.next())) };
  } catch (error) {
    return { undoError: expressionFailure(error, 'compensate', pathOf(node)) };
  }
}

type Retry = Extract<RetryDecision, { retry: true }>;

/** An attempt failed: another one follows, or the node fails. */
export function failAttempt(
  turn: Turn,
  node: NodeState,
  error: RunError,
  decideOn: typeof decideRetry = decideRetry,
): void {
  const decision = retryOf(turn, node, error, decideOn);
  if (decision === undefined) failNode(turn, node, error);
  else repeat(turn, node, error, decision);
}

/** Returns undefined if the node is not tried again. */
export function retryOf(
  { state, budgets, jitter }: Turn,
  node: NodeState,
  error: RunError,
  decideOn: typeof decideRetry = decideRetry,
): Retry | undefined {
  // Compensations have their own retries: a run that failed for lack of retries is still undone.
  const isRetriedOut = node.scope.undoes === null && state.totalRetries >= state.plan.maxTotalRetries;
  if (isStopped(state, node) || isRetriedOut) return undefined;
  const past = { path: pathOf(node), retries: node.retries, lost: node.lost };
  const decision = decideOn(retryPlanOf(node), error, past, { jitter, newBudget: () => budgets.next() });
  return decision.retry ? decision : undefined;
}

export function repeat(turn: Turn, node: NodeState, error: RunError, { rule, delayMs }: Retry): void {
  const counted = rule === impliedRule(error) ? {} : { rule };
  emit(turn, { type: 'node.retrying', node: pathOf(node), error, until: turn.now + delayMs, ...counted });
}

/** An attempt was cut off, and its outcome is unknown. */
export function breakOff(turn: Turn, node: NodeState, error: RunError): void {
  const isOnce = node.phase.status === 'running' && node.phase.effect === 'once';
  if (isOnce) leaveUnknown(turn, node, error);
  else if (isStopped(turn.state, node)) endCancelled(turn, node, error);
  else failAttempt(turn, node, error, error.code === WORKER_LOST ? decideRepeat : decideRetry);
}

/**
 * Records an unknown outcome. If the scope ends early, the node's edges are decided now, so that its targets do not
 * wait.
 */
export function leaveUnknown(turn: Turn, node: NodeState, error: RunError): void {
  const isEnding = node.scope.stopping?.finally !== undefined;
  const { dead, broken } = isEnding ? decideCancelled(turn, node, error) : NO_EDGES;
  emit(turn, { type: 'node.unknown', node: pathOf(node), error, ...(dead === undefined ? {} : { dead }) });
  if (isEnding) follow(turn, node, broken);
}

const NO_EDGES: DecidedEdges = { dead: undefined, broken: [] };

/** Ends a node that was cut off. */
export function endCancelled(turn: Turn, node: NodeState, error?: RunError): void {
  const { dead, broken } = decideCancelled(turn, node, error ?? null);
  emit(turn, {
    type: 'node.cancelled',
    node: pathOf(node),
    ...(error === undefined ? {} : { error }),
    ...(dead === undefined ? {} : { dead }),
  });
  follow(turn, node, broken);
}

/** Fails the node for good. `isCleanup`: the scope is about to end for another reason than this failure. */
export function failNode(turn: Turn, node: NodeState, cause: RunError, isCleanup = false): void {
  const path = pathOf(node);
  const error: RunError = { ...cause, node: cause.node ?? path };
  const { handling: own, taken, dead, broken } = decideFailure(turn, node, error);
  const wasStopped = isStopped(turn.state, node);
  const handling = own ?? (isCleanup ? cleanup(node) : unhandled(turn, node));
  emit(turn, {
    type: 'node.failed',
    node: path,
    error,
    handling,
    ...(taken === undefined ? {} : { taken }),
    ...(dead === undefined ? {} : { dead }),
  });
  if (handling === 'fatal' && (!wasStopped || mayHalt(turn, node))) endFailed(turn, node, error, broken);
  else follow(turn, node, broken, isCleanup);
}

/** Ends the scope because of the failure. With `halt` it ends the run, from any depth. */
function endFailed(turn: Turn, node: NodeState, error: RunError, broken: readonly EdgeError[] = []): void {
  failCleanups(turn, node, broken);
  if (node.scope.parent === null || mayHalt(turn, node)) stop(turn, 'failed', error, { from: node });
  // This is needed after a halt too: if the node is in a cleanup, the end of the run spares its scope.
  if (node.scope.parent !== null) stopScope(turn, node.scope, error);
  follow(turn, node, []);
}

/**
 * Fails the targets of edges that could not be evaluated, after a node that ends the scope. Their failure ends nothing.
 */
function failCleanups(turn: Turn, node: NodeState, broken: readonly EdgeError[]): void {
  for (const { edge, error } of broken) {
    const target = targetOf(node, edge);
    if (isUntouched(target)) failNode(turn, target, error, true);
  }
}

/** In a run that is already ending, `halt` ends only the body. */
function mayHalt({ state }: Turn, { plan }: NodeState): boolean {
  return plan.onError === 'halt' && endingOf(state) === null && state.stopping === null;
}

/**
 * In a body the policy ends the scope, and its composite node fails in turn. Only `halt` ends the run from any depth.
 */
function unhandled(turn: Turn, node: NodeState): Exclude<FailureHandling, 'handled'> {
  const { scope, plan, phase } = node;
  // The outcome of the failure node changes nothing: the original error stands.
  if (plan === turn.state.plan.failureNode) return 'ignored';
  if (mayHalt(turn, node)) return 'fatal';
  // The outcome of a cleanup may be settled after its scope has begun to compensate.
  if (node.inFinally && scope.stopping === null && isStopped(turn.state, node)) return cleanup(node);
  const isCutOff = isStopped(turn.state, node) && phase.status !== 'pending' && !isFinal(phase.status);
  if (isCutOff) return scope.realm.onFailure === 'ignore' ? 'tolerated' : 'fatal';
  if (scope.stopping !== null) return cleanup(node);
  if (plan.onError === 'halt') return 'fatal';
  switch (scope.realm.onFailure) {
    case 'fail-fast':
      return 'fatal';
    case 'finish-running':
      return 'deferred';
    case 'ignore':
      return 'tolerated';
  }
}

/** In a finally every cleanup runs. A failed cleanup fails a scope that would have succeeded. */
function cleanup({ scope, plan }: NodeState): 'tolerated' | 'deferred' {
  // The policy does not apply to the failure of a node with `halt`.
  return scope.realm.onFailure === 'ignore' && plan.onError !== 'halt' ? 'tolerated' : 'deferred';
}

/** Skips the node. A failure that only skipped nodes would have handled becomes unhandled. */
export function skip(turn: Turn, node: NodeState, why: Exclude<SkipReason, 'disabled'>): void {
  emitSkipped(turn, node, why);
  follow(turn, node, []);
  for (const edge of node.plan.incoming) {
    if (edge.on !== 'error') continue;
    const source = stateIn(node.scope, edge.from);
    if (source.phase.status === 'failed' && source.phase.handling === 'handled' && !isHandledStill(source)) {
      leaveUnhandled(turn, source, source.phase.error);
    }
  }
}

function isHandledStill(node: NodeState): boolean {
  let isTakenByAny = false;
  for (const edge of node.plan.outgoing) {
    if (edge.on !== 'error' || !isTaken(edge, node)) continue;
    if (!isPassedOver(targetOf(node, edge))) return true;
    isTakenByAny = true;
  }
  // In journals of earlier versions an always edge also handled a failure.
  return !isTakenByAny;
}

function leaveUnhandled(turn: Turn, node: NodeState, error: RunError): void {
  const handling = node.plan.onError === 'ignore' ? 'ignored' : unhandled(turn, node);
  emit(turn, { type: 'node.unhandled', node: pathOf(node), handling });
  if (handling === 'fatal' && !isStopped(turn.state, node)) endFailed(turn, node, error);
}

/**
 * Ends the run with this status, after running attempts were asked to stop. A paused run stays paused unless it is
 * cancelled.
 */
export function stop(
  turn: Turn,
  status: FinalRunStatus,
  error: RunError | null,
  { output, compensate = true, from }: StopOptions = {},
): void {
  const { state } = turn;
  const wasPaused = isPaused(state);
  const isCancel = status === 'cancelled';
  if (endingOf(state) !== null || (state.stopping !== null && !(wasPaused && isCancel))) return;
  emit(turn, {
    type: 'run.stopping',
    status,
    error,
    ...(output === undefined ? {} : { output }),
    ...(compensate ? {} : { compensate }),
    ...(wasPaused && !isCancel ? { paused: true } : {}),
    finally: true,
  });
  const reason = error?.message ?? `the run is ${status}`;
  cutOffInside(turn, state.root, reason);
  if (!compensate) leaveInside(turn, state.root, reason);
  if (from !== undefined) endAround(turn, from, status, error);
}

interface StopOptions {
  readonly output?: StoredValue;
  readonly compensate?: boolean;
  /** The node that ends the run. */
  readonly from?: NodeState;
}

/** Ends the scopes around the node that ends the run, even those in a finally. */
function endAround(turn: Turn, from: NodeState, status: FinalRunStatus, error: RunError | null): void {
  let around = from;
  for (; around.scope.parent !== null; around = around.scope.parent);
  if (around === from || around.phase.status !== 'open') return;
  if (around.phase.stopping !== null || isStopped(turn.state, around)) return;
  const how =
    status === 'failed' && error !== null
      ? { error }
      : { error: { code: 'TERMINATED', kind: 'USER', message: 'The run has ended.' } as const, cancelled: true };
  emit(turn, { type: 'node.stopping', node: pathOf(around), ...how, finally: true });
  cutOffInside(turn, around, how.error.message);
}

/** The entry that repeats how the run ends. */
export function stoppingAnew({ status, error, output, compensate }: RunEnding): RunStopping {
  return {
    type: 'run.stopping',
    status,
    error,
    ...(output === undefined ? {} : { output }),
    ...(compensate ? {} : { compensate }),
  };
}

/**
 * A cancel of a run that is ending and has a finally left to run. The first cancel is recorded; the second one skips
 * the finallys that have not run.
 */
export function cancelFinally(turn: Turn, reason: string): void {
  const { state } = turn;
  if (state.stopping === null || !hasFinally(state)) return;
  const { status, cancelRequested = false } = state.stopping;
  const isSecond = status === 'cancelled' || cancelRequested;
  emit(turn, {
    ...stoppingAnew(state.stopping),
    ...(!isPaused(state) ? {} : { paused: true }),
    ...(isSecond ? { finally: false } : { finally: true, cancelRequested: true }),
  });
  if (isSecond) cutOffInside(turn, state.root, reason);
}

/** Cuts off everything that ends early: attempts are asked to stop, and waits are cancelled. */
export function cutOffInside(turn: Turn, outer: ScopeState | NodeState, reason: string): void {
  cancelWaiting(turn, outer);
  abortInside(turn, outer, reason);
}

export function cancelWaiting(turn: Turn, outer: ScopeState | NodeState): void {
  for (const node of underWayIn(outer)) {
    const { status } = node.phase;
    if (node.phase.status === 'unknown') {
      if (node.decidedAs === undefined) leaveUnknown(turn, node, node.phase.error);
    } else if (status !== 'running' && status !== 'child' && status !== 'open' && isStopped(turn.state, node)) {
      endCancelled(turn, node);
    }
  }
}

/** Nodes that have begun and not ended, in all scopes below that end early. */
function underWayIn(outer: ScopeState | NodeState): NodeState[] {
  const found: NodeState[] = [];
  const stack: (ScopeState | NodeState)[] = [outer];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (!('nodes' in at)) {
      for (const scope of bodyOf(at)?.scopes.values() ?? []) stack.push(scope);
    } else if (!at.isClosed && at.stopping !== null) {
      for (const node of at.nodes) {
        if (node.startedAt === null || isFinal(node.phase.status)) continue;
        found.push(node);
        if (bodyOf(node) !== undefined) stack.push(node);
      }
    }
  }
  return found;
}

/**
 * Stops the compensation of a run that is ending: completed nodes that are not undone yet keep their effects. The run's
 * status is already decided.
 */
export function leaveDone(turn: Turn, reason: string): void {
  const { stopping, root } = turn.state;
  if (!undoesMore(turn.state)) return;
  if (stopping !== null) {
    const { status, error } = stopping;
    const cleans = root.stopping?.finally === true ? { finally: true } : {};
    emit(turn, { type: 'run.stopping', status, error, compensate: false, ...cleans });
    for (const node of turn.state.children) abort(turn, node, reason);
    return leaveInside(turn, root, reason);
  }
  if (isPaused(turn.state)) emit(turn, { type: 'run.resumed' });
  if (root.undoing !== null) leave(turn, root.undoing, reason);
}

/** Fails the scope with this error, after its running attempts were asked to stop. */
function stopScope(turn: Turn, scope: ScopeState, error: RunError): void {
  if (scope.stopping !== null || scope.isClosed) return;
  emit(turn, { type: 'scope.stopping', scope: scope.path, error, finally: true });
  cutOffInside(turn, scope, error.message);
}

/** Ends a scope with a deferred failure early, so that its finally runs. */
export function endDeferred(turn: Turn, scope: ScopeState): void {
  const { deferredError, parent } = scope;
  if (deferredError === null) return;
  if (parent === null) stop(turn, 'failed', deferredError);
  else stopScope(turn, scope, deferredError);
}

/**
 * Ends an iteration after a node with `break` completed: nothing else begins in it, and running attempts are asked to
 * stop.
 */
function breakIteration(turn: Turn, scope: ScopeState): void {
  if (scope.stopping !== null || scope.isClosed || scope.open === 0) return;
  emit(turn, { type: 'scope.stopping', scope: scope.path, error: null, finally: true });
  cutOffInside(turn, scope, 'the loop has ended');
}

/**
 * Begins nodes again after a reopening: they evaluate their joins. Nodes before which an edge could not be evaluated
 * fail again; the journal has that edge only as dead, which alone would skip them.
 */
export function beginAgain(turn: Turn, nodes: ReadonlySet<NodeState>): void {
  const sources = new Set<NodeState>();
  for (const node of nodes) {
    turn.work.push(node);
    for (const edge of node.plan.incoming) {
      const source = stateIn(node.scope, edge.from);
      if (!nodes.has(source)) sources.add(source);
    }
  }
  for (const source of sources) follow(turn, source, stillBroken(turn, source));
}

/** Puts the targets of a node that has ended on the worklist. */
export function follow(turn: Turn, node: NodeState, broken: readonly EdgeError[], isCleanup = false): void {
  for (const { edge, error } of broken) {
    const target = targetOf(node, edge);
    if (isUntouched(target)) failNode(turn, target, error, isCleanup);
  }
  for (const edge of node.plan.outgoing) turn.work.push(targetOf(node, edge));
}

export function isUntouched(node: NodeState): boolean {
  return node.phase.status === 'pending' && node.dispatchState === 'none';
}

/** Adds the items that a node emits to the loop around it. Returns false if that failed, and the node with it. */
function addItems(turn: Turn, node: NodeState, emits: CompiledValue, output: StoredValue): boolean {
  const loop = node.scope.parent;
  const body = loop === null ? undefined : bodyOf(loop);
  // A completed loop takes no more items; a loop that was cut off continues with them after a retry.
  if (loop === null || body === undefined || loop.phase.status === 'completed') return true;
  let items: Json;
  try {
    const scope = RunScope.ofNode(turn.state, node, turn.lookup, resolveValue(output, turn.lookup)).at(node, 'emit');
    items = emits.evaluate(scope, turn.budgets.next());
  } catch (error) {
    failNode(turn, node, expressionFailure(error, 'emit'));
    return false;
  }
  if (!Array.isArray(items)) failNode(turn, node, notAList(items, 'emit'));
  else if (body.total + items.length > MAX_ITERATIONS) failNode(turn, node, tooManyItems(body.total + items.length));
  else {
    if (items.length > 0)
      emit(turn, { type: 'items.added', node: pathOf(loop), items: turn.store(items), count: items.length });
    return true;
  }
  return false;
}

/** The limit on iterations of a loop, including items added while it runs. */
export const MAX_ITERATIONS = 1_000_000;

export function notAList(value: Json, where: string): RunError {
  const found =
    value === null ? 'null' : typeof value === 'object' ? 'an object' : `the ${typeof value} ${String(value)}`;
  return { code: 'NOT_A_LIST', kind: 'USER', message: `\`${where}\` must give a list, not ${found}.` };
}

export function tooManyItems(count: number): RunError {
  return { code: 'TOO_MANY_ITEMS', kind: 'USER', message: `A loop has at most ${MAX_ITERATIONS} items, not ${count}.` };
}
