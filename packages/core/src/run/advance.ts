/**
 * Moves a run on after something happened to one of its nodes: decides its edges, then, by a worklist,
 * every node that these edges make ready, skip or fail. Nothing here looks at the rest of the graph.
 */
import type { RunError } from '../error.ts';
import type { CompiledValue } from '../expression/index.ts';
import type { EdgeError } from '../plan/plan.ts';
import { decideRepeat, decideRetry, impliedRule, type RetryDecision, WORKER_LOST } from '../retry/retry.ts';
import type { Json } from '../value.ts';
import { abort, abortInside, leave, leaveInside } from './aborting.ts';
import { decideFailure, decideOnward, expressionFailure, stillBroken } from './edges.ts';
import type { CacheHit, FailureHandling } from './entry.ts';
import { type Held, heldValue, hold } from './held.ts';
import { MAX_ROUNDS, notAList, tooManyItems } from './items.ts';
import { undoesMore } from './refusals.ts';
import { isStopped, pathOf } from './standing.ts';
import type { NodeState, ScopeState } from './state.ts';
import type { FinalRunStatus } from './status.ts';
import { emit, emitSkipped, type Turn } from './turn.ts';
import { type Ending, RunScope } from './view.ts';

/** `dead`: edges that the node itself has decided against; `vars`: what it assigned. */
export function completeNode(
  turn: Turn,
  node: NodeState,
  output: Held,
  own: {
    readonly dead?: readonly string[];
    readonly vars?: Record<string, Held>;
    readonly cached?: CacheHit;
  } = {},
): void {
  if (node.plan.emits !== undefined && !addItems(turn, node, node.plan.emits, output)) return;
  const ending: Ending = { node, status: 'completed', output: heldValue(output, turn.lookup), error: null };
  const { dead: conditional = [], broken } = decideOnward(turn, ending);
  const dead = [...(own.dead ?? []), ...conditional];
  const path = pathOf(node);
  const { missed: miss, plan } = node;
  if (own.cached === undefined && miss !== undefined && plan.cache !== undefined) {
    turn.learnt.push({ node: path, output, miss, ttlMs: plan.cache.ttlMs });
  }
  emit(turn, {
    type: 'node.completed',
    node: path,
    ...(output.value === null ? {} : { output }),
    ...(dead.length === 0 ? {} : { dead }),
    ...(own.vars === undefined ? {} : { vars: own.vars }),
    // What the cache had was not done here.
    ...(own.cached === undefined ? undoOf(turn, ending) : {}),
    ...(own.cached === undefined ? {} : { cached: own.cached }),
  });
  follow(turn, node, broken);
}

/** What would undo the node is resolved while everything that it reads is at hand. */
function undoOf(turn: Turn, { node, output }: Ending): { undo?: Held; undoError?: RunError } {
  const { compensate } = node.plan;
  if (compensate === undefined) return {};
  try {
    const scope = RunScope.ofNode(turn.state, node, turn.lookup, output).at(node, 'compensate');
    return { undo: hold(compensate.with.evaluate(scope, turn.state.plan.newBudget())) };
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
  { state }: Turn,
  node: NodeState,
  error: RunError,
  jitter: number,
  decideOn: typeof decideRetry = decideRetry,
): Retry | undefined {
  if (isStopped(state, node.scope) || state.totalRetries >= state.plan.maxTotalRetries) return undefined;
  const { newBudget } = state.plan;
  const past = { path: pathOf(node), retries: node.retries, lost: node.lost };
  const decision = decideOn(node.plan.retry, error, past, { jitter, newBudget });
  return decision.retry ? decision : undefined;
}

export function repeat(turn: Turn, node: NodeState, error: RunError, { rule, delayMs }: Retry): void {
  const counted = rule === impliedRule(error) ? {} : { rule };
  emit(turn, { type: 'node.retrying', node: pathOf(node), error, until: turn.now + delayMs, ...counted });
}

/** An attempt ended without anybody knowing whether it took effect. */
export function breakOff(turn: Turn, node: NodeState, error: RunError, jitter: number): void {
  const path = pathOf(node);
  const isOnce = node.phase.status === 'running' && node.phase.effect === 'once';
  if (isOnce) emit(turn, { type: 'node.unknown', node: path, error });
  else if (isStopped(turn.state, node.scope)) emit(turn, { type: 'node.cancelled', node: path, error });
  else failAttempt(turn, node, error, jitter, error.code === WORKER_LOST ? decideRepeat : decideRetry);
}

/** The node fails for good. */
export function failNode(turn: Turn, node: NodeState, cause: RunError): void {
  const path = pathOf(node);
  const error: RunError = { ...cause, node: cause.node ?? path };
  const { handling: own, taken, dead, broken } = decideFailure(turn, node, error);
  // What the failure node comes to changes nothing: the original error stands.
  const isLast = node.plan === turn.state.plan.failureNode;
  const handling = own ?? (isLast ? 'ignored' : unhandled(node));
  emit(turn, {
    type: 'node.failed',
    node: path,
    error,
    handling,
    ...(taken === undefined ? {} : { taken }),
    ...(dead === undefined ? {} : { dead }),
  });
  if (own !== undefined) follow(turn, node, broken);
  else if (handling !== 'fatal') skipReachable(turn, node);
  else if (node.scope.parent === null || mayHalt(turn, node)) stop(turn, 'failed', error);
  else stopScope(turn, node.scope, error);
}

/** A run that is ending anyway goes on to do so: in its failure node, `halt` ends no more than the body. */
function mayHalt({ state }: Turn, { plan }: NodeState): boolean {
  return plan.onError === 'halt' && state.ending === null;
}

/** In a body a policy ends the scope, and its composite node fails in turn; only `halt` ends the run from any depth. */
function unhandled(node: NodeState): FailureHandling {
  if (node.plan.onError === 'halt') return 'fatal';
  switch (node.scope.realm.onFailure) {
    case 'fail-fast':
      return 'fatal';
    case 'finish-running':
      return 'deferred';
    case 'ignore':
      return 'tolerated';
  }
}

/** After an unhandled failure, what has not begun and depends on it never will. */
function skipReachable(turn: Turn, failed: NodeState): void {
  const { nodes } = failed.scope;
  const stack = [failed];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const edge of node.plan.outgoing) {
      const target = nodes[edge.to.index] as NodeState;
      if (target.phase.status !== 'pending' && target.phase.status !== 'queued') continue;
      emitSkipped(turn, target, 'failure');
      stack.push(target);
    }
  }
}

/** The run will end like this; what runs is asked to stop first. A paused run stays paused, unless it is cancelled. */
export function stop(
  turn: Turn,
  status: FinalRunStatus,
  error: RunError | null,
  { output, compensate = true }: { readonly output?: Held; readonly compensate?: boolean } = {},
): void {
  const { state } = turn;
  const isPaused = state.pausedAt !== null;
  const isCancel = status === 'cancelled';
  if (state.ending !== null || (state.stopping !== null && !(isPaused && isCancel))) return;
  emit(turn, {
    type: 'run.stopping',
    status,
    error,
    ...(output === undefined ? {} : { output }),
    ...(compensate ? {} : { compensate }),
    ...(isPaused && !isCancel ? { paused: true } : {}),
  });
  const reason = error?.message ?? `the run is ${status}`;
  abortInside(turn, state.root, reason);
  if (!compensate) leaveInside(turn, state.root, reason);
}

/** Of a run that is ending: what is not undone yet stays as it is. How it ends has been said. */
export function leaveDone(turn: Turn, reason: string): void {
  const { stopping, root } = turn.state;
  if (!undoesMore(turn.state)) return;
  if (stopping !== null) {
    const { status, error } = stopping;
    emit(turn, { type: 'run.stopping', status, error, compensate: false });
    for (const node of turn.state.children) abort(turn, node, reason);
    return leaveInside(turn, root, reason);
  }
  if (turn.state.pausedAt !== null) emit(turn, { type: 'run.resumed' });
  leave(turn, root.undoing as ScopeState, reason);
}

/** The scope will fail like this; what runs in it is asked to stop first. */
function stopScope(turn: Turn, scope: ScopeState, error: RunError): void {
  if (isStopped(turn.state, scope)) return;
  emit(turn, { type: 'scope.stopping', scope: scope.path, error });
  abortInside(turn, scope, error.message);
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
      const source = node.scope.nodes[edge.from.index] as NodeState;
      if (!nodes.has(source)) sources.add(source);
    }
  }
  for (const source of sources) follow(turn, source, stillBroken(turn, source));
}

/** Looks at the targets of a node that has ended. */
export function follow(turn: Turn, node: NodeState, broken: readonly EdgeError[]): void {
  const { nodes } = node.scope;
  for (const { edge, error } of broken) {
    const target = nodes[edge.to.index] as NodeState;
    if (isUntouched(target)) failNode(turn, target, error);
  }
  for (const edge of node.plan.outgoing) turn.work.push(nodes[edge.to.index] as NodeState);
}

export function isUntouched(node: NodeState): boolean {
  return node.phase.status === 'pending' && node.place === 'none';
}

/** Adds what a node of a body emits to its loop. False when that failed, and the node with it. */
function addItems(turn: Turn, node: NodeState, emits: CompiledValue, output: Held): boolean {
  const loop = node.scope.parent;
  // To one that is done nothing can be added any more; one that was cut off goes on with them after a retry.
  if (loop?.body === undefined || loop.phase.status === 'completed') return true;
  let items: Json;
  try {
    const scope = RunScope.ofNode(turn.state, node, turn.lookup, heldValue(output, turn.lookup)).at(node, 'emit');
    items = emits.evaluate(scope, turn.state.plan.newBudget());
  } catch (error) {
    failNode(turn, node, expressionFailure(error, 'emit'));
    return false;
  }
  if (!Array.isArray(items)) failNode(turn, node, notAList(items, 'emit'));
  else if (loop.body.total + items.length > MAX_ROUNDS)
    failNode(turn, node, tooManyItems(loop.body.total + items.length));
  else {
    if (items.length > 0)
      emit(turn, { type: 'items.added', node: pathOf(loop), items: hold(items), count: items.length });
    return true;
  }
  return false;
}
