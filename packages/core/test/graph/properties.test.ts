import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCycles, type Graph, Reachability, topologicalOrder } from '../../src/graph/index.ts';
import { graphOf } from './graph-of.ts';

const pairs = (max: number) => fc.array(fc.tuple(fc.nat(max - 1), fc.nat(max - 1)), { maxLength: max * 3 });

/** Every pair, by the plainest way there is. */
function closure(graph: Graph): boolean[][] {
  const count = graph.ids.length;
  const reach = Array.from({ length: count }, () => new Array<boolean>(count).fill(false));
  graph.edgeFrom.forEach((from, edge) => {
    (reach[from] as boolean[])[graph.edgeTo[edge] as number] = true;
  });
  for (let k = 0; k < count; k++) {
    for (let i = 0; i < count; i++) {
      if (!reach[i]?.[k]) continue;
      for (let j = 0; j < count; j++) if (reach[k]?.[j]) (reach[i] as boolean[])[j] = true;
    }
  }
  return reach;
}

describe('against the plainest algorithms', () => {
  it('[GRA-10] isUpstream is the transitive closure', () => {
    fc.assert(
      fc.property(pairs(14), (list) => {
        const graph = graphOf(
          14,
          list.filter(([from, to]) => from < to),
        );
        const reachability = new Reachability(graph, topologicalOrder(graph));
        const expected = closure(graph);
        const found = expected.map((row, a) => row.map((_, b) => reachability.isUpstream(a, b)));
        expect(JSON.stringify(found)).toBe(JSON.stringify(expected));
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
    );
  });

  it('[GRA-5] [GRA-7] there is an order or a cycle, and the cycle is one', () => {
    fc.assert(
      fc.property(pairs(10), (list) => {
        const graph = graphOf(10, list);
        const order = topologicalOrder(graph);
        const { cycles, cyclic } = findCycles(graph);
        expect(order.length === 10).toBe(cycles.length === 0);
        const reach = closure(graph);
        expect([...cyclic].map(Boolean)).toEqual(graph.ids.map((_, node) => reach[node]?.[node]));
        for (const cycle of cycles) {
          const nexts = cycle.map((_, position) => cycle[(position + 1) % cycle.length] as number);
          expect(cycle.map((edge) => graph.edgeTo[edge])).toEqual(nexts.map((next) => graph.edgeFrom[next]));
          expect(new Set(cycle.map((edge) => graph.edgeFrom[edge])).size).toBe(cycle.length);
        }
        const place = new Map(Array.from(order, (node, position) => [node, position]));
        const backward = [...graph.edgeFrom.keys()].filter((edge) => {
          const to = place.get(graph.edgeTo[edge] as number);
          return to !== undefined && !((place.get(graph.edgeFrom[edge] as number) ?? Number.NaN) < to);
        });
        expect(backward).toEqual([]);
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 500) },
    );
  });
});
