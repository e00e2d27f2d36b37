/** Cancelling one node, and what is in it; the run goes on without it. */
import type { RunError } from '../error.ts';
import { abort, leaveInside } from './aborting.ts';
import { failNode, follow } from './advance.ts';
import { stopNode } from './composite.ts';
import { isFinal, isInside, isStopped, pathOf } from './standing.ts';
import type { NodeState } from './state.ts';
import { isUndoingInside, mustUndoInside } from './transactions.ts';
import { emit, type Turn } from './turn.ts';

export function cancelNode(turn: Turn, node: NodeState, reason: string, compensate: boolean): void {
  if (isFinal(node.phase.status) || node.phase.status === 'unknown' || isStopped(turn.state, node.scope)) return;
  const error: RunError = { code: 'CANCELLED', kind: 'USER', message: reason, node: pathOf(node) };
  if (endsLater(turn, node)) {
    stopNode(turn, node, error, { cancelled: true, compensate });
    if (!compensate) leaveInside(turn, node, reason);
    return;
  }
  for (const busy of [...turn.state.running]) {
    if (busy === node || isInside(busy.scope, node)) cutOff(turn, busy, error);
  }
  if (!isFinal(node.phase.status) && node.phase.status !== ('unknown' as string)) {
    if (node.scope.undoes !== null) failNode(turn, node, error);
    else emit(turn, { type: 'node.cancelled', node: pathOf(node), error });
  }
  follow(turn, node, []);
}

/** Children come to their own end, and what is being undone is undone. */
function endsLater({ state }: Turn, node: NodeState): boolean {
  if (node.phase.status === 'child' || mustUndoInside(state, node) || isUndoingInside(node)) return true;
  for (const { scope } of state.children) if (isInside(scope, node)) return true;
  return false;
}

/** Nobody waits for its end. */
function cutOff(turn: Turn, node: NodeState, error: RunError): void {
  abort(turn, node, error.message, true);
  const isOnce = node.phase.status === 'running' && node.phase.effect === 'once';
  if (isOnce) emit(turn, { type: 'node.unknown', node: pathOf(node), error });
  // A compensation that is given up has failed: the others get their turn.
  else if (node.scope.undoes !== null) failNode(turn, node, error);
  else emit(turn, { type: 'node.cancelled', node: pathOf(node), error });
}
