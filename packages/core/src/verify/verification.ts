/** The input of the checks in this folder: a workflow that compiled without errors. */
import type { NodeDefinition, WorkflowDefinition } from '../definition/model.ts';
import type { ProblemList } from '../definition/problem-list.ts';
import { edgesAt } from '../graph/index.ts';
import type { GraphRecord } from '../plan/context.ts';
import type { EdgePlan, NodePlan } from '../plan/plan.ts';
import type { GraphScope } from '../plan/scope.ts';
import type { DocumentPath } from '../problem.ts';
import type { Json, JsonSchema } from '../value.ts';

export interface Verification {
  readonly definition: WorkflowDefinition;
  readonly graphs: readonly GraphRecord[];
  readonly problems: ProblemList;
  readonly graphOf: ReadonlyMap<GraphScope, GraphRecord>;
  /** Other workflows, as far as they are known. */
  find(id: string, version: number | undefined): WorkflowDefinition | undefined;
}

export function nodePath({ source }: GraphRecord, { id }: NodePlan): DocumentPath {
  return [...source.path, 'nodes', id];
}

export function definitionOf({ source }: GraphRecord, { id }: NodePlan): NodeDefinition {
  return source.body.nodes?.[id] ?? {};
}

const numbers = new WeakMap<GraphRecord, Map<EdgePlan, number>>();

function numberOf(record: GraphRecord, edge: EdgePlan): number {
  let known = numbers.get(record);
  if (known === undefined) {
    known = new Map();
    for (const { index, incoming } of record.plan.nodes) {
      const edges = edgesAt(record.scope.graph.incoming, index);
      for (const [at, one] of incoming.entries()) known.set(one, edges[at] ?? 0);
    }
    numbers.set(record, known);
  }
  return known.get(edge) as number;
}

export function edgePathOf(record: GraphRecord, edge: EdgePlan): DocumentPath {
  return record.edgePath(numberOf(record, edge));
}

export function matchOf(record: GraphRecord, edge: EdgePlan): Json | undefined {
  const origin = record.scope.graph.edgeOrigin[numberOf(record, edge)] ?? 0;
  return origin < 0 ? undefined : record.source.body.edges?.[origin]?.match;
}

export function isFailureNode({ definition }: Verification, { source }: GraphRecord, { id }: NodePlan): boolean {
  return source.depth === 0 && source.outer === undefined && definition.config?.failureNode === id;
}

/** The certain part of the node's output schema: a schema for documentation only is not enforced at run time. */
export function trustedOutput({ scope }: GraphRecord, { index, work }: NodePlan): JsonSchema | undefined {
  const isDescribed = work.kind === 'action' && work.action.describeOnly?.includes('output') === true;
  return isDescribed ? undefined : scope.outputs[index];
}

/** The scope with certain output schemas only. A graph around a returned one is not recorded and has none. */
export function trustedScope(graphs: ReadonlyMap<GraphScope, GraphRecord>, scope: GraphScope): GraphScope {
  const record = graphs.get(scope);
  const outer = scope.outer && { ...scope.outer, scope: trustedScope(graphs, scope.outer.scope) };
  if (record === undefined) return { ...scope, outer, outputs: [], item: undefined };
  return { ...scope, outer, outputs: record.plan.nodes.map((node) => trustedOutput(record, node)) };
}
