/** Finds endless loops, and loops whose body never runs. */

import type { CompiledValue, ValueReference } from '../expression/index.ts';
import type { GraphRecord } from '../plan/context.ts';
import { type GraphPlan, innerGraph, type NodePlan } from '../plan/plan.ts';
import { conditionSyntax } from '../plan/value-schema.ts';
import { sharedBy } from '../plan/variables.ts';
import { isJsonList, type Json } from '../value.ts';
import { constantOf, constantTruth } from './constant.ts';
import { definitionOf, nodePath, type Verification } from './verification.ts';

export function checkLoops(verification: Verification, record: GraphRecord): void {
  for (const node of record.plan.nodes) {
    if (node.work.kind === 'while') checkWhile(verification, record, node, node.work.condition.references);
    if (node.emits !== undefined) checkEmit(verification, record, node);
    checkBegins(verification, record, node);
  }
}

function checkBegins({ problems }: Verification, record: GraphRecord, node: NodePlan): void {
  const { work, id } = node;
  const items = work.kind === 'forEach' ? constantOf(work.in) : undefined;
  const isEmpty = Array.isArray(items) && items.length === 0;
  if (!isEmpty && !(work.kind === 'while' && constantTruth(work.condition) === false)) return;
  const kind = work.kind === 'while' ? 'while' : definitionOf(record, node).split ? 'split' : 'forEach';
  problems.warning({
    code: 'NEVER_RUNS',
    message: `nothing inside '${id}' can ever run: ${isEmpty ? 'its list is empty' : 'its condition is always false'}`,
    hint: 'remove the loop; to disable it temporarily, set enabled: false',
    path: [...nodePath(record, node), kind, isEmpty ? 'in' : 'condition'],
  });
}

function checkWhile(
  verification: Verification,
  record: GraphRecord,
  node: NodePlan,
  references: readonly ValueReference[],
): void {
  const { work } = node;
  if (work.kind !== 'while' || canBeLeft(work.body)) return;
  const truth = constantTruth(work.condition);
  if (truth === false || references.some((one) => canChange(verification, record, node, one))) return;
  verification.problems.warning({
    code: 'ENDLESS_LOOP',
    message: `the loop '${node.id}' never ends: nothing that its condition reads changes while it runs`,
    hint: 'let the condition read $self.output, $index or a variable that the body sets, or end the loop with break',
    path: [...nodePath(record, node), 'while', 'condition'],
  });
}

/** Whether a node in the body, at any depth, can end the loop, an enclosing loop or the run. */
function canBeLeft(body: GraphPlan | undefined): boolean {
  return (body?.nodes ?? []).some(
    ({ breaks, work }) => breaks || work.kind === 'terminate' || canBeLeft(innerGraph(work)),
  );
}

function canChange(
  verification: Verification,
  record: GraphRecord,
  loop: NodePlan,
  { kind, path }: ValueReference,
): boolean {
  if (kind === 'self' || kind === 'index' || kind === 'draw') return true;
  if (kind !== 'vars') return false;
  const [name] = path;
  // Any node that sets the variable and may still run while the loop runs.
  return verification.graphs.some((other) =>
    other.plan.nodes.some((node) => {
      if (other === record && isApart(record, node, loop)) return false;
      return mayAssign(verification, other, node, name);
    }),
  );
}

function isApart({ scope: { reach } }: GraphRecord, node: NodePlan, loop: NodePlan): boolean {
  if (reach === undefined || node === loop) return false;
  return reach.isUpstream(node.index, loop.index) || reach.isUpstream(loop.index, node.index);
}

function mayAssign(
  { find }: Verification,
  record: GraphRecord,
  node: NodePlan,
  name: string | number | undefined,
): boolean {
  const { work } = node;
  if (work.kind === 'dynamic') return true;
  if (work.kind === 'set') return name === undefined || work.values.has(String(name));
  if (work.kind !== 'inline' || work.isolation !== 'shared') return false;
  const names = [...sharedBy(definitionOf(record, node), find)];
  return name === undefined || names.includes(String(name));
}

/** A literal list always has the same number of items. */
function alwaysHasItems(emits: CompiledValue, raw: Json | undefined): boolean {
  const items = constantOf(emits) ?? raw;
  if (isJsonList(items)) return items.length > 0;
  const syntax = typeof raw === 'string' ? conditionSyntax(raw) : undefined;
  return syntax?.kind === 'list' && syntax.items.some(({ spread }) => !spread);
}

/** Reports a node that runs in every iteration and always adds items. */
function checkEmit(verification: Verification, record: GraphRecord, node: NodePlan): void {
  const { emits, incoming, when, enabled, onError } = node;
  if (emits === undefined || incoming.length > 0 || when !== undefined || !enabled || onError === 'ignore') return;
  if (!alwaysHasItems(emits, definitionOf(record, node).emit) || canBeLeft(record.plan)) return;
  verification.problems.warning({
    code: 'ENDLESS_LOOP',
    message: `'${node.id}' adds items in every iteration, so the loop never ends`,
    hint: 'add a condition to the node, or let the list depend on $item or its output, so that it becomes empty',
    path: [...nodePath(record, node), 'emit'],
  });
}
