/** The end of a node, with what is in it. */
import { assert } from '../../error.ts';
import type { NodePlan } from '../../plan/plan.ts';
import { decideEdges } from '../joins/joins.ts';
import { end } from '../state/phases.ts';
import { dropScope } from '../state/scopes.ts';
import { isFinal } from '../state/selectors.ts';
import type { NodeState, Phase, RunState, ScopeState } from '../state/state.ts';
import { isAtWork } from '../undo/transactions.ts';
import { noteUndone } from '../undo/undo-list.ts';

/** The node is final: its outgoing edges are decided. */
export function close(state: RunState, node: NodeState, phase: Phase): void {
  assert(!isFinal(node.phase.status), `node '${node.plan.id}' of ${state.executionId} ends once`);
  if (node.body !== undefined) closeBody(state, node, phase);
  end(state, node, phase);
  if (node.decidedAs === undefined) decideEdges(node);
}

/** Of a body that went well only its result is left; of one that did not, what a retry begins with again. */
function closeBody(state: RunState, node: NodeState, phase: Phase): void {
  state.endChecks.delete(node);
  const at = 'at' in phase ? phase.at : 0;
  for (const scope of [...(node.body?.scopes.values() ?? [])]) {
    noteUndone(state, scope);
    if (!scope.isClosed) cancelOpen(state, scope, at);
    if (phase.status === 'completed') dropScope(state, scope);
  }
  if (phase.status === 'completed' && node.body?.scopes.size === 0) node.body = undefined;
}

/** What was under way, or waited, in a scope that has failed never ends. */
export function cancelOpen(state: RunState, scope: ScopeState, at: number, except?: NodePlan): void {
  for (const node of scope.nodes) {
    if (node.plan === except) continue;
    for (const inner of node.body?.scopes.values() ?? []) {
      // Earlier versions cut a transaction off in the middle of that, and began again with all of it.
      if (!isAtWork(inner)) noteUndone(state, inner);
      if (!inner.isClosed) cancelOpen(state, inner, at);
    }
    if (isFinal(node.phase.status) || node.phase.status === 'unknown') continue;
    end(state, node, { status: 'cancelled', at, error: undefined });
  }
  scope.isClosed = true;
  state.endChecks.delete(scope);
}
