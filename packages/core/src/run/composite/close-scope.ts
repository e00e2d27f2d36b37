/** The end of a node, together with its body. */
import { assert } from '../../error.ts';
import type { NodePlan } from '../../plan/plan.ts';
import type { Fold } from '../evolve/fold.ts';
import { decideEdges } from '../joins/joins.ts';
import { end } from '../state/phases.ts';
import { dropScope } from '../state/scopes.ts';
import { bodyOf, isFinal } from '../state/selectors.ts';
import type { BodyState, FinalPhase, NodeState, ScopeState } from '../state/state.ts';
import { isAtWork } from '../undo/transactions.ts';
import { noteUndone } from '../undo/undo-list.ts';

/** Ends the node and decides its outgoing edges. */
export function close(fold: Fold, node: NodeState, phase: FinalPhase): void {
  assert(!isFinal(node.phase.status), `node '${node.plan.id}' of ${fold.state.executionId} ends once`);
  const body = bodyOf(node);
  if (body !== undefined) closeBody(fold, node, body, phase);
  end(fold, node, phase);
  if (node.decidedAs === undefined) decideEdges(node);
}

/** Closes the body. A body that succeeded leaves only its result; otherwise its scopes are kept for a retry. */
function closeBody(fold: Fold, node: NodeState, body: BodyState, phase: FinalPhase): void {
  const { state } = fold;
  state.endChecks.delete(node);
  for (const scope of [...body.scopes.values()]) {
    noteUndone(state, scope);
    if (!scope.isClosed) cancelOpen(fold, scope);
    if (phase.status === 'completed') dropScope(state, scope);
  }
}

/** Cancels the nodes of a failed scope that have not ended. */
export function cancelOpen(fold: Fold, scope: ScopeState, except?: NodePlan): void {
  const { state, at } = fold;
  for (const node of scope.nodes) {
    if (node.plan === except) continue;
    for (const inner of bodyOf(node)?.scopes.values() ?? []) {
      // Earlier versions cut off a transaction while it was being undone, and started the undo over on a retry.
      if (!isAtWork(inner)) noteUndone(state, inner);
      if (!inner.isClosed) cancelOpen(fold, inner);
    }
    if (isFinal(node.phase.status) || node.phase.status === 'unknown') continue;
    end(fold, node, { status: 'cancelled', at, error: undefined });
  }
  scope.isClosed = true;
  state.endChecks.delete(scope);
}
