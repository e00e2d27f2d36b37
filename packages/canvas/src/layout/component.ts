/**
 * Places one connected component by layers, after Sugiyama: ranks by the longest path, an order within each layer that
 * has few crossings, and coordinates that keep edges straight. Edges over several layers get a virtual node in each.
 */
import type { Layered } from './layered.ts';
import { orderLayers } from './order.ts';
import { placeAcross } from './place.ts';
import { ranksOf } from './ranks.ts';
import type { Placed, ScopeInput } from './scope-input.ts';

/** The space between two layers, between two nodes of a layer, and beside an edge that passes. */
const LAYER_GAP = 72;
const NODE_GAP = 28;
const EDGE_GAP = 14;

/** More virtual nodes than this would cost seconds; their edges are drawn without bends. */
const MAX_VIRTUAL = 40_000;

export function layoutComponent(input: ScopeInput): Placed {
  const { length, breadth, from, to } = input;
  const count = length.length;
  if (count === 1) {
    return {
      along: new Float64Array(1),
      across: new Float64Array(1),
      bends: [],
      length: length[0]!,
      breadth: breadth[0]!,
    };
  }
  const { rank, isReversed } = ranksOf(count, from, to);
  const { layered, virtual } = layersOf(input, rank, isReversed);
  orderLayers(layered);
  const center = placeAcross(
    layered,
    (node) => breadth[node] ?? 0,
    (a, b) => (isVirtual(layered, a) || isVirtual(layered, b) ? EDGE_GAP : NODE_GAP),
  );

  const [layerAlong, layerLength] = alongOf(layered, input, isReversed);
  const along = new Float64Array(count);
  const across = new Float64Array(count);
  for (let node = 0; node < count; node++) {
    const layer = layered.layer[node]!;
    along[node] = layerAlong[layer]!;
    across[node] = center[node]! - breadth[node]! / 2;
  }
  // An edge passes a layer in a straight line, so it does not touch the nodes beside it.
  const bends = virtual.map((nodes, edge) =>
    nodes?.flatMap((node) => {
      const layer = layered.layer[node]!;
      const begin = [layerAlong[layer]!, center[node]!];
      const end = [layerAlong[layer]! + layerLength[layer]!, center[node]!];
      return isReversed[edge] === 1 ? [...end, ...begin] : [...begin, ...end];
    }),
  );
  return normalised(along, across, bends, input);
}

function isVirtual({ real }: Layered, node: number): boolean {
  return node >= real;
}

/** The virtual nodes of each edge, in its own direction. */
function layersOf({ length, from, to }: ScopeInput, rank: Int32Array, isReversed: Uint8Array) {
  const real = length.length;
  const layer = Array.from(rank);
  const edgesFrom: number[] = [];
  const edgesTo: number[] = [];
  const virtual: (number[] | undefined)[] = new Array(from.length);
  let total = 0;
  for (let edge = 0; edge < from.length; edge++) total += Math.abs(rank[to[edge]!]! - rank[from[edge]!]!) - 1;
  for (let edge = 0; edge < from.length; edge++) {
    const [start, end] = isReversed[edge] === 1 ? [to[edge]!, from[edge]!] : [from[edge]!, to[edge]!];
    const passed = rank[end]! - rank[start]! - 1;
    if (passed > 0 && total > MAX_VIRTUAL) continue;
    const chain: number[] = [];
    for (let step = 1; step <= passed; step++) {
      chain.push(layer.length);
      layer.push(rank[start]! + step);
    }
    const all = [start, ...chain, end];
    for (let step = 1; step < all.length; step++) {
      edgesFrom.push(all[step - 1]!);
      edgesTo.push(all[step]!);
    }
    if (chain.length > 0) virtual[edge] = isReversed[edge] === 1 ? chain.toReversed() : chain;
  }
  const layered: Layered = {
    real,
    layer: Int32Array.from(layer),
    layers: byLayer(layer),
    from: Int32Array.from(edgesFrom),
    to: Int32Array.from(edgesTo),
  };
  return { layered, virtual };
}

function byLayer(layer: readonly number[]): Int32Array[] {
  const layers: number[][] = [];
  layer.forEach((at, node) => {
    layers[at] ??= [];
    layers[at].push(node);
  });
  return layers.map((nodes) => Int32Array.from(nodes));
}

/** Where each layer begins, and its length. Before a layer there is room for the labels of the edges that end in it. */
function alongOf(
  { layers, layer, real }: Layered,
  { length, from, to, space }: ScopeInput,
  isReversed: Uint8Array,
): [Float64Array, Float64Array] {
  const begins = new Float64Array(layers.length);
  const lengths = new Float64Array(layers.length);
  const gaps = new Float64Array(layers.length).fill(LAYER_GAP);
  for (let edge = 0; edge < to.length; edge++) {
    const end = layer[isReversed[edge] === 1 ? from[edge]! : to[edge]!]!;
    gaps[end] = Math.max(gaps[end]!, space[edge]!);
  }
  let at = 0;
  layers.forEach((nodes, index) => {
    for (const node of nodes) if (node < real) lengths[index] = Math.max(lengths[index]!, length[node]!);
    at += index === 0 ? 0 : gaps[index]!;
    begins[index] = at;
    at += lengths[index]!;
  });
  return [begins, lengths];
}

/** Moves everything to begin at 0, and measures it. */
function normalised(
  along: Float64Array,
  across: Float64Array,
  bends: readonly (readonly number[] | undefined)[],
  { length, breadth }: ScopeInput,
): Placed {
  let [least, most, end] = [Infinity, -Infinity, 0];
  for (let node = 0; node < along.length; node++) {
    least = Math.min(least, across[node]!);
    most = Math.max(most, across[node]! + breadth[node]!);
    end = Math.max(end, along[node]! + length[node]!);
  }
  for (const points of bends) {
    for (let at = 1; at < (points?.length ?? 0); at += 2) {
      least = Math.min(least, points![at]!);
      most = Math.max(most, points![at]!);
    }
  }
  return {
    along,
    across: across.map((at) => at - least),
    bends: bends.map((points) => points?.map((at, axis) => (axis % 2 === 0 ? at : at - least))),
    length: end,
    breadth: most - least,
  };
}
