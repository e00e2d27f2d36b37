import type { CompiledValue } from '../../expression/index.ts';
import type { Json } from '../../value.ts';
import { expressionFailure } from '../joins/edges.ts';
import { resolveValue } from '../journal/stored-value.ts';
import { RunScope } from '../state/expression-scope.ts';
import type { NodeState } from '../state/state.ts';
import { failNode } from './advance.ts';
import type { Turn } from './turn.ts';

/** Evaluates an expression of the node; the node fails if the expression does. */
export function evaluated<T>(turn: Turn, node: NodeState, where: string, work: (scope: RunScope) => T): T | undefined {
  try {
    return work(new RunScope(turn.state, node.scope, turn.lookup).at(node, where));
  } catch (error) {
    failNode(turn, node, expressionFailure(error, where));
    return undefined;
  }
}

/** The input of the node: its own, or the edited input of a replay. */
export function inputOf(turn: Turn, node: NodeState, where: string, own: CompiledValue | undefined): Json | undefined {
  if (node.input !== undefined) return resolveValue(node.input, turn.lookup);
  if (own === undefined) return {};
  return evaluated(turn, node, where, (scope) => own.evaluate(scope, turn.budgets.next()));
}
