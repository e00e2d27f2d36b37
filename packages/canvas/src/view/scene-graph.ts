/** The nodes and edges of a graph that are drawn, those not hidden in a collapsed group, and the input of their layout. */
import type { Direction, LayoutInput } from '../layout/layout.ts';
import type { Graph, GraphEdge, GraphNode } from '../model/graph.ts';
import { ENGLISH, type GraphWords } from './words.ts';

/** Sizes of nodes in pixels. A branch has a row for each case; a collapsed group has room for its strip. */
export const NODE_SIZE = {
  width: 224,
  height: 56,
  port: 22,
  portWidth: 92,
  groupWidth: 252,
  groupHeight: 80,
  /** With a strip of iterations. */
  loopHeight: 92,
  /** Below the rows of ports. */
  portFoot: 6,
} as const;

export interface SceneGraph {
  readonly graph: Graph;
  readonly direction: Direction;
  readonly collapsed: ReadonlySet<string>;
}

export interface Visible {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly input: LayoutInput;
}

/** The longest label of an edge, and the space beside it for the curve and the arrow. */
export const EDGE_LABEL = { most: 148, beside: 44 } as const;
/** The width of a character of a label, about. */
const CHARACTER = 6.4;

export function visibleOf({ graph, direction, collapsed }: SceneGraph): Visible {
  const indexOf = new Map<string, number>();
  const nodes: GraphNode[] = [];
  const parents: number[] = [];
  for (const node of graph.nodes.values()) {
    const parent = node.parent === undefined ? -1 : indexOf.get(node.parent);
    if (parent === undefined || (node.parent !== undefined && collapsed.has(node.parent))) continue;
    indexOf.set(node.id, nodes.length);
    nodes.push(node);
    parents.push(parent);
  }
  const edges = [...graph.edges.values()].filter(({ from, to }) => indexOf.has(from) && indexOf.has(to));
  const isRight = direction === 'right';
  return {
    nodes,
    edges,
    input: {
      direction,
      parent: Int32Array.from(parents),
      width: Float64Array.from(nodes, (node) => widthOf(node, isRight)),
      height: Float64Array.from(nodes, (node) => heightOf(node, isRight)),
      edgeFrom: Int32Array.from(edges, ({ from }) => indexOf.get(from)!),
      edgeTo: Int32Array.from(edges, ({ to }) => indexOf.get(to)!),
      edgeSpace: Float64Array.from(edges, (edge) => (isRight ? labelSpace(edge) : 0)),
    },
  };
}

/** The words beside an edge: its kind, if it is not taken on success, and its condition. */
export function labelOf(
  { kind, label }: GraphEdge,
  words: GraphWords['edgeKind'] = ENGLISH.edgeKind,
): string | undefined {
  const own = kind === 'error' || kind === 'always' ? words[kind] : undefined;
  if (label === undefined) return own;
  return own === undefined ? label : `${own} · ${label}`;
}

function labelSpace(edge: GraphEdge): number {
  const text = labelOf(edge);
  return text === undefined ? 0 : Math.min(EDGE_LABEL.most, text.length * CHARACTER) + EDGE_LABEL.beside;
}

function widthOf({ ports, isGroup }: GraphNode, isRight: boolean): number {
  if (isGroup === true) return NODE_SIZE.groupWidth;
  return isRight ? NODE_SIZE.width : Math.max(NODE_SIZE.width, NODE_SIZE.portWidth * (ports?.length ?? 0));
}

function heightOf({ ports, isGroup, kind }: GraphNode, isRight: boolean): number {
  if (isGroup === true) return kind === 'loop' ? NODE_SIZE.loopHeight : NODE_SIZE.groupHeight;
  const rows = ports === undefined || ports.length === 0 ? 0 : isRight ? ports.length : 1;
  return rows === 0 ? NODE_SIZE.height : NODE_SIZE.height + rows * NODE_SIZE.port + NODE_SIZE.portFoot;
}
