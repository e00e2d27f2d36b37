/** Finds a failure node in a workflow that never fails. */
import type { GraphPlan } from '../plan/plan.ts';
import type { Verification } from './verification.ts';

export function checkFailureNode({ definition, graphs, problems }: Verification): void {
  const { failureNode, onFailure, timeout } = definition.config ?? {};
  const root = graphs.find(({ source }) => source.depth === 0 && source.outer === undefined)?.plan;
  if (failureNode === undefined || onFailure !== 'ignore' || timeout !== undefined || root === undefined) return;
  if ((root.output !== undefined && !root.output.constant) || canHalt(root)) return;
  problems.warning({
    code: 'NEVER_RUNS',
    message: `'${failureNode}' can never run: with onFailure: ignore the workflow does not fail`,
    hint: 'remove the failure node, or use another onFailure',
    path: ['config', 'failureNode'],
  });
}

/** Whether some node, at any depth, can fail the run regardless of the failure policy. */
function canHalt({ nodes }: GraphPlan): boolean {
  return nodes.some(({ onError, work }) => {
    if (onError === 'halt' || work.kind === 'terminate' || work.kind === 'dynamic') return true;
    if (work.kind === 'inline') return canHalt(work.workflow.root);
    return 'body' in work && canHalt(work.body);
  });
}
