/**
 * Transactions: inline workflows that undo their completed nodes before their composite node ends without success. A
 * scope around a transaction may be stopped meanwhile; it ends once the transactions inside have been undone.
 */

import { joinOf } from '../joins/joins.ts';
import { endingOf, failureNodeOf, isFinal, isInside, isPaused, isQuiet, isStopped } from '../state/selectors.ts';
import type { NodeState, RunState, ScopeState } from '../state/state.ts';
import { toUndo } from './undo.ts';

export function isTransaction({ plan: { work } }: NodeState): boolean {
  return work.kind === 'inline' && work.isolation === 'transactional';
}

/** The outermost open transactions inside a scope or node. Inner transactions are undone with the outer one. */
export function* transactionsIn(outer: ScopeState | NodeState): Generator<ScopeState> {
  for (const [node, scope] of bodiesIn(outer)) {
    if (isTransaction(node)) yield scope;
    else if (!scope.isClosed) yield* transactionsIn(scope);
  }
}

/** Scopes below that are being undone. */
export function* undoingIn(outer: ScopeState | NodeState): Generator<ScopeState> {
  for (const [, scope] of bodiesIn(outer)) {
    if (scope.undoing !== null) yield scope;
    else if (!scope.isClosed) yield* undoingIn(scope);
  }
}

function* bodiesIn(outer: ScopeState | NodeState): Generator<readonly [NodeState, ScopeState]> {
  const nodes = 'nodes' in outer ? outer.nodes : [outer];
  for (const node of nodes) {
    if (node.phase.status !== 'open') continue;
    for (const scope of node.phase.body.scopes.values()) yield [node, scope];
  }
}

/** Compensations of the scope are left to run, or still run if they were told to stop. */
export function isAtWork({ undoing }: ScopeState): boolean {
  if (undoing === null || undoing.isClosed) return false;
  return (undoing.stopping === null ? undoing.open : undoing.busy) > 0;
}

/** The scope is being undone, or an unknown outcome in it may add another compensation. */
export function isUndoing(state: RunState, scope: ScopeState): boolean {
  if (isAtWork(scope)) return true;
  return scope.undoing !== null && scope.undoing.stopping === null && isInDoubt(state, scope);
}

/** A node inside has a compensation and an unknown outcome, so it may have to be undone. */
export function isInDoubt(state: RunState, scope: ScopeState): boolean {
  for (const node of state.unknown) {
    if (node.plan.compensate !== undefined && node.scope.undoes === null && isInside(node.scope, scope)) return true;
  }
  return false;
}

/** Nothing of an ending run is left to do, so the next turn records its end. Earlier versions left runs like that. */
export function isReadyToEnd(state: RunState): boolean {
  const ending = endingOf(state);
  if (ending === null || isPaused(state) || isAtWork(state.root)) return false;
  const failureNode = ending.status === 'cancelled' ? undefined : failureNodeOf(state);
  if (failureNode !== undefined && !isFinal(failureNode.phase.status)) return false;
  // An unknown outcome has to be settled first: if the node took effect, it is undone.
  return !(ending.compensate && isUndoing(state, state.root));
}

/** Nodes of the scope have to be undone if the scope fails. */
export function hasDone(state: RunState, scope: ScopeState): boolean {
  return toUndo(state, scope).length > 0 || isInDoubt(state, scope);
}

/** A transaction inside has to be undone, or is being undone, before the scope or node can end. */
export function mustUndoInside(state: RunState, outer: ScopeState | NodeState): boolean {
  // Nearly always: 10,000 iterations that fail one after the other need not look into each other.
  if (state.undo.length === 0 && state.unknown.size === 0) return false;
  for (const scope of transactionsIn(outer)) {
    if (scope.undoing === null ? hasDone(state, scope) : isUndoing(state, scope)) return true;
  }
  return false;
}

/** The scope or node would end, but transactions inside are being undone. */
function waitsForUndo(state: RunState, outer: ScopeState | NodeState): boolean {
  for (const scope of undoingIn(outer)) if (isUndoing(state, scope)) return true;
  return false;
}

export function isUndoingInside(outer: ScopeState | NodeState): boolean {
  for (const scope of undoingIn(outer)) if (isAtWork(scope)) return true;
  return false;
}

/**
 * Returns whether stopping the node undoes it: yes, unless a cancel of the run or of a node around it has `compensate:
 * false`.
 */
export function isToBeUndone({ stopping }: RunState, node: NodeState): boolean {
  if (stopping?.compensate === false) return false;
  for (let at: NodeState | null = node; at !== null; at = at.scope.parent) {
    if ('stopping' in at.phase && at.phase.stopping?.compensate === false) return false;
  }
  return true;
}

/** The end of the scope or composite node is reached, or its finally may begin; the next turn decides what follows. */
export function needsEndCheck(state: RunState, ended: ScopeState | NodeState): boolean {
  if (!('nodes' in ended)) {
    const isEnding = 'stopping' in ended.phase && ended.phase.stopping != null;
    const isOver = ended.phase.status === 'open' && ended.endings === 0;
    return isOver && (isEnding || isStopped(state, ended)) && !waitsForUndo(state, ended);
  }
  const { parent, isClosed, open, stopping, busy, undoes } = ended;
  if (undoes !== null) {
    const isOver = open === 0 || (stopping !== null && busy === 0);
    return parent !== null && !isClosed && isOver && !isUndoing(state, undoes);
  }
  if (isClosed) return false;
  if (endsDeferred(state, ended)) return true;
  if (stopping !== null && !isQuiet(ended, state.plan.failureNode)) return isFinallyDue(state, ended);
  const isOver = parent !== null && (open === 0 || stopping !== null);
  if (!isOver || isStopped(state, parent)) return false;
  return parent.phase.status === 'open' && parent.phase.stopping === null;
}

/** Everything in the scope has ended, except for nodes that wait for the finally of a deferred failure. */
export function endsDeferred(state: RunState, { held, open, parent }: ScopeState): boolean {
  if (held === 0 || isPaused(state)) return false;
  const failureNode = parent === null ? failureNodeOf(state) : undefined;
  return open === held + (failureNode?.phase.status === 'pending' ? 1 : 0);
}

/** The last turn left a pending node for the next turn: one of the finally, or one whose join is decided. */
function isFinallyDue(state: RunState, { stopping, underWay, nodes }: ScopeState): boolean {
  if (stopping?.finally !== true || underWay > 0 || isPaused(state)) return false;
  return nodes.some((node) => {
    if (node.phase.status !== 'pending' || node.dispatchState !== 'none' || node.plan === state.plan.failureNode)
      return false;
    const join = joinOf(node);
    return join !== 'open' && (join !== 'satisfied' || node.inFinally || node.decided >= node.plan.sources);
  });
}
