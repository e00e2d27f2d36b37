import { describe, expect, it } from 'vitest';
import { codes, problemsOf, problemTexts } from './verifying.ts';

describe('a join over alternatives', () => {
  const fallback = (more: string) => `nodes:
  try: { action: do }
  fallback: { action: do }
  next: { action: do, needs: [try, fallback]${more} }
edges: [{ from: try, to: fallback, on: error }]`;

  it('[VER-63] of which one is taken after a failure needs `join: any`', () => {
    expect(problemTexts(fallback(''))).toEqual([
      "JOIN_WANTS_ANY nodes.next.needs.1: 'next' never runs after a failure of 'try', so the edge from 'fallback' has no effect: in that case the edge from 'try' is dead by failure, which join: all does not tolerate",
    ]);
    expect(problemsOf(fallback(''))[0]).toMatchObject({
      severity: 'warning',
      hint: "set join: any on 'next' to continue after the first success, or remove the edge from 'fallback'",
      range: { line: 5, column: 36, length: 8 },
    });
    expect(codes(fallback(', join: any'))).toEqual([]);
  });

  it('[VER-70] with `join: ended` runs in any case, and so may its successors', () => {
    const graph = (join: string) =>
      codes(`nodes:
  never: { action: do, when: "false" }
  clean: { action: do, needs: never${join} }
  after: { action: do, needs: clean }`);
    expect(graph('')).toEqual(['NEVER_RUNS nodes.never.when']);
    expect(graph(', join: ended')).toEqual(['NEVER_RUNS nodes.never.when']);
    expect(
      problemTexts(`nodes:
  never: { action: do, when: "false" }
  clean: { action: do, needs: never, join: ended }
  after: { action: do, needs: clean }`)[0],
    ).not.toContain('after');
    expect(codes(fallback(', join: ended'))).toEqual([]);
  });

  it('[VER-63] also further down, on both ways', () => {
    const ways = (join: string) =>
      codes(`nodes:
  try: { action: do }
  good: { action: do, needs: try }
  better: { action: do, needs: good }
  mend: { action: do }
  mended: { action: do, needs: mend }
  next: { action: do, needs: [better, mended]${join} }
edges: [{ from: try, to: mend, on: error, match: { code: GONE } }]`);
    expect(ways('')).toEqual(['JOIN_WANTS_ANY nodes.next.needs.1']);
    expect(ways(', join: any')).toEqual([]);
  });

  it('[VER-63] that are all taken after failures of each other never fires', () => {
    const both = (join: string) =>
      problemTexts(`nodes:
  a: { action: do }
  b: { action: do, needs: a }
  mend: { action: do }
  after: { action: do, needs: b }
  next: { action: do, needs: [mend]${join} }
edges:
  - { from: b, to: mend, on: error }
  - { from: after, to: next, when: false }`);
    expect(both('')).toEqual([
      "JOIN_NEVER_FIRES nodes.next: 'next' can never run: whenever its edge from 'mend' is taken, the edge from 'after' is dead by failure",
    ]);
    expect(both(', join: any')).toEqual([
      "NEVER_TAKEN edges.1.when: the edge from 'after' to 'next' is never taken: the condition of the edge from 'after' is always false",
    ]);
  });

  it('[VER-63] by choice is what all is for', () => {
    expect(
      codes(`nodes:
  route: { branch: { on: $input.x, cases: { a: a, b: b }, default: c } }
  a: { action: do }
  b: { action: do }
  c: { action: do, when: $input.y }
  end: { action: do, needs: [a, b, c] }`),
    ).toEqual([]);
    expect(
      codes(
        `nodes: { try: { action: do, onError: ignore }, next: { action: do, needs: try }, end: { action: do, needs: [try, next] } }`,
      ),
    ).toEqual([]);
  });

  it('[VER-63] where one source takes either way is none', () => {
    expect(
      codes(`nodes: { try: { action: do }, next: { action: do, needs: try } }
edges: [{ from: try, to: next, on: error }]`),
    ).toEqual([]);
    expect(
      codes(`nodes: { a: { action: do }, b: { action: do }, tell: { action: do } }
edges:
  - { from: a, to: tell, on: error }
  - { from: b, to: tell, on: error }`),
    ).toEqual([]);
  });
});

describe('always', () => {
  it('[VER-64] has no effect beside an edge that the same failure makes dead', () => {
    const cleanup = (second: string) =>
      problemTexts(`nodes: { make: { action: do }, use: { action: do, needs: make }, drop: { action: do } }
edges:
  - { from: make, to: drop, on: always }
  - { from: use, to: drop${second} }`);
    expect(cleanup('')).toEqual([
      "ALWAYS_BLOCKED edges.0: 'drop' never runs after a failure of 'make', although its edge from there is an always edge: in that case the edge from 'use' is dead by failure, which join: all does not tolerate",
    ]);
    expect(cleanup(', on: always')).toEqual([]);
  });

  it('[VER-4] is taken after a node that ends the run', () => {
    expect(
      codes(`nodes: { end: { terminate: completed }, tidy: { action: do }, never: { action: do, needs: end } }
edges: [{ from: end, to: tidy, on: always }]`),
    ).toEqual(['NEVER_RUNS nodes.never.needs.0']);
  });
});
