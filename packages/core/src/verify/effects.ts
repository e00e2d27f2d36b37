/**
 * Finds actions with effect once that are never compensated in a workflow that compensates others, and compensations of
 * pure actions.
 */
import type { Effect } from '../action.ts';
import type { GraphRecord } from '../plan/context.ts';
import type { NodePlan } from '../plan/plan.ts';
import { type Json, type JsonObject, memberOf } from '../value.ts';
import type { Reachability } from './reachability.ts';
import { definitionOf, isFailureNode, nodePath, type Verification } from './verification.ts';

export function checkEffects(verification: Verification, reachabilityOf: ReadonlyMap<GraphRecord, Reachability>): void {
  const { graphs } = verification;
  const undoes = graphs.some(({ plan }) => plan.nodes.some(({ compensate }) => compensate !== undefined));
  if (!undoes) return;
  for (const record of graphs) {
    for (const node of record.plan.nodes)
      checkNode(verification, record, node, reachabilityOf.get(record) as Reachability);
  }
}

function checkNode(verification: Verification, record: GraphRecord, node: NodePlan, reachability: Reachability): void {
  const effect = effectOf(record, node);
  if (node.compensate !== undefined && effect === 'pure') {
    verification.problems.warning({
      code: 'NOTHING_TO_UNDO',
      message: `'${node.id}' is pure, so there is nothing to undo`,
      hint: "remove 'compensate', or set 'effect' to the real effect of the action",
      path: [...nodePath(record, node), 'compensate'],
      at: 'key',
    });
  }
  const { work } = node;
  if (effect !== 'once' || node.compensate !== undefined) return;
  if ((work.kind === 'action' || work.kind === 'dynamic') && work.action.verify !== undefined) return;
  if (isFailureNode(verification, record, node) || !canBeFollowed(verification, record, node, reachability)) return;
  verification.problems.warning({
    code: 'NEVER_UNDONE',
    message: `'${node.id}' has the effect once and no 'compensate': it is not undone when the run fails later and other nodes are`,
    hint: "add 'compensate'; if the action can be repeated safely, set effect: idempotent or pure",
    path: nodePath(record, node),
    at: 'key',
  });
}

/** The effect, as far as it is known before the run. */
function effectOf(record: GraphRecord, node: NodePlan): Effect | undefined {
  const { work } = node;
  if (work.kind !== 'action' && work.kind !== 'dynamic') return undefined;
  const effect = work.effect ?? work.action.effect ?? 'once';
  if (typeof effect === 'string') return effect;
  const definition = definitionOf(record, node);
  return effectOfInput(effect, (work.kind === 'dynamic' ? definition.dynamic?.with : definition.with) ?? {});
}

/** Returns undefined when the effect depends on an expression. */
function effectOfInput(effect: (input: Json) => Effect, parameters: JsonObject): Effect | undefined {
  let isOpen = false;
  const watched = new Proxy(parameters, {
    get(target, name) {
      const value = typeof name === 'string' ? memberOf(target, name) : undefined;
      if (value !== undefined && JSON.stringify(value).includes('{{')) isOpen = true;
      return value;
    },
    ownKeys(target) {
      isOpen = true;
      return Reflect.ownKeys(target);
    },
  });
  try {
    const found = effect(watched);
    return isOpen ? undefined : found;
  } catch {
    // The function expects complete parameters.
    return undefined;
  }
}

/** Whether something may fail after the node has completed. */
function canBeFollowed(
  { definition }: Verification,
  { plan, scope, source }: GraphRecord,
  node: NodePlan,
  reachability: Reachability,
): boolean {
  if (source.outer !== undefined || node.outgoing.some(({ to }) => !reachability.needsFailure(to, node))) return true;
  return plan.nodes.some((other) => {
    if (other === node || other.id === definition.config?.failureNode) return false;
    return scope.reach?.isUpstream(other.index, node.index) === false && !reachability.needsFailure(other, node);
  });
}
