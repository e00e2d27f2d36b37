import { buildGraph, type Graph } from '../../src/graph/index.ts';

/** A graph of so many nodes, `n0` and on, with an edge for each pair. */
export function graphOf(count: number, pairs: Iterable<readonly [from: number, to: number]>): Graph {
  const lists: string[][] = Array.from({ length: count }, () => []);
  for (const [from, to] of pairs) lists[to]?.push(`n${from}`);
  return buildGraph({ nodes: Object.fromEntries(lists.map((needs, n) => [`n${n}`, { needs: [...new Set(needs)] }])) })
    .graph;
}
