/**
 * Moves a run on after something happened to one of its nodes: decides its edges, then, by a worklist,
 * every node that these edges make ready, skip or fail. Nothing here looks at the rest of the graph.
 */
import type { RunError } from '../error.ts';
import { isTrue } from '../expression/index.ts';
import type { EdgeError } from '../plan/plan.ts';
import { decideRetry } from '../retry/retry.ts';
import { decideFailure, decideOnward, expressionFailure, stillBroken } from './edges.ts';
import type { FailureHandling } from './entry.ts';
import { placeReady } from './evolve.ts';
import { type Held, heldValue } from './held.ts';
import { type NodeState, pathOf, type RunState } from './state.ts';
import type { FinalRunStatus } from './status.ts';
import { emit, emitSkipped, type Turn } from './turn.ts';
import { RunScope } from './view.ts';

export function completeNode(turn: Turn, node: NodeState, output: Held): void {
  const { dead, broken } = decideOnward(turn, {
    node,
    status: 'completed',
    output: heldValue(output, turn.lookup),
    error: null,
  });
  emit(turn, {
    type: 'node.completed',
    node: pathOf(node),
    ...(output.value === null ? {} : { output }),
    ...(dead === undefined ? {} : { dead }),
  });
  follow(turn, node, broken);
}

/** An attempt failed: another one follows, or the node fails. */
export function failAttempt(turn: Turn, node: NodeState, error: RunError, jitter: number): void {
  const { state } = turn;
  const failures = 1 + (error.kind === 'USER' ? node.userFailures : node.systemFailures);
  const decision = decideRetry(node.plan.retry, error, { failures, jitter });
  if (!decision.retry || state.stopping !== null || state.totalRetries >= state.plan.maxTotalRetries) {
    failNode(turn, node, error);
    return;
  }
  const until = turn.now + decision.delayMs;
  emit(turn, { type: 'node.retrying', node: pathOf(node), error, until });
}

/** An attempt ended without anybody knowing whether it took effect. */
export function breakOff(turn: Turn, node: NodeState, error: RunError, jitter: number): void {
  const path = pathOf(node);
  const isOnce = node.phase.status === 'running' && node.phase.effect === 'once';
  if (isOnce) emit(turn, { type: 'node.unknown', node: path, error });
  else if (turn.state.stopping !== null) emit(turn, { type: 'node.cancelled', node: path, error });
  else failAttempt(turn, node, error, jitter);
}

/** The node fails for good. */
export function failNode(turn: Turn, node: NodeState, cause: RunError): void {
  const path = pathOf(node);
  const error: RunError = { ...cause, node: cause.node ?? path };
  const { handling: own, taken, dead, broken } = decideFailure(turn, node, error);
  const handling = own ?? unhandled(turn.state, node);
  emit(turn, {
    type: 'node.failed',
    node: path,
    error,
    handling,
    ...(taken === undefined ? {} : { taken }),
    ...(dead === undefined ? {} : { dead }),
  });
  if (own !== undefined) follow(turn, node, broken);
  else if (handling === 'fatal') stop(turn, 'failed', error);
  else skipReachable(turn, node);
}

function unhandled(state: RunState, node: NodeState): FailureHandling {
  if (node.plan.onError === 'halt') return 'fatal';
  switch (state.plan.onFailure) {
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

/** The run will end like this; what runs is asked to stop first. */
export function stop(turn: Turn, status: FinalRunStatus, error: RunError | null): void {
  const { state } = turn;
  if (state.stopping !== null) return;
  emit(turn, { type: 'run.stopping', status, error });
  for (const node of state.running) abort(turn, node, error?.message ?? `the run is ${status}`);
}

export function abort(turn: Turn, node: NodeState, reason: string, isOver = false): void {
  if (node.phase.status !== 'running') return;
  turn.aborts.push({ node: pathOf(node), attempt: node.phase.attempt, reason, isOver });
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
function follow(turn: Turn, node: NodeState, broken: readonly EdgeError[]): void {
  const { nodes } = node.scope;
  for (const { edge, error } of broken) {
    const target = nodes[edge.to.index] as NodeState;
    if (isUntouched(target)) failNode(turn, target, error);
  }
  for (const edge of node.plan.outgoing) turn.work.push(nodes[edge.to.index] as NodeState);
}

function isUntouched(node: NodeState): boolean {
  return node.phase.status === 'pending' && node.place === 'none';
}

/** Works until nothing more follows. While a run is being stopped nothing does. */
export function drain(turn: Turn): void {
  for (let node = turn.work.pop(); node !== undefined; node = turn.work.pop()) {
    if (turn.state.stopping === null && isUntouched(node)) consider(turn, node);
  }
}

function consider(turn: Turn, node: NodeState): void {
  switch (joinOf(node)) {
    case 'open':
      return;
    case 'dead':
      emitSkipped(turn, node, 'dead');
      follow(turn, node, []);
      return;
    case 'satisfied':
      return admit(turn, node);
  }
}

function joinOf(node: NodeState): 'open' | 'satisfied' | 'dead' {
  const { join, incoming } = node.plan;
  const allDecided = node.decided >= incoming.length;
  if (join === 'all') {
    if (!allDecided) return 'open';
    return node.taken > 0 || incoming.length === 0 ? 'satisfied' : 'dead';
  }
  if (node.taken >= join) return 'satisfied';
  return allDecided && incoming.length > 0 ? 'dead' : incoming.length === 0 ? 'satisfied' : 'open';
}

/** Its join is satisfied: it is passed over, skipped by its condition, or ready. */
function admit(turn: Turn, node: NodeState): void {
  if (!node.plan.enabled) {
    const { dead, broken } = decideOnward(turn, { node, status: 'skipped', output: null, error: null });
    emitSkipped(turn, node, 'disabled', dead);
    follow(turn, node, broken);
    return;
  }
  const { when } = node.plan;
  if (when === undefined) {
    makeReady(turn, node);
    return;
  }
  let holds: boolean;
  try {
    holds = isTrue(when.evaluate(new RunScope(turn.state, node.scope, turn.lookup), turn.state.plan.newBudget()));
  } catch (error) {
    failNode(turn, node, expressionFailure(error, 'when'));
    return;
  }
  if (holds) {
    makeReady(turn, node);
    return;
  }
  emitSkipped(turn, node, 'when');
  follow(turn, node, []);
}

export function makeReady(turn: Turn, node: NodeState): void {
  placeReady(turn.state, node);
  turn.readied.push(node);
}
