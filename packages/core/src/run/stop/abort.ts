/** Asks running attempts and children to stop. Compensations are spared, unless the undo itself is to stop. */
import type { RunError } from '../../error.ts';
import { emit, type Turn } from '../decide/turn.ts';
import { isInside, isStopped, pathOf } from '../state/selectors.ts';
import type { NodeState, ScopeState } from '../state/state.ts';
import { isToBeUndone, undoingIn } from '../undo/transactions.ts';

export function abortInside(turn: Turn, outer: ScopeState | NodeState, reason: string): void {
  // This is the common case: 10,000 iterations that fail one after the other need not search each other.
  if (outer.busy === 0) return;
  const { running, children } = turn.state;
  for (const node of [...running, ...children]) {
    const isUndo = node.scope.undoes !== null && node.scope !== outer;
    if (!isUndo && isInside(node.scope, outer) && isStopped(turn.state, node)) abort(turn, node, reason);
  }
}

export function abort(turn: Turn, node: NodeState, reason: string, isOver = false): void {
  if (node.phase.status === 'child') {
    const { executionId, attempt } = node.phase;
    turn.cancels.push({ executionId, attempt, compensate: isToBeUndone(turn.state, node) });
  }
  if (node.phase.status !== 'running') return;
  turn.aborts.push({ node: pathOf(node), attempt: node.phase.attempt, reason, isOver });
}

/** Stops the undo inside: nodes that are not undone yet keep their effects. */
export function leaveInside(turn: Turn, outer: ScopeState | NodeState, reason: string): void {
  for (const { undoing } of [...undoingIn(outer)]) if (undoing !== null) leave(turn, undoing, reason);
}

/** Asks the running compensation to stop, and begins no further one. */
export function leave(turn: Turn, undoing: ScopeState, reason: string): void {
  if (undoing.stopping !== null || undoing.isClosed) return;
  const error: RunError = { code: 'CANCELLED', kind: 'USER', message: reason };
  emit(turn, { type: 'scope.stopping', scope: undoing.path, error });
  abortInside(turn, undoing, reason);
}
