/**
 * Changes of a graph, as data. Applying one returns the new graph and the change that takes it back, so undo needs no
 * copy of a graph.
 */
import { type Graph, type GraphEdge, type GraphNode, linksOf, type Point, withContents } from './graph.ts';

export type Change =
  | { readonly type: 'add'; readonly nodes: readonly GraphNode[]; readonly edges: readonly GraphEdge[] }
  /** Edges of the nodes and the contents of groups are removed, too. */
  | { readonly type: 'remove'; readonly nodes: readonly string[]; readonly edges: readonly string[] }
  | { readonly type: 'replace-node'; readonly node: GraphNode }
  | { readonly type: 'replace-edge'; readonly edge: GraphEdge }
  /** Null: the node is placed automatically. */
  | { readonly type: 'move'; readonly positions: Readonly<Record<string, Point | null>> }
  | { readonly type: 'all'; readonly changes: readonly Change[] };

export interface Applied {
  readonly graph: Graph;
  readonly inverse: Change;
}

/** Throws if a node or edge of the change does not exist, or exists already: a mistake of the caller. */
export function applyChange(graph: Graph, change: Change): Applied {
  switch (change.type) {
    case 'add':
      return added(graph, change.nodes, change.edges);
    case 'remove':
      return removed(graph, change.nodes, change.edges);
    case 'replace-node': {
      const before = existing(graph.nodes, change.node.id, 'node');
      const nodes = new Map(graph.nodes).set(change.node.id, change.node);
      return { graph: { ...graph, nodes }, inverse: { type: 'replace-node', node: before } };
    }
    case 'replace-edge': {
      const before = existing(graph.edges, change.edge.id, 'edge');
      const edges = new Map(graph.edges).set(change.edge.id, change.edge);
      return { graph: { ...graph, edges }, inverse: { type: 'replace-edge', edge: before } };
    }
    case 'move':
      return moved(graph, change.positions);
    case 'all': {
      let at = graph;
      const inverses: Change[] = [];
      for (const one of change.changes) {
        const applied = applyChange(at, one);
        at = applied.graph;
        inverses.unshift(applied.inverse);
      }
      return { graph: at, inverse: { type: 'all', changes: inverses } };
    }
  }
}

function existing<T>(all: ReadonlyMap<string, T>, id: string, what: string): T {
  const found = all.get(id);
  if (found === undefined) throw new Error(`There is no ${what} '${id}'.`);
  return found;
}

function added(graph: Graph, newNodes: readonly GraphNode[], newEdges: readonly GraphEdge[]): Applied {
  const nodes = new Map(graph.nodes);
  for (const node of newNodes) {
    if (nodes.has(node.id)) throw new Error(`There is a node '${node.id}' already.`);
    nodes.set(node.id, node);
  }
  const edges = new Map(graph.edges);
  for (const edge of newEdges) {
    if (edges.has(edge.id)) throw new Error(`There is an edge '${edge.id}' already.`);
    existing(nodes, edge.from, 'node');
    existing(nodes, edge.to, 'node');
    edges.set(edge.id, edge);
  }
  const inverse: Change = { type: 'remove', nodes: newNodes.map(({ id }) => id), edges: newEdges.map(({ id }) => id) };
  return { graph: { ...graph, nodes, edges }, inverse };
}

function moved(graph: Graph, changed: Readonly<Record<string, Point | null>>): Applied {
  const positions = new Map(graph.positions);
  const before: Record<string, Point | null> = {};
  for (const [id, point] of Object.entries(changed)) {
    before[id] = positions.get(id) ?? null;
    if (point === null) positions.delete(id);
    else positions.set(id, point);
  }
  return { graph: { ...graph, positions }, inverse: { type: 'move', positions: before } };
}

function removed(graph: Graph, nodeIds: readonly string[], edgeIds: readonly string[]): Applied {
  const { incoming, outgoing } = linksOf(graph);
  const goneNodes = new Map<string, GraphNode>();
  const goneEdges = new Map<string, GraphEdge>();
  for (const id of nodeIds) {
    existing(graph.nodes, id, 'node');
    for (const node of withContents(graph, id)) {
      goneNodes.set(node.id, node);
      for (const edge of [...(incoming.get(node.id) ?? []), ...(outgoing.get(node.id) ?? [])])
        goneEdges.set(edge.id, edge);
    }
  }
  for (const id of edgeIds) goneEdges.set(id, existing(graph.edges, id, 'edge'));
  return {
    graph: { ...graph, nodes: without(graph.nodes, goneNodes), edges: without(graph.edges, goneEdges) },
    inverse: { type: 'add', nodes: [...goneNodes.values()], edges: [...goneEdges.values()] },
  };
}

function without<T>(all: ReadonlyMap<string, T>, gone: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  if (gone.size === 0) return all;
  const left = new Map(all);
  for (const id of gone.keys()) left.delete(id);
  return left;
}
