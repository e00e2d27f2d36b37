/** The graph of a definition as pictures need it: nodes, edges by index, topological order and levels. */
import {
  buildGraph,
  edgesAt,
  isJsonObject,
  type Json,
  type NodeDefinition,
  nodeLevels,
  topologicalOrder,
  type WorkflowDefinition,
} from '@nebula/core';

export interface GraphNode {
  readonly id: string;
  readonly name: string;
  readonly action: string;
  readonly when: string | undefined;
  readonly enabled: boolean;
}

export interface GraphEdge {
  readonly from: number;
  readonly to: number;
  readonly on: 'success' | 'error' | 'always' | 'result';
  /** What must hold besides `on`, as text. */
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

export function graphOf(definition: WorkflowDefinition): WorkflowGraph {
  const { graph } = buildGraph(definition);
  const nodes = graph.ids.map((id) => {
    const node = definition.nodes?.[id] as NodeDefinition;
    return {
      id,
      name: node.name ?? id,
      action: node.action,
      when: node.when === undefined ? undefined : conditionText(node.when),
      enabled: node.enabled !== false,
    };
  });
  const edges = Array.from(graph.edgeFrom, (from, edge): GraphEdge => {
    const written = definition.edges?.[graph.edgeOrigin[edge] as number];
    const conditions = [written?.when, written?.match].filter((part) => part !== undefined).map(conditionText);
    return {
      from,
      to: graph.edgeTo[edge] as number,
      on: written?.on ?? 'success',
      condition: conditions.length === 0 ? undefined : conditions.join(' and '),
    };
  });
  const sorted = topologicalOrder(graph);
  // Nodes of a cycle (an invalid file may be drawn, too) come last.
  const order = [...new Set([...sorted, ...nodes.keys()])];
  const at = (numbers: Int32Array): GraphEdge[] => Array.from(numbers, (edge) => edges[edge] as GraphEdge);
  return {
    id: definition.id,
    name: definition.name ?? definition.id,
    nodes,
    edges,
    incoming: nodes.map((_, node) => at(edgesAt(graph.incoming, node))),
    outgoing: nodes.map((_, node) => at(edgesAt(graph.outgoing, node))),
    order,
    level: [...nodeLevels(graph, sorted)],
  };
}

function conditionText(value: Json): string {
  if (typeof value === 'string') return value.replace(/^\{\{\s*|\s*\}\}$/g, '');
  if (!isJsonObject(value)) return JSON.stringify(value);
  // `{ code: CARD_DECLINED }` is best known by what it names.
  const parts = Object.entries(value).map(([key, part]) => {
    const text = typeof part === 'string' ? part : JSON.stringify(part);
    return key === 'code' ? text : `${key} ${text}`;
  });
  return parts.join(', ');
}
