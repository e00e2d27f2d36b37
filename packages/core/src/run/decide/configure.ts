/** Numbers and durations that are expressions get their values when the node becomes ready. */
import { acceptedSetting } from '../../plan/settings.ts';
import { expressionFailure } from '../joins/edges.ts';
import { RunScope } from '../state/expression-scope.ts';
import { pathOf } from '../state/selectors.ts';
import type { NodeState } from '../state/state.ts';
import { failNode } from './advance.ts';
import { emit, type Turn } from './turn.ts';

/** Evaluates them, once; retries and recovery use what the journal has. False: that failed, and the node with it. */
export function configure(turn: Turn, node: NodeState): boolean {
  const { settings } = node.plan;
  if (settings === undefined || node.settings !== undefined) return true;
  const values: Record<string, number | string> = Object.create(null);
  for (const setting of settings) {
    try {
      const scope = new RunScope(turn.state, node.scope, turn.lookup);
      values[setting.key] = acceptedSetting(setting, setting.value.evaluate(scope, turn.budgets.next()));
    } catch (error) {
      failNode(turn, node, expressionFailure(error, setting.key));
      return false;
    }
  }
  emit(turn, { type: 'node.configured', node: pathOf(node), values: { ...values } });
  return true;
}
