/** Finds network calls without a time limit. */
import type { Action } from '../action.ts';
import type { ActionCall } from '../definition/model.ts';
import type { GraphRecord } from '../plan/context.ts';
import type { NodePlan, Timeouts } from '../plan/plan.ts';
import type { GraphScope } from '../plan/scope.ts';
import type { DocumentPath } from '../problem.ts';
import { isJsonObject } from '../value.ts';
import { definitionOf, nodePath, type Verification } from './verification.ts';

export function checkTimeLimits(verification: Verification, record: GraphRecord): void {
  for (const node of record.plan.nodes) {
    const { work, compensate } = node;
    const { compensate: undo, dynamic, ...definition } = definitionOf(record, node);
    const call = work.kind === 'dynamic' ? dynamic : definition;
    const isCall = work.kind === 'action' || work.kind === 'dynamic';
    if (isCall && isOpenEnded(work.action, call) && !isLimited(verification, record, node)) {
      report(verification, node, work.action, [
        ...nodePath(record, node),
        ...(dynamic ? ['dynamic', 'action'] : ['action']),
      ]);
    }
    // The time limit of the run does not apply to its compensation.
    if (compensate !== undefined && isOpenEnded(compensate.action, undo) && !hasLimit(compensate.timeouts)) {
      report(verification, node, compensate.action, [...nodePath(record, node), 'compensate', 'action']);
    }
  }
}

function report({ problems }: Verification, { id }: NodePlan, action: Action, path: DocumentPath): void {
  problems.warning({
    code: 'NO_TIMEOUT',
    message: `'${id}' calls ${action.id} over the network without a time limit`,
    hint: 'add e.g. timeout: 30s',
    path,
  });
}

/** Whether the action uses the network and has no time limit itself. */
function isOpenEnded(action: Action, call: Partial<ActionCall> | undefined): boolean {
  if (action.capabilities?.includes('network') !== true) return false;
  if (call?.with !== undefined && Object.hasOwn(call.with, 'timeout')) return false;
  const properties = isJsonObject(action.input) ? action.input.properties : undefined;
  const own = isJsonObject(properties) ? properties.timeout : undefined;
  return !(isJsonObject(own) && own.default !== undefined);
}

/** Whether the node, an enclosing composite node or the workflow has a time limit. */
function isLimited({ definition, graphOf }: Verification, record: GraphRecord, node: NodePlan): boolean {
  if (definition.config?.timeout !== undefined || hasLimit(node.timeouts)) return true;
  for (let at: GraphScope['outer'] = record.scope.outer; at !== undefined; at = at.scope.outer) {
    const around = graphOf.get(at.scope)?.plan.nodes[at.node];
    if (around !== undefined && hasLimit(around.timeouts)) return true;
  }
  return false;
}

function hasLimit({ attemptMs, totalMs }: Timeouts): boolean {
  return attemptMs !== null || totalMs !== null;
}
