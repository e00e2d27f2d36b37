import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildGraph,
  checkGraph,
  criticalPathRanks,
  findCycles,
  type Graph,
  nodeLevels,
  Reachability,
  topologicalOrder,
} from '../../src/graph/index.ts';
import { cpuMs } from '../definition/reading.ts';

function graphOf(count: number, pairs: Iterable<readonly [from: number, to: number]>): Graph {
  const lists: string[][] = Array.from({ length: count }, () => []);
  for (const [from, to] of pairs) lists[to]?.push(`n${from}`);
  return buildGraph({ nodes: Object.fromEntries(lists.map((needs, n) => [`n${n}`, { needs: [...new Set(needs)] }])) })
    .graph;
}

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
      { numRuns: 500 },
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
      { numRuns: 500 },
    );
  });
});

describe('at scale', () => {
  const COUNT = 100_000;
  /** Reproducible and evenly spread, without a random generator. */
  const spread = (n: number, range: number): number => ((n * 2_654_435_761) % 4_294_967_296) % range;
  const chain = function* (): Generator<[number, number]> {
    for (let n = 1; n < COUNT; n++) yield [n - 1, n];
  };
  const fan = function* (): Generator<[number, number]> {
    for (let n = 1; n < COUNT - 1; n++) {
      yield [0, n];
      yield [n, COUNT - 1];
    }
  };
  const web = function* (): Generator<[number, number]> {
    for (let n = 1; n < COUNT; n++) for (let k = 0; k < 5; k++) yield [spread(n * 5 + k, n), n];
  };

  it.each([
    ['a chain', chain],
    ['a fan', fan],
    ['a web of half a million edges', web],
  ])('[GRA-13] %s of 100,000 nodes', { timeout: 120_000 }, (_, edges) => {
    const started = cpuMs();
    const graph = graphOf(COUNT, edges());
    const order = topologicalOrder(graph);
    expect(order.length).toBe(COUNT);
    expect(nodeLevels(graph, order).length).toBe(COUNT);
    expect(criticalPathRanks(graph, order, new Float64Array(COUNT).fill(1))[0]).toBeGreaterThan(2);
    expect(checkGraph(graph, {})).toEqual([]);
    expect(findCycles(graph).cycles).toEqual([]);
    const reachability = new Reachability(graph, order);
    // As references are: mostly near, sometimes the far end.
    let upstream = 0;
    for (let n = 1; n < COUNT; n++) {
      if (reachability.isUpstream(0, n)) upstream++;
      reachability.isUpstream(spread(n, n), n);
    }
    expect(upstream).toBeGreaterThan(COUNT / 2);
    // At most 3.5 s of CPU time, for the web; much more would not be linear.
    expect(cpuMs() - started).toBeLessThan(15_000);
  });

  it('[GRA-13] a ring of 100,000 nodes is one cycle', { timeout: 120_000 }, () => {
    const graph = graphOf(COUNT, [...chain(), [COUNT - 1, 0]]);
    expect(findCycles(graph).cycles[0]).toHaveLength(COUNT);
    expect(checkGraph(graph, {}).map(({ code }) => code)).toEqual(['CYCLE']);
  });
});
