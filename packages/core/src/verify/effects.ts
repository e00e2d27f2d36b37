/** Actions that are done once in a workflow that undoes things, and undoing that has nothing to undo. */
import type { Effect } from '../action.ts';
import type { GraphRecord } from '../plan/context.ts';
import type { NodePlan } from '../plan/plan.ts';
import { isFailureNode, nodePath, type Verification } from './verification.ts';
import type { Ways } from './ways.ts';

export function checkEffects(verification: Verification, waysOf: ReadonlyMap<GraphRecord, Ways>): void {
  const { graphs } = verification;
  const undoes = graphs.some(({ plan }) => plan.nodes.some(({ compensate }) => compensate !== undefined));
  if (!undoes) return;
  for (const record of graphs) {
    for (const node of record.plan.nodes) checkNode(verification, record, node, waysOf.get(record) as Ways);
  }
}

function checkNode(verification: Verification, record: GraphRecord, node: NodePlan, ways: Ways): void {
  const effect = effectOf(node);
  if (node.compensate !== undefined && effect === 'pure') {
    verification.problems.warning({
      code: 'NOTHING_TO_UNDO',
      message: `'${node.id}' is pure, so there is nothing to undo`,
      hint: "remove 'compensate', or say with 'effect' what the action really does",
      path: [...nodePath(record, node), 'compensate'],
      at: 'key',
    });
  }
  const { work } = node;
  if (effect !== 'once' || node.compensate !== undefined) return;
  if ((work.kind === 'action' || work.kind === 'dynamic') && work.action.verify !== undefined) return;
  if (isFailureNode(verification, record, node) || !canBeFollowed(verification, record, node, ways)) return;
  verification.problems.warning({
    code: 'NEVER_UNDONE',
    message: `'${node.id}' is done once, and stays done when what comes later fails and the rest is undone`,
    hint: "add 'compensate'; if a repeat does no harm, write effect: idempotent, or pure",
    path: nodePath(record, node),
    at: 'key',
  });
}

/** Where it is known without the input. */
function effectOf({ work }: NodePlan): Effect | undefined {
  if (work.kind !== 'action' && work.kind !== 'dynamic') return undefined;
  const effect = work.effect ?? work.action.effect ?? 'once';
  return typeof effect === 'string' ? effect : undefined;
}

/** Something may fail after the node has completed. */
function canBeFollowed(
  { definition }: Verification,
  { plan, scope, source }: GraphRecord,
  node: NodePlan,
  ways: Ways,
): boolean {
  if (source.outer !== undefined) return true;
  return plan.nodes.some((other) => {
    if (other === node || other.id === definition.config?.failureNode) return false;
    return scope.reach?.isUpstream(other.index, node.index) === false && !ways.needsFailure(other, node);
  });
}
