import { describe, expect, it } from 'vitest';
import {
  checkGraph,
  criticalPathRanks,
  findCycles,
  nodeLevels,
  Reachability,
  topologicalOrder,
} from '../../src/graph/index.ts';
import { cpuMs } from '../definition/reading.ts';
import { graphOf } from './graph-of.ts';

describe('large graphs', () => {
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
    // Queries resemble references: mostly near, sometimes far.
    let upstream = 0;
    for (let n = 1; n < COUNT; n++) {
      // Each block of 128 targets costs one pass: every fourth shows as much as all of them.
      if (n % 512 >= 128) continue;
      if (reachability.isUpstream(0, n)) upstream++;
      reachability.isUpstream(spread(n, n), n);
    }
    expect(upstream).toBeGreaterThan(COUNT / 8);
    // All four tests together took 6.9 s of CPU time on a busy machine; much more would not be linear.
    expect(cpuMs() - started).toBeLessThan(15_000);
  });

  it('[GRA-13] a ring of 100,000 nodes is one cycle', { timeout: 120_000 }, () => {
    const graph = graphOf(COUNT, [...chain(), [COUNT - 1, 0]]);
    expect(findCycles(graph).cycles[0]).toHaveLength(COUNT);
    expect(checkGraph(graph, {}).map(({ code }) => code)).toEqual(['CYCLE']);
  });
});
