/**
 * Coordinates across the flow. Each node wants to stand at the average of its neighbours; within a layer the order and
 * the gaps are kept. The best such places of one layer are an isotonic regression, found by pooling neighbours that
 * push each other (least squares). Sweeps over all layers, there and back, move them towards each other.
 */
import { type Layered, neighboursOf } from './layered.ts';

/** Small graphs get more sweeps: what is left of bends of a few pixels disappears. */
const SWEEPS = { small: 40, large: 10 } as const;
const SMALL = 2_000;
/** How much an edge wants to be straight, by the number of its virtual ends: long edges bend last. */
const STRAIGHTNESS = [1, 2, 8] as const;

/** The centre of each node and virtual node. */
export function placeAcross(
  layered: Layered,
  breadthOf: (node: number) => number,
  gapOf: (a: number, b: number) => number,
): Float64Array {
  const { layers, layer, real } = layered;
  const { before, after } = neighboursOf(layered);
  const center = new Float64Array(layer.length);
  const offsets = layers.map((nodes) => {
    const offset = new Float64Array(nodes.length);
    for (let at = 1; at < nodes.length; at++) {
      const [a, b] = [nodes[at - 1]!, nodes[at]!];
      offset[at] = offset[at - 1]! + (breadthOf(a) + breadthOf(b)) / 2 + gapOf(a, b);
    }
    for (const [at, node] of nodes.entries()) center[node] = offset[at]! - (offset.at(-1) ?? 0) / 2;
    return offset;
  });
  const pull = (node: number, near: readonly number[], sums: Float64Array): void => {
    for (const other of near) {
      const strength = STRAIGHTNESS[(node >= real ? 1 : 0) + (other >= real ? 1 : 0)]!;
      sums[0]! += strength * center[other]!;
      sums[1]! += strength;
    }
  };
  const sums = new Float64Array(2);
  const placeLayer = (at: number, sides: readonly (readonly (readonly number[])[])[]): void => {
    const nodes = layers[at]!;
    const wanted = new Float64Array(nodes.length);
    const weight = new Float64Array(nodes.length);
    nodes.forEach((node, index) => {
      sums.fill(0);
      for (const side of sides) pull(node, side[node]!, sums);
      const isPulled = sums[1]! > 0;
      wanted[index] = isPulled ? sums[0]! / sums[1]! : center[node]!;
      weight[index] = isPulled ? sums[1]! : 0.1;
    });
    const places = isotonic(wanted, weight, offsets[at]!);
    for (const [index, node] of nodes.entries()) center[node] = places[index]!;
  };
  const sweeps = layer.length <= SMALL ? SWEEPS.small : SWEEPS.large;
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const isLast = sweep >= sweeps / 2;
    for (let at = 0; at < layers.length; at++) placeLayer(at, isLast ? [before, after] : [before]);
    for (let at = layers.length - 1; at >= 0; at--) placeLayer(at, isLast ? [before, after] : [after]);
  }
  return center.map((at) => Math.round(at));
}

/** The places nearest to `wanted`, such that place i + 1 − place i is at least offset i + 1 − offset i. */
function isotonic(wanted: Float64Array, weight: Float64Array, offset: Float64Array): Float64Array {
  const count = wanted.length;
  const mean = new Float64Array(count);
  const total = new Float64Array(count);
  const size = new Int32Array(count);
  let blocks = 0;
  for (let at = 0; at < count; at++) {
    mean[blocks] = wanted[at]! - offset[at]!;
    total[blocks] = weight[at]!;
    size[blocks] = 1;
    blocks++;
    while (blocks > 1 && mean[blocks - 2]! > mean[blocks - 1]!) {
      const sum = total[blocks - 2]! + total[blocks - 1]!;
      mean[blocks - 2] = (mean[blocks - 2]! * total[blocks - 2]! + mean[blocks - 1]! * total[blocks - 1]!) / sum;
      total[blocks - 2] = sum;
      size[blocks - 2]! += size[blocks - 1]!;
      blocks--;
    }
  }
  const places = new Float64Array(count);
  let at = 0;
  for (let block = 0; block < blocks; block++) {
    for (let within = 0; within < size[block]!; within++, at++) places[at] = mean[block]! + offset[at]!;
  }
  return places;
}
