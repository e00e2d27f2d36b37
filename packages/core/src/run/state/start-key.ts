/** Which starts of a workflow are one and the same. */
import type { Plan } from '../../plan/plan.ts';
import { canonicalJson, type Json } from '../../value.ts';

/** The value of `config.start.key` for an input; throws what the expression throws. */
export function startKey(plan: Plan, input: Json): string {
  const { start, workflowId, version, variables } = plan;
  const scope = {
    input,
    trigger: null,
    vars: variables,
    execution: {},
    workflow: { id: workflowId, version },
    node: () => undefined,
  };
  const value = start?.key?.evaluate(scope, plan.newBudget()) ?? '';
  return typeof value === 'string' ? value : canonicalJson(value);
}
