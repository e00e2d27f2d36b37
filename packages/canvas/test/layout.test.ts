import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LayoutInput, type LayoutResult, layout } from '../src/layout/index.ts';

/** Random graphs with nested groups: edges lead from lower to higher numbers within a scope. */
const graphs = fc
  .record({
    parents: fc.array(fc.nat(), { minLength: 1, maxLength: 40 }),
    edges: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 60 }),
    isDown: fc.boolean(),
  })
  .map(({ parents, edges, isDown }): LayoutInput => {
    const parent = parents.map((seed, node) => (seed % 3 === 0 || node === 0 ? -1 : seed % node));
    const pairs = edges
      .map(([a, b]) => [a % parent.length, b % parent.length] as const)
      .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
      .filter(([a, b]) => a !== b && parent[a] === parent[b]);
    return {
      direction: isDown ? 'down' : 'right',
      parent: Int32Array.from(parent),
      width: new Float64Array(parent.length).fill(184),
      height: new Float64Array(parent.length).fill(52),
      edgeFrom: Int32Array.from(pairs, ([a]) => a),
      edgeTo: Int32Array.from(pairs, ([, b]) => b),
    };
  });

/** A chain of nodes in one scope, and more edges. */
function flat(
  count: number,
  edges: readonly (readonly [number, number])[],
  direction: 'right' | 'down' = 'right',
): LayoutInput {
  return {
    direction,
    parent: new Int32Array(count).fill(-1),
    width: new Float64Array(count).fill(184),
    height: new Float64Array(count).fill(52),
    edgeFrom: Int32Array.from(edges, ([from]) => from),
    edgeTo: Int32Array.from(edges, ([, to]) => to),
  };
}

function overlaps(a: number, b: number, { x, y, width, height }: LayoutResult): boolean {
  const isBeside = x[a]! + width[a]! <= x[b]! || x[b]! + width[b]! <= x[a]!;
  const isAbove = y[a]! + height[a]! <= y[b]! || y[b]! + height[b]! <= y[a]!;
  return !isBeside && !isAbove;
}

describe('layout', () => {
  it('[CNV-1] separates the nodes of a scope and keeps them in their group', () => {
    fc.assert(
      fc.property(graphs, (input) => {
        const placed = layout(input);
        const { x, y, width, height } = placed;
        expect(Math.min(...x)).toBe(0);
        expect(Math.min(...y)).toBeGreaterThanOrEqual(0);
        input.parent.forEach((group, node) => {
          for (let other = 0; other < node; other++) {
            if (input.parent[other] === group) expect(overlaps(node, other, placed)).toBe(false);
          }
          if (group < 0) return;
          expect(x[node]!).toBeGreaterThanOrEqual(x[group]!);
          expect(y[node]!).toBeGreaterThanOrEqual(y[group]!);
          expect(x[node]! + width[node]!).toBeLessThanOrEqual(x[group]! + width[group]!);
          expect(y[node]! + height[node]!).toBeLessThanOrEqual(y[group]! + height[group]!);
        });
      }),
    );
  });

  it('[CNV-2] leads edges forward', () => {
    fc.assert(
      fc.property(graphs, (input) => {
        const { x, y, width, height } = layout(input);
        const [at, size] = input.direction === 'right' ? [x, width] : [y, height];
        input.edgeFrom.forEach((from, edge) => {
          expect(at[from]! + size[from]!).toBeLessThan(at[input.edgeTo[edge]!]!);
        });
      }),
    );
  });

  it('[CNV-2] leads one edge of a cycle back', () => {
    const { x } = layout(
      flat(3, [
        [0, 1],
        [1, 2],
        [2, 0],
      ]),
    );
    expect([...x]).toEqual([...x].toSorted((a, b) => a - b));
    expect(new Set(x).size).toBe(3);
  });

  it('[CNV-3] is deterministic, and the direction exchanges the axes', () => {
    fc.assert(
      fc.property(graphs, (input) => {
        expect(layout(input)).toEqual(layout(input));
      }),
      { numRuns: 20 },
    );
    const square = { width: new Float64Array(4).fill(50), height: new Float64Array(4).fill(50) };
    const edges = [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 3],
    ] as const;
    const right = layout({ ...flat(4, edges), ...square });
    const down = layout({ ...flat(4, edges, 'down'), ...square });
    expect([...down.x]).toEqual([...right.y]);
    expect([...down.y]).toEqual([...right.x]);
  });

  it('[CNV-4] leads long edges between the nodes', () => {
    fc.assert(
      fc.property(graphs, (input) => {
        const { x, y, width, height, bends, bendStart } = layout(input);
        input.edgeFrom.forEach((from, edge) => {
          for (let at = bendStart[edge]!; at < bendStart[edge + 1]!; at++) {
            const [bendX, bendY] = [bends[2 * at]!, bends[2 * at + 1]!];
            input.parent.forEach((group, node) => {
              if (group !== input.parent[from]) return;
              const isInside =
                bendX > x[node]! &&
                bendX < x[node]! + width[node]! &&
                bendY > y[node]! &&
                bendY < y[node]! + height[node]!;
              expect(isInside).toBe(false);
            });
          }
        });
      }),
    );
    const { bendStart } = layout(
      flat(4, [
        [0, 1],
        [1, 2],
        [2, 3],
        [0, 3],
      ]),
    );
    expect([...bendStart]).toEqual([0, 0, 0, 0, 4]);
  });

  it('[CNV-5] packs separate parts into rows', () => {
    const { x, y, width, height } = layout(flat(100, []));
    const [right, bottom] = [Math.max(...x) + width[0]!, Math.max(...y) + height[0]!];
    expect(right / bottom).toBeGreaterThan(1);
    expect(right / bottom).toBeLessThan(3);
  });

  it('[CNV-2] places 10,000 nodes with 20,000 edges', () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const edges = Array.from({ length: 20_000 }, () => {
      const to = 1 + random(9_999);
      return [Math.max(0, to - 1 - random(200)), to] as const;
    });
    const { x, width } = layout(flat(10_000, edges));
    for (const [from, to] of edges) expect(x[from]! + width[from]!).toBeLessThan(x[to]!);
  });
});
