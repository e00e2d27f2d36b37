/**
 * Places the nodes of a graph by layers, from left to right or from top to bottom. Groups are placed like nodes of the
 * size of their contents. The input and the result are typed arrays, so that they cross the border of a worker without
 * a copy.
 *
 *  1 Nodes of one scope do not overlap; a group contains its nodes.
 *  2 An edge leads forward, unless it closes a cycle.
 *  3 The same input has the same result.
 */
import { layoutScope } from './scope.ts';
import type { ScopeInput } from './scope-input.ts';

export type Direction = 'right' | 'down';

export interface LayoutInput {
  readonly direction: Direction;
  /** The index of the group of each node, −1 at the top. A group comes before its nodes. */
  readonly parent: Int32Array;
  /** The size of each node. A group with nodes grows to its contents. */
  readonly width: Float64Array;
  readonly height: Float64Array;
  /** Both ends of an edge have the same parent. */
  readonly edgeFrom: Int32Array;
  readonly edgeTo: Int32Array;
  /** The space that the label of each edge needs before the end of the edge, in the direction of the flow. */
  readonly edgeSpace?: Float64Array;
}

export interface LayoutResult {
  /** The upper left corner of each node, and its size. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly width: Float64Array;
  readonly height: Float64Array;
  /** Edge `e` bends at the points `bendStart[e]` to `bendStart[e + 1] - 1`; a point is two numbers of `bends`. */
  readonly bendStart: Int32Array;
  readonly bends: Float64Array;
}

/** Of a graph without nodes. */
export const EMPTY_LAYOUT: LayoutResult = {
  x: new Float64Array(),
  y: new Float64Array(),
  width: new Float64Array(),
  height: new Float64Array(),
  bendStart: new Int32Array(1),
  bends: new Float64Array(),
};

/** Space in a group around its nodes, in pixels. */
export const GROUP = { header: 68, padding: 24 } as const;

interface Scope {
  readonly nodes: number[];
  readonly edges: number[];
}

export function layout(input: LayoutInput): LayoutResult {
  const { parent, edgeFrom, direction } = input;
  const count = parent.length;
  const x = new Float64Array(count);
  const y = new Float64Array(count);
  const width = input.width.slice();
  const height = input.height.slice();
  const edgeBends: (readonly number[] | undefined)[] = new Array(edgeFrom.length);
  const scopes = scopesOf(input);
  const isRight = direction === 'right';

  // Groups come before their nodes, so the last group is the innermost.
  for (const group of [...scopes.keys()].sort((a, b) => b - a)) {
    const scope = scopes.get(group)!;
    const placed = layoutScope(scopeInput(scope, { ...input, isRight, width, height }));
    scope.nodes.forEach((node, index) => {
      x[node] = isRight ? placed.along[index]! : placed.across[index]!;
      y[node] = isRight ? placed.across[index]! : placed.along[index]!;
    });
    scope.edges.forEach((edge, index) => {
      const points = placed.bends[index];
      if (points !== undefined) edgeBends[edge] = isRight ? points : swapped(points);
    });
    if (group >= 0) {
      const inner = isRight ? [placed.length, placed.breadth] : [placed.breadth, placed.length];
      width[group] = Math.max(width[group]!, inner[0]! + 2 * GROUP.padding);
      height[group] = Math.max(height[group]!, inner[1]! + GROUP.header + GROUP.padding);
    }
  }

  for (let node = 0; node < count; node++) {
    const group = parent[node]!;
    if (group < 0) continue;
    x[node]! += x[group]! + GROUP.padding;
    y[node]! += y[group]! + GROUP.header;
  }
  return { x, y, width, height, ...packBends(edgeBends, input, x, y) };
}

function scopesOf({ parent, edgeFrom }: LayoutInput): Map<number, Scope> {
  const scopes = new Map<number, Scope>();
  parent.forEach((group, node) => {
    const scope = scopes.get(group);
    if (scope === undefined) scopes.set(group, { nodes: [node], edges: [] });
    else scope.nodes.push(node);
  });
  for (const [edge, from] of edgeFrom.entries()) scopes.get(parent[from]!)!.edges.push(edge);
  return scopes;
}

interface Sizes extends Pick<LayoutInput, 'width' | 'height' | 'edgeFrom' | 'edgeTo' | 'edgeSpace'> {
  readonly isRight: boolean;
}

function scopeInput(
  { nodes, edges }: Scope,
  { isRight, width, height, edgeFrom, edgeTo, edgeSpace }: Sizes,
): ScopeInput {
  const indexOf = new Map(nodes.map((node, index) => [node, index]));
  const along = isRight ? width : height;
  const across = isRight ? height : width;
  return {
    length: Float64Array.from(nodes, (node) => along[node]!),
    breadth: Float64Array.from(nodes, (node) => across[node]!),
    from: Int32Array.from(edges, (edge) => indexOf.get(edgeFrom[edge]!)!),
    to: Int32Array.from(edges, (edge) => indexOf.get(edgeTo[edge]!)!),
    space: Float64Array.from(edges, (edge) => edgeSpace?.[edge] ?? 0),
  };
}

function swapped(points: readonly number[]): number[] {
  return points.map((_, index) => points[index % 2 === 0 ? index + 1 : index - 1]!);
}

/** Bends are relative to the scope of their edge; the scope begins inside of its group. */
function packBends(
  edgeBends: readonly (readonly number[] | undefined)[],
  { parent, edgeFrom }: LayoutInput,
  x: Float64Array,
  y: Float64Array,
): Pick<LayoutResult, 'bendStart' | 'bends'> {
  const bendStart = new Int32Array(edgeFrom.length + 1);
  for (let edge = 0; edge < edgeFrom.length; edge++) {
    bendStart[edge + 1] = bendStart[edge]! + (edgeBends[edge]?.length ?? 0) / 2;
  }
  const bends = new Float64Array(2 * bendStart[edgeFrom.length]!);
  for (let edge = 0; edge < edgeFrom.length; edge++) {
    const group = parent[edgeFrom[edge]!]!;
    const left = group < 0 ? 0 : x[group]! + GROUP.padding;
    const top = group < 0 ? 0 : y[group]! + GROUP.header;
    edgeBends[edge]?.forEach((at, index) => {
      bends[2 * bendStart[edge]! + index] = at + (index % 2 === 0 ? left : top);
    });
  }
  return { bendStart, bends };
}
