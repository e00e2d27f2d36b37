/** Asking what runs to stop. What undoes something is not asked to, unless somebody says that it is to stay. */
import type { RunError } from '../../error.ts';
import { emit, type Turn } from '../decide/turn.ts';
import { isInside, isStopped, pathOf } from '../state/selectors.ts';
import type { NodeState, ScopeState } from '../state/state.ts';
import { isToBeUndone, undoingIn } from '../undo/transactions.ts';

export function abortInside(turn: Turn, outer: ScopeState | NodeState, reason: string): void {
  // Nearly always: 10,000 iterations that fail one after the other need not look at each other.
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

/** What is not undone yet in there stays as it is. */
export function leaveInside(turn: Turn, outer: ScopeState | NodeState, reason: string): void {
  for (const { undoing } of [...undoingIn(outer)]) if (undoing !== null) leave(turn, undoing, reason);
}

/** The compensation under way is asked to stop, and no other one begins. */
export function leave(turn: Turn, undoing: ScopeState, reason: string): void {
  if (undoing.stopping !== null || undoing.isClosed) return;
  const error: RunError = { code: 'CANCELLED', kind: 'USER', message: reason };
  emit(turn, { type: 'scope.stopping', scope: undoing.path, error });
  abortInside(turn, undoing, reason);
}
