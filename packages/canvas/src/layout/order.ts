/** The order of the nodes within each layer: barycentre sweeps; the order with the fewest crossings wins. */
import { type Layered, type Neighbours, neighboursOf } from './layered.ts';

const SWEEPS = 8;
/** Counting crossings costs more than a sweep; above this the last order is taken. */
const MAX_COUNTED_EDGES = 20_000;

export function orderLayers(layered: Layered): void {
  const { layers, layer, from, to } = layered;
  const neighbours = neighboursOf(layered);
  const position = new Float64Array(layer.length);
  const begin = depthFirst(layered, neighbours.after);
  for (const nodes of layers) {
    nodes.sort((a, b) => begin[a]! - begin[b]!);
    number(nodes, position);
  }
  const isCounted = from.length <= MAX_COUNTED_EDGES;
  let best = layers.map((nodes) => nodes.slice());
  let fewest = isCounted ? crossings(layers, position, from, to, layer) : Infinity;
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const isForward = sweep % 2 === 0;
    const sequence = isForward ? layers : layers.toReversed();
    for (const nodes of sequence) sortByBarycentre(nodes, isForward ? neighbours.before : neighbours.after, position);
    const count = isCounted ? crossings(layers, position, from, to, layer) : fewest;
    if (count < fewest || !isCounted) {
      fewest = count;
      best = layers.map((nodes) => nodes.slice());
    }
  }
  for (const [at, nodes] of best.entries()) layers[at]!.set(nodes);
}

/** The moment at which a walk from the first nodes meets each node: branches stay together. */
function depthFirst({ layer, layers }: Layered, after: Neighbours['after']): Int32Array {
  const met = new Int32Array(layer.length).fill(-1);
  let moment = 0;
  for (const nodes of layers) {
    for (const start of nodes) {
      const stack = [start];
      while (stack.length > 0) {
        const node = stack.pop()!;
        if (met[node] !== -1) continue;
        met[node] = moment++;
        for (let at = after[node]!.length - 1; at >= 0; at--) stack.push(after[node]![at]!);
      }
    }
  }
  return met;
}

/** A node without neighbours on that side keeps its place. */
function sortByBarycentre(nodes: Int32Array, neighbours: Neighbours['before'], position: Float64Array): void {
  const wanted = new Map<number, number>();
  for (const node of nodes) {
    const near = neighbours[node]!;
    let sum = 0;
    for (const other of near) sum += position[other]!;
    wanted.set(node, near.length === 0 ? position[node]! : sum / near.length);
  }
  // `sort` of a typed array is stable.
  nodes.sort((a, b) => wanted.get(a)! - wanted.get(b)! || position[a]! - position[b]!);
  number(nodes, position);
}

function number(nodes: Int32Array, position: Float64Array): void {
  for (const [at, node] of nodes.entries()) position[node] = at;
}

/** Counts inversions between neighbouring layers with a Fenwick tree, after Barth, Mutzel and Jünger. */
function crossings(
  layers: readonly Int32Array[],
  position: Float64Array,
  from: Int32Array,
  to: Int32Array,
  layer: Int32Array,
): number {
  const byLayer: number[][] = layers.map(() => []);
  for (let edge = 0; edge < from.length; edge++) byLayer[layer[from[edge]!]!]!.push(edge);
  let count = 0;
  byLayer.forEach((edges, at) => {
    const size = layers[at + 1]?.length ?? 0;
    edges.sort((a, b) => position[from[a]!]! - position[from[b]!]! || position[to[a]!]! - position[to[b]!]!);
    const tree = new Int32Array(size + 1);
    edges.forEach((edge, seen) => {
      const end = position[to[edge]!]! + 1;
      let notAfter = 0;
      for (let index = end; index > 0; index -= index & -index) notAfter += tree[index]!;
      count += seen - notAfter;
      for (let index = end; index <= size; index += index & -index) tree[index]!++;
    });
  });
  return count;
}
