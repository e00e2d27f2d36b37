/** Marks of nodes and edges that do not come from a run: problems, pinned data, and how two graphs differ. */
import { type Graph, type GraphEdge, type GraphNode, graphOf } from './graph.ts';

export interface Mark {
  /** The numbers of findings of the verifier. */
  readonly errors?: number;
  readonly warnings?: number;
  /** The output of the node is pinned in tests. A stale pin belongs to an older definition of the node. */
  readonly pin?: 'fresh' | 'stale';
  readonly change?: 'added' | 'removed' | 'changed';
}

/** By the id of a node or an edge. */
export type Marks = ReadonlyMap<string, Mark>;

/**
 * The graph of `after` with what `before` had in addition, and the marks of what was added, removed and changed. A node
 * is changed if it is drawn differently, or if `isChanged` says so: the graph does not have all of a definition.
 */
export function diffGraphs(
  before: Graph,
  after: Graph,
  isChanged: (id: string) => boolean = () => false,
): { readonly graph: Graph; readonly marks: Marks } {
  const marks = new Map<string, Mark>();
  const nodes = new Map<string, GraphNode>();
  for (const [id, node] of after.nodes) {
    const old = before.nodes.get(id);
    nodes.set(id, node);
    if (old === undefined) marks.set(id, { change: 'added' });
    else if (!isSame(old, node) || isChanged(id)) marks.set(id, { change: 'changed' });
  }
  for (const [id, node] of before.nodes) {
    // A removed node of a group that is no group now has no place.
    const hasPlace = node.parent === undefined || nodes.get(node.parent)?.isGroup === true;
    if (nodes.has(id) || !hasPlace) continue;
    nodes.set(id, node);
    marks.set(id, { change: 'removed' });
  }
  const edges = new Map<string, GraphEdge>(after.edges);
  for (const id of after.edges.keys()) if (!before.edges.has(id)) marks.set(id, { change: 'added' });
  for (const [id, edge] of before.edges) {
    if (edges.has(id) || !nodes.has(edge.from) || !nodes.has(edge.to)) continue;
    edges.set(id, edge);
    marks.set(id, { change: 'removed' });
  }
  return { graph: graphOf(nodes.values(), edges.values()), marks };
}

function isSame(a: GraphNode, b: GraphNode): boolean {
  return (
    JSON.stringify(a, Object.keys(a).sort()) === JSON.stringify(b, Object.keys(b).sort()) && portsOf(a) === portsOf(b)
  );
}

function portsOf({ ports }: GraphNode): string {
  return (ports ?? []).map(({ id, label }) => `${id}\n${label}`).join('\n\n');
}
