/**
 * Orders and measures of a graph, each in one linear pass without recursion. The loops count instead of iterating: in
 * code that runs for the first time, the iterators of typed arrays are most of the time.
 */
import { edgeCountAt, type Graph } from './graph.ts';

/**
 * Every node comes after its predecessors; nodes that become ready together keep definition order. With cycles, the
 * result is shorter than the graph: nodes in or after a cycle are missing.
 */
export function topologicalOrder(graph: Graph): Int32Array {
  const { start, edges } = graph.outgoing;
  const count = graph.ids.length;
  const order = new Int32Array(count);
  const waiting = new Int32Array(count);
  let tail = 0;
  for (let node = 0; node < count; node++) {
    waiting[node] = edgeCountAt(graph.incoming, node);
    if (waiting[node] === 0) order[tail++] = node;
  }
  for (let head = 0; head < tail; head++) {
    const node = order[head] ?? 0;
    const end = start[node + 1] ?? 0;
    for (let at = start[node] ?? 0; at < end; at++) {
      const next = graph.edgeTo[edges[at] ?? 0] ?? 0;
      const left = (waiting[next] ?? 0) - 1;
      waiting[next] = left;
      if (left === 0) order[tail++] = next;
    }
  }
  return order.subarray(0, tail);
}

/** The length of the longest path from an entry node to each node. `order` must be complete. */
export function nodeLevels(graph: Graph, order: Int32Array): Int32Array {
  const { start, edges } = graph.outgoing;
  const levels = new Int32Array(graph.ids.length);
  for (let position = 0; position < order.length; position++) {
    const node = order[position] ?? 0;
    const level = (levels[node] ?? 0) + 1;
    const end = start[node + 1] ?? 0;
    for (let at = start[node] ?? 0; at < end; at++) {
      const next = graph.edgeTo[edges[at] ?? 0] ?? 0;
      if ((levels[next] ?? 0) < level) levels[next] = level;
    }
  }
  return levels;
}

export function entryNodes(graph: Graph): number[] {
  return nodesWithout(graph, 'incoming');
}

export function endNodes(graph: Graph): number[] {
  return nodesWithout(graph, 'outgoing');
}

function nodesWithout(graph: Graph, side: 'incoming' | 'outgoing'): number[] {
  const found: number[] = [];
  for (let node = 0; node < graph.ids.length; node++) if (edgeCountAt(graph[side], node) === 0) found.push(node);
  return found;
}

/**
 * For each node, the weight of the heaviest path from it to an end node, including itself: the least remaining time.
 * Starting nodes with the greatest rank first keeps the critical path moving.
 */
export function criticalPathRanks(graph: Graph, order: Int32Array, weights: ArrayLike<number>): number[] {
  const { start, edges } = graph.outgoing;
  // Weights are nearly always small integers. From a Float64Array, each would be a number on the heap.
  const ranks: number[] = new Array(graph.ids.length).fill(0);
  for (let position = order.length - 1; position >= 0; position--) {
    const node = order[position] ?? 0;
    let longest = 0;
    const end = start[node + 1] ?? 0;
    for (let at = start[node] ?? 0; at < end; at++) {
      longest = Math.max(longest, ranks[graph.edgeTo[edges[at] ?? 0] ?? 0] ?? 0);
    }
    ranks[node] = longest + (weights[node] ?? 0);
  }
  return ranks;
}
