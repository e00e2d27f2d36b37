/** Cancels one node and its body; the run continues without it. */
import type { RunError } from '../../error.ts';
import { stopNode } from '../composite/composite.ts';
import { cutOffInside, endCancelled, failNode, leaveUnknown } from '../decide/advance.ts';
import { emit, type Turn } from '../decide/turn.ts';
import { isFinal, isInside, isStopped, pathOf } from '../state/selectors.ts';
import type { NodeState } from '../state/state.ts';
import { isUndoingInside, mustUndoInside } from '../undo/transactions.ts';
import { abort, leaveInside } from './abort.ts';

export function cancelNode(turn: Turn, node: NodeState, reason: string, compensate: boolean): void {
  const { state } = turn;
  if (isFinal(node.phase.status) || node.phase.status === 'unknown' || isStopped(state, node)) return;
  const error: RunError = { code: 'CANCELLED', kind: 'USER', message: reason, node: pathOf(node) };
  const isOpen = node.phase.status === 'open';
  if (node.phase.status === 'open' && node.phase.stopping !== null && compensate)
    return cancelFinally(turn, node, reason);
  const isLater = endsLater(turn, node);
  if (isOpen || isLater) stopNode(turn, node, error, { cancelled: true, compensate, isAbrupt: !isLater });
  if (isLater && !compensate) leaveInside(turn, node, reason);
  if (isLater) return;
  for (const busy of [...state.running]) {
    const isIn = isOpen ? isInside(busy.scope, node) && isStopped(state, busy) : busy === node;
    if (isIn) cutOff(turn, busy, error);
  }
  if (isOpen || isFinal(node.phase.status) || state.unknown.has(node)) return;
  if (node.scope.undoes !== null) failNode(turn, node, error);
  else endCancelled(turn, node, error);
}

/** A cancel of a node that is ending: the first one is recorded, the second one skips the rest of its finallys. */
function cancelFinally(turn: Turn, node: NodeState, reason: string): void {
  if (node.phase.status !== 'open' || node.phase.stopping === null || node.endings === 0) return;
  const { since: _, ...how } = node.phase.stopping;
  if (how.finally === false) return;
  const isSecond = how.cancelled === true || how.cancelRequested === true;
  const news = isSecond ? { finally: false } : { finally: true, cancelRequested: true };
  emit(turn, { type: 'node.stopping', node: pathOf(node), ...how, ...news });
  if (isSecond) cutOffInside(turn, node, reason);
}

/** The node ends later if children inside have to end, or an undo inside has to complete. */
function endsLater({ state }: Turn, node: NodeState): boolean {
  if (node.phase.status === 'child' || mustUndoInside(state, node) || isUndoingInside(node)) return true;
  for (const { scope } of state.children) if (isInside(scope, node)) return true;
  return false;
}

/** Cuts off an attempt without waiting for its end. */
function cutOff(turn: Turn, node: NodeState, error: RunError): void {
  abort(turn, node, error.message, true);
  const isOnce = node.phase.status === 'running' && node.phase.effect === 'once';
  if (isOnce) leaveUnknown(turn, node, error);
  // A compensation that is cut off has failed; the other compensations still run.
  else if (node.scope.undoes !== null) failNode(turn, node, error);
  else endCancelled(turn, node, error);
}
