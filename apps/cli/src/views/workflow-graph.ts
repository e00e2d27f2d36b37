/** The graph of a definition as pictures need it: nodes, edges by index, topological order and levels. */
import type { Json, WorkflowDefinition } from '@nebula/core';

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
  const entries = Object.entries(definition.nodes ?? {});
  const indexOf = new Map(entries.map(([id], index) => [id, index]));
  const nodes = entries.map(([id, node]) => ({
    id,
    name: node.name ?? id,
    action: node.action,
    when: node.when === undefined ? undefined : conditionText(node.when),
    enabled: node.enabled !== false,
  }));
  const edges: GraphEdge[] = [];
  const seen = new Set<string>();
  const add = (from: string, to: string, on: GraphEdge['on'], condition: string | undefined): void => {
    const [source, target] = [indexOf.get(from), indexOf.get(to)];
    // `needs` and an edge may say the same thing.
    const identity = `${source} ${target} ${on} ${condition ?? ''}`;
    if (source === undefined || target === undefined || seen.has(identity)) return;
    seen.add(identity);
    edges.push({ from: source, to: target, on, condition });
  };
  for (const [id, node] of entries) for (const need of node.needs ?? []) add(need, id, 'success', undefined);
  for (const edge of definition.edges ?? []) {
    const conditions = [edge.when, edge.match].filter((part) => part !== undefined).map(conditionText);
    add(edge.from, edge.to, edge.on ?? 'success', conditions.length === 0 ? undefined : conditions.join(' and '));
  }
  const incoming: GraphEdge[][] = nodes.map(() => []);
  const outgoing: GraphEdge[][] = nodes.map(() => []);
  for (const edge of edges) {
    incoming[edge.to]?.push(edge);
    outgoing[edge.from]?.push(edge);
  }
  const name = definition.name ?? definition.id;
  return { id: definition.id, name, nodes, edges, incoming, outgoing, ...sort(nodes.length, incoming, outgoing) };
}

function conditionText(value: Json): string {
  return typeof value === 'string' ? value.replace(/^\{\{\s*|\s*\}\}$/g, '') : JSON.stringify(value);
}

/** Kahn's algorithm, level by level. Nodes of a cycle (an invalid file may be drawn, too) come last. */
function sort(
  count: number,
  incoming: readonly (readonly GraphEdge[])[],
  outgoing: readonly (readonly GraphEdge[])[],
): { order: number[]; level: number[] } {
  const open = incoming.map((edges) => edges.length);
  const level = new Array<number>(count).fill(0);
  const order: number[] = [];
  for (let index = 0; index < count; index++) if (open[index] === 0) order.push(index);
  for (let at = 0; at < order.length; at++) {
    const source = order[at] as number;
    for (const { to } of outgoing[source] as readonly GraphEdge[]) {
      level[to] = Math.max(level[to] as number, (level[source] as number) + 1);
      open[to] = (open[to] as number) - 1;
      if (open[to] === 0) order.push(to);
    }
  }
  if (order.length < count) for (let index = 0; index < count; index++) if (open[index] !== 0) order.push(index);
  return { order, level };
}
