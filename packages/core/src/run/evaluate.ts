import { failNode } from './advance.ts';
import { expressionFailure } from './edges.ts';
import type { NodeState } from './state.ts';
import type { Turn } from './turn.ts';
import { RunScope } from './view.ts';

/** Evaluates something of the node; where that fails, the node does. */
export function evaluated<T>(turn: Turn, node: NodeState, where: string, work: (scope: RunScope) => T): T | undefined {
  try {
    return work(new RunScope(turn.state, node.scope, turn.lookup));
  } catch (error) {
    failNode(turn, node, expressionFailure(error, where));
    return undefined;
  }
}
