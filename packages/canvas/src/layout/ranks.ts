/** The rank of each node: the length of the longest path to it. Edges that close a cycle count backwards. */

export interface Ranks {
  readonly rank: Int32Array;
  /** 1 for edges that close a cycle. */
  readonly isReversed: Uint8Array;
}

export function ranksOf(count: number, from: Int32Array, to: Int32Array): Ranks {
  const { isReversed, order } = topologicalOrder(count, from, to);
  const incoming = listsOf(count, from.length, (edge) => (isReversed[edge] === 1 ? from[edge]! : to[edge]!));
  const outgoing = listsOf(count, from.length, (edge) => (isReversed[edge] === 1 ? to[edge]! : from[edge]!));
  const other = (edge: number, node: number): number => (from[edge] === node ? to[edge]! : from[edge]!);
  const rank = new Int32Array(count);
  for (const node of order)
    for (const edge of incoming[node]!) rank[node] = Math.max(rank[node]!, rank[other(edge, node)]! + 1);
  // A node with more edges out than in stands beside its successors: the edges get shorter.
  for (let at = order.length - 1; at >= 0; at--) {
    const node = order[at]!;
    const next = outgoing[node]!;
    if (next.length <= incoming[node]!.length) continue;
    rank[node] = Math.min(...next.map((edge) => rank[other(edge, node)]! - 1));
  }
  const least = rank.reduce((a, b) => Math.min(a, b), Infinity);
  return { rank: compacted(rank.map((at) => at - least)), isReversed };
}

/** Ranks without gaps: every layer has a node. */
function compacted(rank: Int32Array): Int32Array {
  const used = [...new Set(rank)].sort((a, b) => a - b);
  const newRank = new Map(used.map((at, index) => [at, index]));
  return rank.map((at) => newRank.get(at)!);
}

/** Depth first, in the order of the nodes; an edge to a node that is still open closes a cycle. */
function topologicalOrder(count: number, from: Int32Array, to: Int32Array) {
  const outgoing = listsOf(count, from.length, (edge) => from[edge]!);
  const isReversed = new Uint8Array(from.length);
  const state = new Uint8Array(count); // 0: new, 1: open, 2: done
  const finished: number[] = [];
  const next = new Int32Array(count);
  for (let start = 0; start < count; start++) {
    if (state[start] !== 0) continue;
    const stack = [start];
    state[start] = 1;
    while (stack.length > 0) {
      const node = stack.at(-1)!;
      const edge = outgoing[node]![next[node]!++];
      if (edge === undefined) {
        state[node] = 2;
        finished.push(node);
        stack.pop();
      } else if (state[to[edge]!] === 1) isReversed[edge] = 1;
      else if (state[to[edge]!] === 0) {
        state[to[edge]!] = 1;
        stack.push(to[edge]!);
      }
    }
  }
  return { isReversed, order: finished.reverse() };
}

/** Edges by node. */
function listsOf(count: number, edges: number, nodeOf: (edge: number) => number): number[][] {
  const lists: number[][] = Array.from({ length: count }, () => []);
  for (let edge = 0; edge < edges; edge++) lists[nodeOf(edge)]!.push(edge);
  return lists;
}
