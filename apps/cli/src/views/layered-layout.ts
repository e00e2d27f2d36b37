/**
 * Places a graph in layers from top to bottom (Sugiyama's way): long edges become chains of bends, each layer is
 * ordered so that few edges cross, and every item moves as near as it can to the middle of its neighbours.
 */
import type { GraphEdge, WorkflowGraph } from './workflow-graph.ts';

/** A node, or the bend of an edge that passes through a layer. */
export interface Item {
  readonly node: number | null;
  readonly width: number;
  /** Left edge, in cells. */
  x: number;
  readonly above: Link[];
  readonly below: Link[];
}

/** One step of an edge, between two neighbouring layers. */
export interface Link {
  readonly edge: GraphEdge;
  readonly from: Item;
  readonly to: Item;
}

const GAP = 3;
const ORDER_SWEEPS = 12;
const ARRANGE_SWEEPS = 16;
/** Bends pull harder than nodes, so that long edges run straight. */
const BEND_WEIGHT = 4;

export function centreOf(item: Item): number {
  return item.x + Math.floor(item.width / 2);
}

export function layout(graph: WorkflowGraph, widthOf: (node: number) => number): Item[][] {
  const layers = itemsInLayers(graph, widthOf);
  orderLayers(layers);
  arrangeLayers(layers);
  return layers;
}

function itemsInLayers(graph: WorkflowGraph, widthOf: (node: number) => number): Item[][] {
  const layers: Item[][] = [];
  const add = (level: number, node: number | null, width: number): Item => {
    const item: Item = { node, width, x: 0, above: [], below: [] };
    while (layers.length <= level) layers.push([]);
    layers[level]?.push(item);
    return item;
  };
  const items = new Map<number, Item>();
  for (const node of graph.order) items.set(node, add(graph.level[node] as number, node, widthOf(node)));
  const connect = (edge: GraphEdge, from: Item, to: Item): void => {
    const link = { edge, from, to };
    from.below.push(link);
    to.above.push(link);
  };
  for (const edge of graph.edges) {
    const [top, bottom] = [graph.level[edge.from] as number, graph.level[edge.to] as number];
    // An edge of a cycle, in a file that is not valid, has no way down.
    if (bottom <= top) continue;
    let from = items.get(edge.from) as Item;
    for (let level = top + 1; level < bottom; level++) {
      const bend = add(level, null, 1);
      connect(edge, from, bend);
      from = bend;
    }
    connect(edge, from, items.get(edge.to) as Item);
  }
  return layers;
}

function orderLayers(layers: Item[][]): void {
  let best = layers.map((layer) => [...layer]);
  let bestCrossings = crossings(layers);
  for (let sweep = 0; sweep < ORDER_SWEEPS && bestCrossings > 0; sweep++) {
    const isDown = sweep % 2 === 0;
    const sequence = isDown ? layers.slice(1) : layers.slice(0, -1).reverse();
    for (const layer of sequence) sortByNeighbours(layer, layers, isDown);
    const count = crossings(layers);
    if (count < bestCrossings) {
      bestCrossings = count;
      best = layers.map((layer) => [...layer]);
    }
  }
  best.forEach((layer, at) => {
    layers[at] = layer;
  });
}

function sortByNeighbours(layer: Item[], layers: readonly Item[][], isDown: boolean): void {
  const index = layers.indexOf(layer);
  const other = layers[isDown ? index - 1 : index + 1] as Item[];
  const indexOf = new Map(other.map((item, at) => [item, at]));
  const weight = new Map<Item, number>();
  layer.forEach((item, at) => {
    const neighbours = isDown ? item.above.map((link) => link.from) : item.below.map((link) => link.to);
    const sum = neighbours.reduce((total, neighbour) => total + (indexOf.get(neighbour) as number), 0);
    weight.set(item, neighbours.length === 0 ? at : sum / neighbours.length);
  });
  layer.sort((a, b) => (weight.get(a) as number) - (weight.get(b) as number));
}

function crossings(layers: readonly Item[][]): number {
  let count = 0;
  for (let level = 0; level + 1 < layers.length; level++) {
    const indexOf = new Map((layers[level + 1] as Item[]).map((item, at) => [item, at]));
    const targets = (layers[level] as Item[]).flatMap((item) =>
      item.below.map((link) => indexOf.get(link.to) as number).sort((a, b) => a - b),
    );
    for (let a = 0; a < targets.length; a++) {
      for (let b = a + 1; b < targets.length; b++) if ((targets[a] as number) > (targets[b] as number)) count++;
    }
  }
  return count;
}

function arrangeLayers(layers: readonly Item[][]): void {
  for (const layer of layers)
    arrange(
      layer,
      layer.map(() => ({ centre: 0, weight: 0.01 })),
    );
  for (let sweep = 0; sweep < ARRANGE_SWEEPS; sweep++) {
    const isDown = sweep % 2 === 0;
    for (const layer of isDown ? layers : [...layers].reverse()) {
      arrange(
        layer,
        layer.map((item) => target(item, sweep >= ARRANGE_SWEEPS - 2 ? 'both' : isDown ? 'above' : 'below')),
      );
    }
  }
  straighten(layers);
  const left = Math.min(...layers.flat().map((item) => item.x));
  for (const item of layers.flat()) item.x -= left;
}

/** Takes small kinks out of long edges and chains, where the neighbours leave room for it. */
function straighten(layers: readonly Item[][]): void {
  for (const layer of layers) {
    for (let at = 0; at < layer.length; at++) {
      const item = layer[at] as Item;
      const [link] = item.above;
      const isChain = item.above.length === 1 && (item.node === null || link?.from.below.length === 1);
      if (link !== undefined && isChain) align(layer, at, link.from);
    }
  }
  for (const layer of [...layers].reverse()) {
    for (let at = 0; at < layer.length; at++) {
      const below = layer[at]?.below[0]?.to;
      if (layer[at]?.node === null && below?.node === null) align(layer, at, below);
    }
  }
}

function align(layer: readonly Item[], at: number, target: Item): void {
  const item = layer[at] as Item;
  const wanted = centreOf(target) - Math.floor(item.width / 2);
  const [before, after] = [layer[at - 1], layer[at + 1]];
  const isFree =
    (before === undefined || before.x + before.width < wanted) &&
    (after === undefined || wanted + item.width < after.x);
  if (isFree) item.x = wanted;
}

interface Target {
  readonly centre: number;
  readonly weight: number;
}

function target(item: Item, side: 'above' | 'below' | 'both'): Target {
  const neighbours = [
    ...(side === 'below' ? [] : item.above.map((link) => link.from)),
    ...(side === 'above' ? [] : item.below.map((link) => link.to)),
  ];
  if (neighbours.length === 0) return { centre: centreOf(item), weight: 0.1 };
  let [sum, weights] = [0, 0];
  for (const neighbour of neighbours) {
    const weight = item.node === null && neighbour.node === null ? BEND_WEIGHT : 1;
    sum += centreOf(neighbour) * weight;
    weights += weight;
  }
  return { centre: sum / weights, weight: item.node === null ? BEND_WEIGHT : 1 };
}

/** The positions nearest to the wishes that keep order and gaps: isotonic regression by pooling neighbours. */
function arrange(layer: readonly Item[], targets: readonly Target[]): void {
  const offsets: number[] = [];
  let offset = 0;
  for (const item of layer) {
    offsets.push(offset);
    offset += item.width + GAP;
  }
  const pools: { sum: number; weight: number; size: number }[] = [];
  layer.forEach((item, at) => {
    const { centre, weight } = targets[at] as Target;
    const target = centre - Math.floor(item.width / 2) - (offsets[at] as number);
    pools.push({ sum: target * weight, weight, size: 1 });
    while (pools.length > 1) {
      const last = pools[pools.length - 1] as (typeof pools)[number];
      const before = pools[pools.length - 2] as (typeof pools)[number];
      if (before.sum / before.weight <= last.sum / last.weight) break;
      pools.pop();
      before.sum += last.sum;
      before.weight += last.weight;
      before.size += last.size;
    }
  });
  let at = 0;
  for (const pool of pools) {
    const shift = Math.round(pool.sum / pool.weight);
    for (let member = 0; member < pool.size; member++, at++) (layer[at] as Item).x = shift + (offsets[at] as number);
  }
}
