/** Actions that are done once in a workflow that undoes things, and undoing that has nothing to undo. */
import type { Effect } from '../action.ts';
import type { GraphRecord } from '../plan/context.ts';
import type { NodePlan } from '../plan/plan.ts';
import { type Json, type JsonObject, memberOf } from '../value.ts';
import { definitionOf, isFailureNode, nodePath, type Verification } from './verification.ts';
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
  const effect = effectOf(record, node);
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

/** As far as it is known before anything runs. */
function effectOf(record: GraphRecord, node: NodePlan): Effect | undefined {
  const { work } = node;
  if (work.kind !== 'action' && work.kind !== 'dynamic') return undefined;
  const effect = work.effect ?? work.action.effect ?? 'once';
  if (typeof effect === 'string') return effect;
  const definition = definitionOf(record, node);
  return effectOfInput(effect, (work.kind === 'dynamic' ? definition.dynamic?.with : definition.with) ?? {});
}

/** Undefined when it depends on something that an expression gives. */
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
    // It expects parameters as they are once they are complete.
    return undefined;
  }
}

/** Something may fail after the node has completed. */
function canBeFollowed(
  { definition }: Verification,
  { plan, scope, source }: GraphRecord,
  node: NodePlan,
  ways: Ways,
): boolean {
  if (source.outer !== undefined || node.outgoing.some(({ to }) => !ways.needsFailure(to, node))) return true;
  return plan.nodes.some((other) => {
    if (other === node || other.id === definition.config?.failureNode) return false;
    return scope.reach?.isUpstream(other.index, node.index) === false && !ways.needsFailure(other, node);
  });
}
