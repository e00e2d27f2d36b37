/**
 * A scene has the places of what is drawn as typed arrays; nodes and edges have numbers. Looking at every node of a frame
 * costs 0.1 ms at 50,000, so there is no index of places.
 *
 *  1 `edgePoints` has the outlet, the bends and the inlet of each edge, `edgeBox` what they cover; moving a node refreshes
 *    those of its edges.
 *  2 A state belongs to the path of a node in the run (`pathOf`), which depends on the iterations that loops show.
 */
import { type Direction, GROUP, type LayoutResult } from '../layout/layout.ts';
import type { GraphEdge, GraphNode, Point } from '../model/graph.ts';
import type { Mark, Marks } from '../model/marks.ts';
import { type DrawnStatus, NODE_STATUSES, type NodeRunState } from '../model/run-state.ts';
import { NODE_SIZE, type Visible } from './scene-graph.ts';
import type { Strip } from './strip.ts';

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
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
  /** Points of edge `e` are the numbers `2 * pointStart[e]` to `2 * (pointStart[e] + pointCount[e]) - 1`. */
  readonly edgePoints: Float64Array;
  readonly pointStart: Int32Array;
  readonly pointCount: Int32Array;
  /** Four numbers for each edge: left, top, right, bottom. */
  readonly edgeBox: Float64Array;
  /** 1 + the index in `NODE_STATUSES`; 0 without a run. */
  readonly status: Uint8Array;
  readonly states: (NodeRunState | undefined)[];
  readonly strips: (Strip | undefined)[];
  readonly marks: readonly (Mark | undefined)[];
  readonly edgeMarks: readonly (Mark | undefined)[];
  /** The number of nodes that have a state. */
  stateCount = 0;
  readonly #portShare: Float64Array;
  readonly #bends: Float64Array;
  readonly #bendStart: Int32Array;
  readonly #edgesOf: readonly (readonly number[])[];
  readonly #childrenOf: ReadonlyMap<number, readonly number[]>;
  #bounds: Box | undefined;
  readonly #nodeOfPath = new Map<string, number>();
  readonly #pathOf: string[];

  /** `placed`: the layout of the input. */
  constructor({ nodes, edges, input }: Visible, placed: LayoutResult, moved: ReadonlyMap<string, Point>, marks: Marks) {
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
    this.#bendStart = placed.bendStart;
    this.#bends = placed.bends.slice();
    this.#childrenOf = Map.groupBy(nodes.keys(), (node) => input.parent[node]!);
    this.isOpen = Uint8Array.from(nodes, (_, node) => (this.#childrenOf.has(node) ? 1 : 0));
    this.status = new Uint8Array(nodes.length);
    this.states = new Array(nodes.length);
    this.strips = new Array(nodes.length);
    this.marks = nodes.map(({ id }) => marks.get(id));
    this.edgeMarks = edges.map(({ id }) => marks.get(id));
    this.#pathOf = nodes.map(({ id }) => id);
    this.#edgesOf = edgesOf(nodes.length, this.edgeFrom, this.edgeTo);
    this.#portShare = Float64Array.from(edges, ({ port }, edge) => portIndex(nodes[this.edgeFrom[edge]!]!, port));
    this.pointStart = Int32Array.from(edges, (_, edge) => this.#bendStart[edge]! + 2 * edge);
    this.pointCount = new Int32Array(edges.length);
    this.edgePoints = new Float64Array(2 * (this.#bends.length / 2 + 2 * edges.length));
    this.edgeBox = new Float64Array(4 * edges.length);
    for (let edge = 0; edge < edges.length; edge++) this.#refreshEdge(edge);
    for (const [id, point] of moved) {
      const node = this.indexOf.get(id);
      if (node !== undefined) this.move(node, point.x - this.x[node]!, point.y - this.y[node]!);
    }
  }

  statusOf(node: number): DrawnStatus | undefined {
    return NODE_STATUSES[this.status[node]! - 1];
  }

  /** Sets the path of each node in the run, and forgets the states. */
  setPaths(pathOf: (id: string) => string): void {
    this.#nodeOfPath.clear();
    this.nodes.forEach(({ id }, node) => {
      const path = pathOf(id);
      this.#pathOf[node] = path;
      this.#nodeOfPath.set(path, node);
    });
    this.states.fill(undefined);
    this.strips.fill(undefined);
    this.status.fill(0);
    this.stateCount = 0;
  }

  pathOf(node: number): string {
    return this.#pathOf[node]!;
  }

  /** The node with this path in the run; undefined: it is hidden, or belongs to another iteration. */
  nodeOfPath(path: string): number | undefined {
    return this.#nodeOfPath.get(path);
  }

  setState(node: number, state: NodeRunState | undefined): void {
    const before = this.states[node];
    this.stateCount += (state === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    this.states[node] = state;
    this.status[node] = state === undefined ? 0 : 1 + NODE_STATUSES.indexOf(state.status);
  }

  /** Moves a node with its contents. Edges of moved nodes are drawn without bends; groups grow to contain their nodes. */
  move(node: number, dx: number, dy: number): void {
    if (dx === 0 && dy === 0) return;
    this.#bounds = undefined;
    this.#shift(node, dx, dy, true);
    for (let group = this.parent[node]!; group >= 0; group = this.parent[group]!) this.#contain(group);
  }

  #shift(node: number, dx: number, dy: number, isOwn: boolean): void {
    this.x[node]! += dx;
    this.y[node]! += dy;
    for (const inner of this.#childrenOf.get(node) ?? []) this.#shift(inner, dx, dy, false);
    for (const edge of this.#edgesOf[node]!) {
      if (isOwn) this.#straighten(edge);
      else if (this.edgeFrom[edge] === node) this.#shiftBends(edge, dx, dy);
      this.#refreshEdge(edge);
    }
  }

  /** Bends of an edge at not-a-number are left out. */
  #straighten(edge: number): void {
    this.#bends.fill(Number.NaN, 2 * this.#bendStart[edge]!, 2 * this.#bendStart[edge + 1]!);
  }

  #shiftBends(edge: number, dx: number, dy: number): void {
    for (let at = this.#bendStart[edge]!; at < this.#bendStart[edge + 1]!; at++) {
      this.#bends[2 * at]! += dx;
      this.#bends[2 * at + 1]! += dy;
    }
  }

  #contain(group: number): void {
    let [right, bottom] = [this.x[group]! + NODE_SIZE.groupWidth, this.y[group]! + NODE_SIZE.groupHeight];
    for (const inner of this.#childrenOf.get(group) ?? []) {
      right = Math.max(right, this.x[inner]! + this.width[inner]! + GROUP.padding);
      bottom = Math.max(bottom, this.y[inner]! + this.height[inner]! + GROUP.padding);
    }
    this.width[group] = right - this.x[group]!;
    this.height[group] = bottom - this.y[group]!;
    for (const edge of this.#edgesOf[group]!) this.#refreshEdge(edge);
  }

  /** The box around everything, or around some nodes. */
  bounds(nodes?: Iterable<number>): Box | undefined {
    if (nodes === undefined) {
      this.#bounds ??= this.x.length === 0 ? undefined : boundsOf(this, this.x.keys());
      return this.#bounds;
    }
    return boundsOf(this, nodes);
  }

  /** The topmost node at a point; of open groups only the header. */
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
    return this.#outletAt(node, portIndex(this.nodes[node]!, port), kind);
  }

  #outletAt(node: number, port: number, kind: GraphEdge['kind']): Point {
    const [x, y, width, height] = [this.x[node]!, this.y[node]!, this.width[node]!, this.height[node]!];
    const isRight = this.direction === 'right';
    if (port < 0) {
      const share = OUTLET_OF_KIND[kind];
      return isRight ? { x: x + width, y: y + height * share } : { x: x + width * share, y: y + height };
    }
    if (isRight) return { x: x + width, y: y + NODE_SIZE.height + (port + 0.5) * NODE_SIZE.port };
    return { x: x + (width * (port + 0.5)) / (this.nodes[node]!.ports?.length ?? 1), y: y + height };
  }

  /** Where edges to a node end. */
  inlet(node: number): Point {
    const [x, y, width, height] = [this.x[node]!, this.y[node]!, this.width[node]!, this.height[node]!];
    return this.direction === 'right' ? { x, y: y + height / 2 } : { x: x + width / 2, y };
  }

  /** The points of an edge: its outlet, its bends, its inlet. */
  pointsOf(edge: number): Float64Array {
    const start = 2 * this.pointStart[edge]!;
    return this.edgePoints.subarray(start, start + 2 * this.pointCount[edge]!);
  }

  #refreshEdge(edge: number): void {
    const start = this.#outletAt(this.edgeFrom[edge]!, this.#portShare[edge]!, this.edges[edge]!.kind);
    const end = this.inlet(this.edgeTo[edge]!);
    const first = 2 * this.pointStart[edge]!;
    let at = first;
    const add = (x: number, y: number): void => {
      this.edgePoints[at++] = x;
      this.edgePoints[at++] = y;
    };
    add(start.x, start.y);
    for (let bend = this.#bendStart[edge]!; bend < this.#bendStart[edge + 1]!; bend++) {
      const bendX = this.#bends[2 * bend]!;
      if (!Number.isNaN(bendX)) add(bendX, this.#bends[2 * bend + 1]!);
    }
    add(end.x, end.y);
    this.pointCount[edge] = (at - first) / 2;
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let point = first; point < at; point += 2) {
      const [x, y] = [this.edgePoints[point]!, this.edgePoints[point + 1]!];
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
    }
    this.edgeBox.set([left, top, right, bottom], 4 * edge);
  }
}

function portIndex({ ports }: GraphNode, port: string | undefined): number {
  return port === undefined ? -1 : (ports?.findIndex(({ id }) => id === port) ?? -1);
}

function boundsOf({ x, y, width, height }: Scene, nodes: Iterable<number>): Box | undefined {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const node of nodes) {
    left = Math.min(left, x[node]!);
    top = Math.min(top, y[node]!);
    right = Math.max(right, x[node]! + width[node]!);
    bottom = Math.max(bottom, y[node]! + height[node]!);
  }
  return left === Infinity ? undefined : { left, top, right, bottom };
}

function edgesOf(count: number, from: Int32Array, to: Int32Array): number[][] {
  const lists: number[][] = Array.from({ length: count }, () => []);
  for (let edge = 0; edge < from.length; edge++) {
    lists[from[edge]!]!.push(edge);
    lists[to[edge]!]!.push(edge);
  }
  return lists;
}
