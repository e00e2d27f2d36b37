/**
 * A graph as it is drawn: nodes with ports, edges between them, and groups, which are nodes that contain others. It is
 * immutable: a change makes a new graph (`changes.ts`).
 */

/** Kinds differ by their outline. */
export type NodeKind =
  | 'action'
  | 'branch'
  | 'wait'
  | 'loop'
  | 'group'
  | 'workflow'
  | 'dynamic'
  | 'set'
  | 'split'
  | 'merge'
  | 'terminate';

export type EdgeKind = 'success' | 'error' | 'always' | 'result' | 'case';

/** An outlet of a node, from which edges start. Nodes without ports of their own have one outlet for each kind of edge. */
export interface Port {
  readonly id: string;
  readonly label: string;
}

export interface GraphNode {
  /** The path in the definition: `pack`, or `items/pack` in a body. */
  readonly id: string;
  /** The group that contains the node. */
  readonly parent?: string;
  readonly kind: NodeKind;
  readonly label: string;
  /** A second line: the action, the condition, what a wait waits for. */
  readonly detail?: string;
  /** Outlets of a branch, one for each case. */
  readonly ports?: readonly Port[];
  /** The category of the action, such as `http`: its icon, or its first letter. */
  readonly category?: string;
  readonly isGroup?: true;
  readonly isDisabled?: true;
}

export interface GraphEdge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly kind: EdgeKind;
  /** The outlet of a branch. */
  readonly port?: string;
  /** The condition of the edge. */
  readonly label?: string;
}

export interface Graph {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly edges: ReadonlyMap<string, GraphEdge>;
  /** Nodes that were moved by hand. The others are placed automatically. */
  readonly positions?: ReadonlyMap<string, Point>;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The id of an edge: one for each pair of nodes, kind and port. */
export function edgeId({ from, to, kind, port }: Omit<GraphEdge, 'id'>): string {
  const isPlain = kind === 'success' || kind === 'case';
  return `${from}→${to}${port === undefined ? '' : `:${port}`}${isPlain ? '' : `:${kind}`}`;
}

export const EMPTY_GRAPH: Graph = { nodes: new Map(), edges: new Map() };

/** Throws if an id occurs twice, an edge has no end, or a group comes after its nodes: mistakes of the caller. */
export function graphOf(nodes: Iterable<GraphNode>, edges: Iterable<GraphEdge>): Graph {
  const nodeMap = new Map<string, GraphNode>();
  for (const node of nodes) {
    if (nodeMap.has(node.id)) throw new Error(`Two nodes have the id '${node.id}'.`);
    if (node.parent !== undefined && nodeMap.get(node.parent)?.isGroup !== true) {
      throw new Error(`The parent '${node.parent}' of node '${node.id}' is not a group before it.`);
    }
    nodeMap.set(node.id, node);
  }
  const edgeMap = new Map<string, GraphEdge>();
  for (const edge of edges) {
    if (edgeMap.has(edge.id)) throw new Error(`Two edges have the id '${edge.id}'.`);
    const [from, to] = [nodeMap.get(edge.from), nodeMap.get(edge.to)];
    if (from === undefined || to === undefined) {
      throw new Error(`Edge '${edge.id}' leads from '${edge.from}' to '${edge.to}', and one of them does not exist.`);
    }
    if (from.parent !== to.parent) throw new Error(`Edge '${edge.id}' crosses the border of a group.`);
    edgeMap.set(edge.id, edge);
  }
  return { nodes: nodeMap, edges: edgeMap };
}

interface Links {
  readonly incoming: ReadonlyMap<string, readonly GraphEdge[]>;
  readonly outgoing: ReadonlyMap<string, readonly GraphEdge[]>;
  readonly children: ReadonlyMap<string | undefined, readonly GraphNode[]>;
}

/** A graph does not change, so its links are computed once. */
const knownLinks = new WeakMap<Graph, Links>();

export function linksOf(graph: Graph): Links {
  const known = knownLinks.get(graph);
  if (known !== undefined) return known;
  const links = {
    incoming: Map.groupBy(graph.edges.values(), ({ to }) => to),
    outgoing: Map.groupBy(graph.edges.values(), ({ from }) => from),
    children: Map.groupBy(graph.nodes.values(), ({ parent }) => parent),
  };
  knownLinks.set(graph, links);
  return links;
}

/** The node and all nodes in it, the outer ones first. */
export function withContents(graph: Graph, id: string): GraphNode[] {
  const { children } = linksOf(graph);
  const found: GraphNode[] = [];
  const visit = (node: GraphNode | undefined): void => {
    if (node === undefined) return;
    found.push(node);
    for (const child of children.get(node.id) ?? []) visit(child);
  };
  visit(graph.nodes.get(id));
  return found;
}

/** The groups around a node, the innermost first. */
export function groupsAround(graph: Graph, id: string): string[] {
  const groups: string[] = [];
  for (let at = graph.nodes.get(id)?.parent; at !== undefined; at = graph.nodes.get(at)?.parent) groups.push(at);
  return groups;
}

/** All nodes that lead to a node or follow from it within its scope, and the edges between them: its path. */
export function pathThrough(graph: Graph, id: string): { nodes: Set<string>; edges: Set<string> } {
  const { incoming, outgoing } = linksOf(graph);
  const nodes = new Set([id]);
  const edges = new Set<string>();
  const walk = (links: typeof incoming, end: (edge: GraphEdge) => string): void => {
    const queue = [id];
    const seen = new Set(queue);
    for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
      for (const edge of links.get(node) ?? []) {
        edges.add(edge.id);
        const next = end(edge);
        if (seen.has(next)) continue;
        seen.add(next);
        nodes.add(next);
        queue.push(next);
      }
    }
  };
  walk(incoming, ({ from }) => from);
  walk(outgoing, ({ to }) => to);
  return { nodes, edges };
}
