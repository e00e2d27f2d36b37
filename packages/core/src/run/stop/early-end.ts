/**
 * A scope that ends early, as the fold keeps it: because of a failure, a cancel, a time limit, `terminate` or `break`.
 *
 *   entry ─▶ nodes that have not begun are cancelled ─▶ running nodes end ─▶ finally ─▶ quiet: the scope is over
 *
 *  E1 Every open scope below a scope that ends early ends early too, except in nodes of its finally.
 *  E2 A node stays pending only if the finally may reach it: an always edge out of a node under way leads to it, or an
 *     edge out of such a node or of a node of the finally.
 *  E3 `underWay` counts the nodes that must end before the finally begins: attempts, children, waits, composite nodes.
 *     Therefore the innermost finally runs first.
 *  E4 A node of unknown outcome counts as cancelled for its edges, and blocks nothing.
 */
import { endNode } from '../evolve/evolve-node.ts';
import type { Fold } from '../evolve/fold.ts';
import { releaseHeld } from '../joins/joins.ts';
import { mustEnd, releaseBlocked, returnToPending } from '../state/phases.ts';
import { bodyOf, isFinal, isQuiet, stateIn } from '../state/selectors.ts';
import type { NodeState, RunState, ScopeState } from '../state/state.ts';

type EarlyEnd = NonNullable<ScopeState['stopping']>;

/** A node of a finally is left to run, or runs: a second cancel skips it. */
export function hasFinally({ scopes, plan }: RunState): boolean {
  for (const { stopping, isClosed, nodes } of scopes.values()) {
    if (isClosed || stopping?.finally !== true) continue;
    for (const node of nodes) {
      const isLeft = node.inFinally ? !isFinal(node.phase.status) : node.phase.status === 'pending';
      if (isLeft && node.plan !== plan.failureNode && node.phase.status !== 'unknown') return true;
    }
  }
  return false;
}

/** Ends a scope early. A second call with `finally: false` skips the finally. */
export function endEarly(fold: Fold, scope: ScopeState, how: EarlyEnd): void {
  const { state } = fold;
  // A decision renews all early ends of the old form before it makes any other one.
  state.hasOldStops = false;
  if (scope.isClosed || !isNews(scope, how)) return;
  const spared = how.finally === true ? finallyOf(scope) : NOBODY;
  // The grace time of attempts cut off by a second cancel begins with that cancel.
  scope.stopping = how.finally === false ? how : { ...how, since: scope.stopping?.since ?? how.since };
  releaseHeld(scope);
  scope.underWay = scope.nodes.filter(mustEnd).length;
  for (const node of scope.nodes) {
    if (node.plan !== state.plan.failureNode || scope.parent !== null) endNodeEarly(fold, node, spared);
  }
  // A node of the finally that is tried again waits for no level any more.
  releaseBlocked(state, scope);
  if (scope.underWay === 0) state.endChecks.add(scope);
}

/** Ends all iterations of a composite node that is stopped, or whose scope ends early. */
export function endIterationsEarly(fold: Fold, node: NodeState, how: EarlyEnd): void {
  node.endings = 0;
  const iterations = [...(bodyOf(node)?.scopes.values() ?? [])];
  for (const scope of iterations) endEarly(fold, scope, how);
  // Counted after all of them were told to end: an iteration that is quiet at once is not waited for.
  node.endings = iterations.filter((scope) => !scope.isClosed && !isQuiet(scope)).length;
  if (node.endings === 0) fold.state.endChecks.add(node);
}

/** Folds an entry from before finallys: nothing begins any more, and the next turn journals the rest. */
export function markStopped(state: RunState, scope: ScopeState, how: EarlyEnd): void {
  if (scope.isClosed || scope.stopping !== null) return;
  state.hasOldStops = true;
  scope.stopping = how;
  releaseHeld(scope);
  for (const node of scope.nodes) {
    for (const inner of bodyOf(node)?.scopes.values() ?? []) markStopped(state, inner, how);
  }
}

const NOBODY: ReadonlySet<NodeState> = new Set();

function isNews({ stopping }: ScopeState, how: EarlyEnd): boolean {
  if (stopping?.finally === undefined) return true;
  return stopping.finally && how.finally === false;
}

function endNodeEarly(fold: Fold, node: NodeState, spared: ReadonlySet<NodeState>): void {
  const { phase, scope, startedAt } = node;
  const how = scope.stopping;
  if (how === null || isFinal(phase.status) || phase.status === 'unknown') return;
  const isSpared = node.inFinally && how.finally === true;
  // Nodes that have begun are decided when they end: the conditions of their edges are evaluated then.
  if (startedAt !== null) {
    if (phase.status === 'open' && !isSpared) endIterationsEarly(fold, node, how);
  } else if (isSpared || spared.has(node)) returnToPending(fold, node);
  else endNode(fold, node, { status: 'cancelled', at: fold.at, error: undefined });
}

/** Nodes that have not begun and that the finally may reach. */
function finallyOf(scope: ScopeState): ReadonlySet<NodeState> {
  const found = new Set<NodeState>();
  const stack: NodeState[] = [];
  const follow = (from: NodeState, isAll: boolean): void => {
    for (const edge of from.plan.outgoing) {
      const target = stateIn(scope, edge.to);
      if ((!isAll && edge.on !== 'always') || target.startedAt !== null || isFinal(target.phase.status)) continue;
      if (found.has(target)) continue;
      found.add(target);
      stack.push(target);
    }
  };
  for (const node of scope.nodes) {
    // This includes ended nodes: skips that follow from them may still be pending.
    if (node.inFinally) follow(node, true);
    else if (node.startedAt !== null && !isFinal(node.phase.status)) follow(node, false);
  }
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) follow(node, true);
  return found;
}
