/**
 * A scene has the nodes that are drawn, those not hidden in a collapsed group, with their places as typed arrays. Nodes and edges
 * have numbers. Looking at every node of a frame costs 0.1 ms at 50,000, so there is no index of places.
 */
import { type Direction, GROUP, type LayoutInput, type LayoutResult } from '../layout/layout.ts';
import type { Graph, GraphEdge, GraphNode, Point } from '../model/graph.ts';
import { type DrawnStatus, NODE_STATUSES, type NodeRunState } from '../model/run-state.ts';

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const NODE_SIZE = { width: 184, height: 52, port: 22, collapsedHeight: 76 } as const;

export interface SceneGraph {
  readonly graph: Graph;
  readonly direction: Direction;
  readonly collapsed: ReadonlySet<string>;
}

/** The visible nodes and edges of a graph, and the input of their layout. */
export interface Visible {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly input: LayoutInput;
}

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
  const breadths = nodes.map(({ ports }) => Math.max(NODE_SIZE.height, 8 + NODE_SIZE.port * (ports?.length ?? 0)));
  const isRight = direction === 'right';
  return {
    nodes,
    edges,
    input: {
      direction,
      parent: Int32Array.from(parents),
      width: Float64Array.from(nodes, ({ ports }) =>
        isRight ? NODE_SIZE.width : Math.max(NODE_SIZE.width, 72 * (ports?.length ?? 0)),
      ),
      height: Float64Array.from(nodes, ({ isGroup }, index) =>
        isGroup === true ? NODE_SIZE.collapsedHeight : isRight ? breadths[index]! : NODE_SIZE.height,
      ),
      edgeFrom: Int32Array.from(edges, ({ from }) => indexOf.get(from)!),
      edgeTo: Int32Array.from(edges, ({ to }) => indexOf.get(to)!),
    },
  };
}

/** The position at which an edge leaves its node, as a share of the side: errors leave below the middle. */
const OUTLET_OF_KIND = { success: 0.5, result: 0.5, always: 0.5, case: 0.5, error: 0.8 } as const;

export class Scene {
  readonly direction: Direction;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly indexOf: ReadonlyMap<string, number>;
  readonly parent: Int32Array;
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly width: Float64Array;
  readonly height: Float64Array;
  /** 1 for groups that show their nodes. */
  readonly isOpen: Uint8Array;
  readonly edgeFrom: Int32Array;
  readonly edgeTo: Int32Array;
  readonly bendStart: Int32Array;
  readonly bends: Float64Array;
  /** 1 + the index in `NODE_STATUSES`; 0 without a run. */
  readonly status: Uint8Array;
  readonly states: (NodeRunState | undefined)[];
  readonly #edgesOf: readonly (readonly number[])[];
  readonly #childrenOf: ReadonlyMap<number, readonly number[]>;

  /** `placed`: the layout of the input. */
  constructor({ nodes, edges, input }: Visible, placed: LayoutResult, moved: ReadonlyMap<string, Point>) {
    this.direction = input.direction;
    this.nodes = nodes;
    this.edges = edges;
    this.indexOf = new Map(nodes.map(({ id }, index) => [id, index]));
    this.parent = input.parent;
    this.edgeFrom = input.edgeFrom;
    this.edgeTo = input.edgeTo;
    this.x = placed.x.slice();
    this.y = placed.y.slice();
    this.width = placed.width.slice();
    this.height = placed.height.slice();
    this.bendStart = placed.bendStart;
    this.bends = placed.bends.slice();
    this.#childrenOf = Map.groupBy(nodes.keys(), (node) => input.parent[node]!);
    this.isOpen = Uint8Array.from(nodes, (_, node) => (this.#childrenOf.has(node) ? 1 : 0));
    this.status = new Uint8Array(nodes.length);
    this.states = new Array(nodes.length);
    this.#edgesOf = edgesOf(nodes.length, this.edgeFrom, this.edgeTo);
    for (const [id, point] of moved) {
      const node = this.indexOf.get(id);
      if (node !== undefined) this.move(node, point.x - this.x[node]!, point.y - this.y[node]!);
    }
  }

  statusOf(node: number): DrawnStatus | undefined {
    return NODE_STATUSES[this.status[node]! - 1];
  }

  setState(id: string, state: NodeRunState | undefined): void {
    const node = this.indexOf.get(id);
    if (node === undefined) return;
    this.states[node] = state;
    this.status[node] = state === undefined ? 0 : 1 + NODE_STATUSES.indexOf(state.status);
  }

  /** Moves a node with its contents. Edges of moved nodes are drawn without bends; groups grow to contain their nodes. */
  move(node: number, dx: number, dy: number): void {
    if (dx === 0 && dy === 0) return;
    this.#shift(node, dx, dy, true);
    for (let group = this.parent[node]!; group >= 0; group = this.parent[group]!) this.#contain(group);
  }

  #shift(node: number, dx: number, dy: number, isOwn: boolean): void {
    this.x[node]! += dx;
    this.y[node]! += dy;
    for (const edge of this.#edgesOf[node]!) {
      if (isOwn) this.#straighten(edge);
      else if (this.edgeFrom[edge] === node) this.#shiftBends(edge, dx, dy);
    }
    for (const inner of this.#childrenOf.get(node) ?? []) this.#shift(inner, dx, dy, false);
  }

  /** Bends of an edge at not-a-number are left out. */
  #straighten(edge: number): void {
    this.bends.fill(Number.NaN, 2 * this.bendStart[edge]!, 2 * this.bendStart[edge + 1]!);
  }

  #shiftBends(edge: number, dx: number, dy: number): void {
    for (let at = this.bendStart[edge]!; at < this.bendStart[edge + 1]!; at++) {
      this.bends[2 * at]! += dx;
      this.bends[2 * at + 1]! += dy;
    }
  }

  #contain(group: number): void {
    let [right, bottom] = [this.x[group]! + NODE_SIZE.width, this.y[group]! + NODE_SIZE.collapsedHeight];
    for (const inner of this.#childrenOf.get(group) ?? []) {
      right = Math.max(right, this.x[inner]! + this.width[inner]! + GROUP.padding);
      bottom = Math.max(bottom, this.y[inner]! + this.height[inner]! + GROUP.padding);
    }
    this.width[group] = right - this.x[group]!;
    this.height[group] = bottom - this.y[group]!;
  }

  /** The box around everything, or around some nodes. */
  bounds(nodes?: Iterable<number>): Box | undefined {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const node of nodes ?? this.x.keys()) {
      left = Math.min(left, this.x[node]!);
      top = Math.min(top, this.y[node]!);
      right = Math.max(right, this.x[node]! + this.width[node]!);
      bottom = Math.max(bottom, this.y[node]! + this.height[node]!);
    }
    return left === Infinity ? undefined : { left, top, right, bottom };
  }

  /** The topmost node at a point; of open groups only the header, and a margin at their border. */
  nodeAt(x: number, y: number): number | undefined {
    for (let node = this.x.length - 1; node >= 0; node--) {
      const [dx, dy] = [x - this.x[node]!, y - this.y[node]!];
      if (dx < 0 || dy < 0 || dx > this.width[node]! || dy > this.height[node]!) continue;
      if (this.isOpen[node] !== 1 || dy <= GROUP.header) return node;
    }
    return undefined;
  }

  /** The innermost open group at a point. */
  groupAt(x: number, y: number): number | undefined {
    for (let node = this.x.length - 1; node >= 0; node--) {
      const [dx, dy] = [x - this.x[node]!, y - this.y[node]!];
      if (this.isOpen[node] === 1 && dx >= 0 && dy >= 0 && dx <= this.width[node]! && dy <= this.height[node]!)
        return node;
    }
    return undefined;
  }

  nodesIn({ left, top, right, bottom }: Box): number[] {
    const found: number[] = [];
    for (let node = 0; node < this.x.length; node++) {
      const [x, y] = [this.x[node]!, this.y[node]!];
      if (x >= left && y >= top && x + this.width[node]! <= right && y + this.height[node]! <= bottom) found.push(node);
    }
    return found;
  }

  /** Where edges from an outlet of a node begin. */
  outlet(node: number, port: string | undefined, kind: GraphEdge['kind']): Point {
    const ports = this.nodes[node]!.ports ?? [];
    const at = ports.findIndex(({ id }) => id === port);
    const share = at < 0 ? OUTLET_OF_KIND[kind] : (at + 1) / (ports.length + 1);
    const [x, y, width, height] = [this.x[node]!, this.y[node]!, this.width[node]!, this.height[node]!];
    return this.direction === 'right'
      ? { x: x + width, y: y + height * share }
      : { x: x + width * share, y: y + height };
  }

  /** Where edges to a node end. */
  inlet(node: number): Point {
    const [x, y, width, height] = [this.x[node]!, this.y[node]!, this.width[node]!, this.height[node]!];
    return this.direction === 'right' ? { x, y: y + height / 2 } : { x: x + width / 2, y };
  }

  /** The points of an edge: its outlet, its bends, its inlet. */
  pointsOf(edge: number): number[] {
    const { port, kind } = this.edges[edge]!;
    const start = this.outlet(this.edgeFrom[edge]!, port, kind);
    const end = this.inlet(this.edgeTo[edge]!);
    const points = [start.x, start.y];
    for (let at = this.bendStart[edge]!; at < this.bendStart[edge + 1]!; at++) {
      if (!Number.isNaN(this.bends[2 * at])) points.push(this.bends[2 * at]!, this.bends[2 * at + 1]!);
    }
    points.push(end.x, end.y);
    return points;
  }
}

function edgesOf(count: number, from: Int32Array, to: Int32Array): number[][] {
  const lists: number[][] = Array.from({ length: count }, () => []);
  for (let edge = 0; edge < from.length; edge++) {
    lists[from[edge]!]!.push(edge);
    lists[to[edge]!]!.push(edge);
  }
  return lists;
}
