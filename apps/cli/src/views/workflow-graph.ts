/** The graph of a definition as pictures need it: nodes, edges by index, topological order and levels; bodies inside. */
import {
  buildGraph,
  edgesAt,
  type NodeDefinition,
  type NodeKind,
  nodeLevels,
  topologicalOrder,
  type WorkflowDefinition,
} from '@nebula/core';
import { casesTo, conditionText, kindOf, nodeWords } from './node-words.ts';

export interface GraphNode {
  readonly id: string;
  readonly name: string;
  readonly kind: NodeKind;
  /** In a few words: its action, what it loops over, what it waits for. */
  readonly does: string;
  readonly action: string | undefined;
  readonly when: string | undefined;
  readonly enabled: boolean;
  /** The node runs only after the run has failed. */
  readonly isFailureNode: boolean;
  /** The action that undoes it when the run fails later. */
  readonly undo: string | undefined;
  /** The body of a loop, or the inline workflow. */
  readonly body: WorkflowGraph | undefined;
}

export interface GraphEdge {
  readonly from: number;
  readonly to: number;
  readonly on: 'success' | 'error' | 'always' | 'result';
  /** The condition besides `on`, as text. */
  readonly condition: string | undefined;
}

export interface WorkflowGraph {
  readonly id: string;
  readonly name: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly incoming: readonly (readonly GraphEdge[])[];
  readonly outgoing: readonly (readonly GraphEdge[])[];
  /** Indexes of nodes so that every edge points forward; ties in the order of the definition. */
  readonly order: readonly number[];
  /** Longest way from an entry node, in edges. */
  readonly level: readonly number[];
}

/** Finds other workflows, so that inline workflows can be drawn. */
export type FindWorkflow = (id: string, version?: number) => WorkflowDefinition | undefined;

type Body = Pick<WorkflowDefinition, 'nodes' | 'edges' | 'config'>;

const NOWHERE: FindWorkflow = () => undefined;

export function graphOf(definition: WorkflowDefinition, find: FindWorkflow = NOWHERE): WorkflowGraph {
  return graphIn(definition, definition.id, definition.name ?? definition.id, find, [definition.id]);
}

/** `around`: the workflows that contain this one. An invalid file may be drawn too. */
function graphIn(body: Body, id: string, name: string, find: FindWorkflow, around: readonly string[]): WorkflowGraph {
  const { graph } = buildGraph(body);
  const nodes = graph.ids.map((nodeId) => ({
    ...graphNode(nodeId, body.nodes?.[nodeId] ?? {}, find, around),
    // In an inline workflow the failure node is an ordinary node.
    isFailureNode: around.length === 1 && body.config?.failureNode === nodeId,
  }));
  const edges = Array.from(graph.edgeFrom, (from, edge): GraphEdge => {
    const to = graph.edgeTo[edge] as number;
    const written = body.edges?.[graph.edgeOrigin[edge] as number];
    return {
      from,
      to,
      on: written?.on ?? 'success',
      condition: written === undefined ? caseText(body, graph.ids[from], graph.ids[to]) : writtenText(written),
    };
  });
  const sorted = topologicalOrder(graph);
  // Nodes of a cycle (an invalid file may be drawn, too) come last.
  const order = [...new Set([...sorted, ...nodes.keys()])];
  const at = (numbers: Int32Array): GraphEdge[] => Array.from(numbers, (edge) => edges[edge] as GraphEdge);
  return {
    id,
    name,
    nodes,
    edges,
    incoming: nodes.map((_, node) => at(edgesAt(graph.incoming, node))),
    outgoing: nodes.map((_, node) => at(edgesAt(graph.outgoing, node))),
    order,
    level: [...nodeLevels(graph, sorted)],
  };
}

function graphNode(
  id: string,
  node: NodeDefinition,
  find: FindWorkflow,
  around: readonly string[],
): Omit<GraphNode, 'isFailureNode'> {
  return {
    id,
    name: node.name ?? id,
    kind: kindOf(node),
    does: nodeWords(node),
    action: node.action ?? node.dynamic?.action,
    when: node.when === undefined ? undefined : conditionText(node.when),
    enabled: node.enabled !== false,
    undo: node.compensate?.action,
    body: bodyOf(id, node, find, around),
  };
}

function bodyOf(
  id: string,
  { do: iterations, group, workflow }: NodeDefinition,
  find: FindWorkflow,
  around: readonly string[],
): WorkflowGraph | undefined {
  const body = iterations ?? group;
  if (body !== undefined) return graphIn(body, id, id, find, around);
  if (workflow?.id === undefined || workflow.mode === 'child' || around.includes(workflow.id)) return undefined;
  const inner = find(workflow.id, workflow.version);
  if (inner === undefined) return undefined;
  return graphIn(inner, inner.id, inner.name ?? inner.id, find, [...around, inner.id]);
}

function writtenText({ when, match }: NonNullable<Body['edges']>[number]): string | undefined {
  const conditions = [when, match].filter((part) => part !== undefined).map(conditionText);
  return conditions.length === 0 ? undefined : conditions.join(' and ');
}

function caseText(body: Body, from: string | undefined, to: string | undefined): string | undefined {
  const branch = from === undefined ? undefined : body.nodes?.[from]?.branch;
  if (branch === undefined || to === undefined) return undefined;
  return casesTo(branch, to).join(' or ') || undefined;
}

export function hasBodies(graph: WorkflowGraph): boolean {
  return graph.nodes.some(({ body }) => body !== undefined);
}

/** The number of nodes, including bodies. */
export function nodeCount(graph: WorkflowGraph): number {
  return graph.nodes.reduce((sum, { body }) => sum + 1 + (body === undefined ? 0 : nodeCount(body)), 0);
}
