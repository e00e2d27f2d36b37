/** What the checks of this folder look at: a workflow that was compiled without errors. */
import type { WorkflowDefinition } from '../definition/model.ts';
import type { Finding, ProblemList } from '../definition/problem-list.ts';
import type { NodeDefinition } from '../definition/model.ts';
import { edgesAt } from '../graph/index.ts';
import type { GraphRecord } from '../plan/context.ts';
import type { EdgePlan, NodePlan } from '../plan/plan.ts';
import type { GraphScope } from '../plan/scope.ts';
import type { DocumentPath } from '../problem.ts';
import { isJsonObject, type JsonSchema } from '../value.ts';

export interface Verification {
  readonly definition: WorkflowDefinition;
  readonly graphs: readonly GraphRecord[];
  readonly problems: ProblemList;
  /** Other workflows, as far as they are known. */
  find(id: string, version: number | undefined): WorkflowDefinition | undefined;
}

export function nodePath({ source }: GraphRecord, { id }: NodePlan): DocumentPath {
  return [...source.path, 'nodes', id];
}

export function definitionOf({ source }: GraphRecord, { id }: NodePlan): NodeDefinition {
  return source.body.nodes?.[id] ?? {};
}

/** The edge's number in its graph. */
function numberOf({ scope }: GraphRecord, edge: EdgePlan): number {
  return edgesAt(scope.graph.incoming, edge.to.index)[edge.to.incoming.indexOf(edge)] as number;
}

export function edgePathOf(record: GraphRecord, edge: EdgePlan): DocumentPath {
  return record.edgePath(numberOf(record, edge));
}

/** What `match` of the edge says. */
export function matchOf(record: GraphRecord, edge: EdgePlan) {
  const origin = record.scope.graph.edgeOrigin[numberOf(record, edge)] as number;
  return origin < 0 ? undefined : record.source.body.edges?.[origin]?.match;
}

export function isFailureNode({ definition }: Verification, { source }: GraphRecord, { id }: NodePlan): boolean {
  return source.depth === 0 && source.outer === undefined && definition.config?.failureNode === id;
}

export type Warning = Required<Pick<Finding, 'code' | 'message' | 'hint' | 'path'>> & Pick<Finding, 'at'>;

/** What is known of the node's output for sure: a schema that only describes is not checked when it runs. */
export function trustedOutput({ scope }: GraphRecord, { index, work }: NodePlan): JsonSchema | undefined {
  const isDescribed = work.kind === 'action' && work.action.describeOnly?.includes('output') === true;
  return isDescribed ? undefined : scope.outputs[index];
}

/** The scope with outputs that are known for sure. */
export function trustedScope(graphs: ReadonlyMap<GraphScope, GraphRecord>, scope: GraphScope): GraphScope {
  const record = graphs.get(scope);
  const outer = scope.outer && { ...scope.outer, scope: trustedScope(graphs, scope.outer.scope) };
  if (record === undefined) return { ...scope, outer };
  return { ...scope, outer, outputs: record.plan.nodes.map((node) => trustedOutput(record, node)) };
}

export function isNonEmptyObject(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length > 0;
}
