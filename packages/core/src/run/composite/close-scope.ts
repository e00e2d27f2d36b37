/** The end of a node, with what is in it. */
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

/** The node is final: its outgoing edges are decided. */
export function close(fold: Fold, node: NodeState, phase: FinalPhase): void {
  assert(!isFinal(node.phase.status), `node '${node.plan.id}' of ${fold.state.executionId} ends once`);
  const body = bodyOf(node);
  if (body !== undefined) closeBody(fold, node, body, phase);
  end(fold, node, phase);
  if (node.decidedAs === undefined) decideEdges(node);
}

/** Of a body that went well only its result is left; of one that did not, what a retry begins with again. */
function closeBody(fold: Fold, node: NodeState, body: BodyState, phase: FinalPhase): void {
  const { state } = fold;
  state.endChecks.delete(node);
  for (const scope of [...body.scopes.values()]) {
    noteUndone(state, scope);
    if (!scope.isClosed) cancelOpen(fold, scope);
    if (phase.status === 'completed') dropScope(state, scope);
  }
}

/** What was under way, or waited, in a scope that has failed never ends. */
export function cancelOpen(fold: Fold, scope: ScopeState, except?: NodePlan): void {
  const { state, at } = fold;
  for (const node of scope.nodes) {
    if (node.plan === except) continue;
    for (const inner of bodyOf(node)?.scopes.values() ?? []) {
      // Earlier versions cut a transaction off in the middle of that, and began again with all of it.
      if (!isAtWork(inner)) noteUndone(state, inner);
      if (!inner.isClosed) cancelOpen(fold, inner);
    }
    if (isFinal(node.phase.status) || node.phase.status === 'unknown') continue;
    end(fold, node, { status: 'cancelled', at, error: undefined });
  }
  scope.isClosed = true;
  state.endChecks.delete(scope);
}
