import { expect, test } from 'vitest';
import { type Arrow, impliedNeeds } from '../src/workflow/implied-needs.ts';

/** A generator that gives the same numbers for the same seed. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

function reaches(edges: readonly (readonly [string, string])[], from: string, to: string): boolean {
  const found = new Set([from]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const [a, b] of edges) if (found.has(a)) found.add(b);
  }
  return found.has(to);
}

test('[SDK-14] in any graph: reads come before, and no edge is redundant', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const next = numbersFrom(seed);
    const ids = Array.from({ length: 2 + next(8) }, (_, index) => `n${index}`);
    // A hidden order in which all edges lead forward; the nodes are listed in another.
    const hidden = ids.toSorted(() => next(3) - 1);
    const pair = (): readonly [string, string] => {
      const to = 1 + next(hidden.length - 1);
      return [hidden[next(to)] as string, hidden[to] as string];
    };
    const arrows: Arrow[] = Array.from({ length: next(6) }, pair).map(([from, to]) => ({ from, to, isPlain: true }));
    const reads = new Map(ids.map((id) => [id, new Set<string>()]));
    for (const [read, reader] of Array.from({ length: next(12) }, pair)) reads.get(reader)?.add(read);

    const { needs, unclear } = impliedNeeds(ids, arrows, reads);
    expect(unclear).toEqual([]);
    const written = arrows.map(({ from, to }) => [from, to] as const);
    const added = [...needs].flatMap(([to, list]) => list.map((from) => [from, to] as const));
    for (const [reader, list] of reads) {
      for (const read of list) expect(reaches([...written, ...added], read, reader), `seed ${seed}`).toBe(true);
    }
    for (const edge of added) {
      const others = [...written, ...added.filter((other) => other !== edge)];
      expect(reaches(others, ...edge), `seed ${seed}: ${edge.join(' → ')}`).toBe(false);
    }
  }
});

test('[SDK-14] a circle is left to the reader of definitions', () => {
  const reads = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['a'])],
  ]);
  expect([...impliedNeeds(['a', 'b'], [], reads).needs.values()].flat().length).toBeGreaterThan(0);
});
