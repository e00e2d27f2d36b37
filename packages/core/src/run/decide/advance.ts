/**
 * Moves a run on after something happened to one of its nodes: decides its edges, then, by a worklist,
 * every node that these edges make ready, skip or fail. Nothing here looks at the rest of the graph.
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
import type { CacheHit, FailureHandling, RunStopping } from '../journal/entry.ts';
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

/** `dead`: edges that the node itself has decided against; `vars`: what it assigned. */
export function completeNode(
  turn: Turn,
  node: NodeState,
  output: StoredValue,
  own: {
    readonly dead?: readonly string[];
    readonly vars?: Record<string, StoredValue>;
    readonly cached?: CacheHit;
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
    // What the cache had was not done here.
    ...(own.cached === undefined && !isCleaningUp(node) ? undoOf(turn, ending) : {}),
    ...(own.cached === undefined ? {} : { cached: own.cached }),
  });
  if (!plan.breaks || node.scope.parent === null) return follow(turn, node, broken);
  failCleanups(turn, node, broken);
  follow(turn, node, []);
  breakIteration(turn, node.scope);
}

/** What would undo the node is resolved while everything that it reads is at hand. */
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
  jitter: number,
  decideOn: typeof decideRetry = decideRetry,
): void {
  const decision = retryOf(turn, node, error, jitter, decideOn);
  if (decision === undefined) failNode(turn, node, error);
  else repeat(turn, node, error, decision);
}

/** Undefined: the node is not tried again. */
export function retryOf(
  { state, budgets }: Turn,
  node: NodeState,
  error: RunError,
  jitter: number,
  decideOn: typeof decideRetry = decideRetry,
): Retry | undefined {
  // Compensations have retries of their own: a run that failed for want of them is undone, too.
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

/** An attempt ended without anybody knowing whether it took effect. */
export function breakOff(turn: Turn, node: NodeState, error: RunError, jitter: number): void {
  const isOnce = node.phase.status === 'running' && node.phase.effect === 'once';
  if (isOnce) leaveUnknown(turn, node, error);
  else if (isStopped(turn.state, node)) endCancelled(turn, node, error);
  else failAttempt(turn, node, error, jitter, error.code === WORKER_LOST ? decideRepeat : decideRetry);
}

/** Nobody knows what became of it. Where its scope ends early, what depends on it does not wait for the answer. */
export function leaveUnknown(turn: Turn, node: NodeState, error: RunError): void {
  const isEnding = node.scope.stopping?.finally !== undefined;
  const { dead, broken } = isEnding ? decideCancelled(turn, node, error) : NO_EDGES;
  emit(turn, { type: 'node.unknown', node: pathOf(node), error, ...(dead === undefined ? {} : { dead }) });
  if (isEnding) follow(turn, node, broken);
}

const NO_EDGES: DecidedEdges = { dead: undefined, broken: [] };

/** The node was cut off. */
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

/** The node fails for good. `isCleanup`: the scope is about to end, and this failure is not why. */
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
  else follow(turn, node, broken);
}

/** The failure ends the scope; with `halt` the run, from any depth. */
function endFailed(turn: Turn, node: NodeState, error: RunError, broken: readonly EdgeError[] = []): void {
  failCleanups(turn, node, broken);
  if (node.scope.parent === null || mayHalt(turn, node)) stop(turn, 'failed', error, { from: node });
  // Also after a halt: inside a cleanup the end of the run spares the scope of the node.
  if (node.scope.parent !== null) stopScope(turn, node.scope, error);
  follow(turn, node, []);
}

/** Targets whose edge cannot be evaluated, of a node after which the scope ends: they fail, and end nothing. */
function failCleanups(turn: Turn, node: NodeState, broken: readonly EdgeError[]): void {
  for (const { edge, error } of broken) {
    const target = targetOf(node, edge);
    if (isUntouched(target)) failNode(turn, target, error, true);
  }
}

/** A run that is ending anyway goes on to do so: there `halt` ends no more than the body. */
function mayHalt({ state }: Turn, { plan }: NodeState): boolean {
  return plan.onError === 'halt' && endingOf(state) === null && state.stopping === null;
}

/** In a body a policy ends the scope, and its composite node fails in turn; only `halt` ends the run from any depth. */
function unhandled(turn: Turn, node: NodeState): Exclude<FailureHandling, 'handled'> {
  const { scope, plan, phase } = node;
  // The outcome of the failure node changes nothing: the original error stands.
  if (plan === turn.state.plan.failureNode) return 'ignored';
  if (mayHalt(turn, node)) return 'fatal';
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

/** In a finally every cleanup has its turn; what fails there fails a scope that would have ended well. */
function cleanup({ scope, plan }: NodeState): 'tolerated' | 'deferred' {
  // The policy has no say in the failure of a node with `halt`.
  return scope.realm.onFailure === 'ignore' && plan.onError !== 'halt' ? 'tolerated' : 'deferred';
}

/** The node is passed over. A failure that only such nodes would have handled is unhandled from this moment. */
export function skip(turn: Turn, node: NodeState, why: 'dead' | 'when' | 'failure'): void {
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
  // In journals from before, an always edge handled a failure, too.
  return !isTakenByAny;
}

function leaveUnhandled(turn: Turn, node: NodeState, error: RunError): void {
  const handling = node.plan.onError === 'ignore' ? 'ignored' : unhandled(turn, node);
  emit(turn, { type: 'node.unhandled', node: pathOf(node), handling });
  if (handling === 'fatal' && !isStopped(turn.state, node)) endFailed(turn, node, error);
}

/** The run will end like this; what runs is asked to stop first. A paused run stays paused, unless it is cancelled. */
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

/** The scopes around a node that ends the run end with it, even where they have a part in a finally. */
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

/** How the run ends, said once more. */
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
 * A cancel of a run that is ending and has a finally to run. The first one is noted; the second one leaves the finallies
 * out, where they have not run yet.
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

/** Of what ends early: attempts are asked to stop, and what waits for something is cancelled. */
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

/** Stops the compensation of a run that is ending: effects that are not undone yet stay. Its status is decided already. */
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

/** The scope will fail like this; what runs in it is asked to stop first. */
function stopScope(turn: Turn, scope: ScopeState, error: RunError): void {
  if (scope.stopping !== null || scope.isClosed) return;
  emit(turn, { type: 'scope.stopping', scope: scope.path, error, finally: true });
  cutOffInside(turn, scope, error.message);
}

/** A node with `break` has completed: nothing else of the iteration begins, and what runs in it is asked to stop. */
function breakIteration(turn: Turn, scope: ScopeState): void {
  if (scope.stopping !== null || scope.isClosed || scope.open === 0) return;
  emit(turn, { type: 'scope.stopping', scope: scope.path, error: null, finally: true });
  cutOffInside(turn, scope, 'the loop has ended');
}

/**
 * After a reopening: nodes that begin again look at their joins, and those before which an edge could not be evaluated
 * fail as they did; the journal has such an edge as dead, which alone would let them be skipped.
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

/** Looks at the targets of a node that has ended. */
export function follow(turn: Turn, node: NodeState, broken: readonly EdgeError[]): void {
  for (const { edge, error } of broken) {
    const target = targetOf(node, edge);
    if (isUntouched(target)) failNode(turn, target, error);
  }
  for (const edge of node.plan.outgoing) turn.work.push(targetOf(node, edge));
}

export function isUntouched(node: NodeState): boolean {
  return node.phase.status === 'pending' && node.dispatchState === 'none';
}

/** Adds what a node of a body emits to its loop. False when that failed, and the node with it. */
function addItems(turn: Turn, node: NodeState, emits: CompiledValue, output: StoredValue): boolean {
  const loop = node.scope.parent;
  const body = loop === null ? undefined : bodyOf(loop);
  // To one that is done nothing can be added any more; one that was cut off goes on with them after a retry.
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

/** Iterations that a loop may have, items added while it runs included. */
export const MAX_ITERATIONS = 1_000_000;

export function notAList(value: Json, where: string): RunError {
  const found =
    value === null ? 'null' : typeof value === 'object' ? 'an object' : `the ${typeof value} ${String(value)}`;
  return { code: 'NOT_A_LIST', kind: 'USER', message: `\`${where}\` must give a list, not ${found}.` };
}

export function tooManyItems(count: number): RunError {
  return { code: 'TOO_MANY_ITEMS', kind: 'USER', message: `A loop has at most ${MAX_ITERATIONS} items, not ${count}.` };
}
