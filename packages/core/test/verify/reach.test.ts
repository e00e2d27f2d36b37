import { describe, expect, it } from 'vitest';
import { codes, problemTexts } from './verifying.ts';

describe('nodes that can never run', () => {
  it('[VER-2] those whose condition is always false', () => {
    expect(
      problemTexts(`nodes:
  a: { action: do, when: false }
  b: { action: do, when: 1 > 2 }
  c: { action: do, when: $input.x }
  d: { action: do, when: true }`),
    ).toEqual([
      "NEVER_RUNS nodes.a.when: 'a' can never run: its condition is always false",
      "NEVER_RUNS nodes.b.when: 'b' can never run: its condition is always false",
    ]);
  });

  it('[VER-3] those that nothing leads to, with all that is lost with them', () => {
    expect(
      problemTexts(`nodes:
  a: { action: do }
  b: { action: do }
  c: { action: do, needs: b }
  d: { action: do, needs: [c, b] }
  e: { action: do, needs: [c, a] }
edges: [{ from: a, to: b, when: false }]`),
    ).toEqual([
      "NEVER_RUNS edges.0.when: 'b' can never run: the condition of the edge from 'a' is always false; so 'c', 'd' can never run either",
    ]);
  });

  it('[VER-3] those behind a node that ends the run, but not where its failure leads', () => {
    expect(
      problemTexts(`nodes:
  end: { terminate: failed, with: { error: "{{ $input.why }}" } }
  after: { action: do, needs: end }
  later: { action: do, needs: after }
  broken: { action: do }
edges: [{ from: end, to: broken, on: error }]`),
    ).toEqual([
      "NEVER_RUNS nodes.after.needs.0: 'after' can never run: 'end' ends the run; so 'later' can never run either",
    ]);
  });

  it('[VER-3] not those that a failure may lead to', () => {
    expect(
      codes(`nodes:
  a: { action: do }
  b: { action: do, when: false, onError: ignore }
  c: { action: do, needs: b }
edges: [{ from: a, to: b, when: $a.x }]`),
    ).toEqual(['NEVER_RUNS nodes.b.when']);
  });

  it('[VER-8] the failure node of a workflow that cannot fail', () => {
    const flow = (config: string, more = ''): string[] =>
      codes(`config: { failureNode: last, ${config} }\nnodes: { a: { action: do }, last: { action: do } ${more} }`);
    expect(flow('onFailure: ignore')).toEqual(['NEVER_RUNS config.failureNode']);
    expect(flow('onFailure: finish-running')).toEqual([]);
    expect(flow('onFailure: ignore, timeout: 1h')).toEqual([]);
    expect(flow('onFailure: ignore', ', b: { action: do, onError: halt }')).toEqual([]);
    expect(flow('onFailure: ignore', ', b: { terminate: failed }')).toEqual([]);
  });

  it('[VER-9] except nodes that are disabled for a while, and their successors', () => {
    expect(
      codes(`nodes:
  a: { action: do, enabled: false }
  b: { action: do, needs: a }
  c: { action: do }
edges: [{ from: a, to: c, on: error }]`),
    ).toEqual([]);
  });
});

describe('edges that are never taken', () => {
  it('[VER-4] by their condition, their pattern, an empty list, or the end of the run', () => {
    expect(
      problemTexts(`nodes:
  a: { action: order }
  end: { terminate: completed }
  b: { action: do, needs: a, join: any }
edges:
  - { from: a, to: b, when: false }
  - { from: a, to: b, on: result, match: { state: lost } }
  - { from: a, to: b, on: result, match: { total: { lt: 0 } } }
  - { from: a, to: b, on: result, match: { nobody: 1 } }
  - { from: a, to: b, on: result, match: { total: { gt: 5, lt: 3 } } }
  - { from: a, to: b, on: error, match: { code: [] } }
  - { from: end, to: b }`),
    ).toEqual([
      "NEVER_TAKEN edges.0.when: the edge from 'a' to 'b' is never taken: the condition of the edge from 'a' is always false",
      ...[
        `1.match.state: the edge from 'a' to 'b' is never taken: the output of 'a' never matches, because 'state' is "open" or "paid", never "lost"`,
        `2.match.total.lt: the edge from 'a' to 'b' is never taken: the output of 'a' never matches, because 'total' is a number, at least 0, so { lt: 0 } is never true`,
        `3.match.nobody: the edge from 'a' to 'b' is never taken: the output of 'a' never matches, because it has no 'nobody'`,
        `4.match.total: the edge from 'a' to 'b' is never taken: the output of 'a' never matches, because no number matches {"gt":5,"lt":3}`,
      ].map((finding) => `NEVER_TAKEN edges.${finding}`),
      "NEVER_TAKEN edges.5.match: the edge from 'a' to 'b' is never taken: no error of 'a' matches an empty list",
      "NEVER_TAKEN edges.6: the edge from 'end' to 'b' is never taken: 'end' ends the run",
    ]);
  });

  it('[VER-75] a node that only follows a break never runs, except as a cleanup or where the break is off', () => {
    const loop = (nodes: string, edges = '[]'): string[] =>
      problemTexts(`nodes: { l: { forEach: { in: $input.list }, do: { nodes: { ${nodes} }, edges: ${edges} } } }`);
    const stop = 'stop: { action: do, when: $item, break: true }';
    expect(loop(`${stop}, b: { needs: stop, action: do }, c: { needs: b, action: do }`)).toEqual([
      "NEVER_RUNS nodes.l.do.nodes.b.needs.0: 'b' can never run: 'stop' ends the loop; so 'c' can never run either",
    ]);
    expect(loop(`${stop}, a: { action: do }, b: { needs: [stop, a], join: any, action: do }`)).toEqual([
      "NEVER_TAKEN nodes.l.do.nodes.b.needs.0: the edge from 'stop' to 'b' is never taken: 'stop' ends the loop",
    ]);
    expect(loop(`${stop}, b: { action: do }`, '[{ from: stop, to: b, on: always }]')).toEqual([]);
    expect(loop(`${stop.replace('break', 'enabled: false, break')}, b: { needs: stop, action: do }`)).toEqual([]);
  });

  it('[VER-4] not where the pattern may fit', () => {
    expect(
      codes(`nodes:
  a: { action: order }
  any: { action: do }
  free: { action: loose }
  b: { action: do, join: any }
edges:
  - { from: a, to: b, on: result, match: { state: paid } }
  - { from: a, to: b, on: result, match: { total: { gt: 3, lt: 5 } } }
  - { from: a, to: b, on: result, match: { id: { type: number } } }
  - { from: a, to: b, on: result, match: { note: null } }
  - { from: a, to: b, on: result, match: { nobody: { exists: false } } }
  - { from: a, to: b, on: result, match: { lines: { type: [array, 'null'] } } }
  - { from: any, to: b, on: result, match: { whatever: { regex: x } } }
  - { from: free, to: b, on: result, match: { state: lost } }`),
    ).toEqual([]);
  });
});

describe('patterns of edges', () => {
  it('[VER-62] point at the part that never fits, and at members that are probably mistyped', () => {
    const match = (pattern: string, action = 'order') =>
      problemTexts(`nodes: { a: { action: ${action} }, b: { action: do } }
edges: [{ from: a, to: b, on: result, match: ${pattern} }]`);
    expect(match('{ lines: none }')).toEqual([
      `NEVER_RUNS edges.0.match.lines: 'b' can never run: the output of 'a' never matches, because 'lines' is a list, never "none"`,
    ]);
    expect(match('{ id: { regex: x } }')).toEqual([
      `NEVER_RUNS edges.0.match.id.regex: 'b' can never run: the output of 'a' never matches, because 'id' is a whole number, so { regex: "x" } is never true`,
    ]);
    expect(match('{ state: { in: [open, lost] }, note: null, total: { gte: 0 } }')).toEqual([]);
    expect(match('{ stat: ok }', 'open')).toEqual([
      "UNDECLARED_FIELD edges.0.match.stat: the output of 'a' declares no 'stat'",
    ]);
    expect(match('{ other: 1, inner: { deep: 2 } }', 'open')).toEqual([]);
  });
});

describe('cases that are never taken', () => {
  const targets = 'a: { action: do }\n  b: { action: do }\n  c: { action: do }\n  d: { action: do }';

  it('[VER-5] after one that always fits, with a test that never holds, or the same test', () => {
    expect(
      problemTexts(`nodes:
  r:
    branch:
      cases:
        - { when: $input?.x, to: a }
        - { when: false, to: a }
        - { when: $input?.x, to: b }
        - { when: true, to: c }
        - { when: $input.y, to: d }
      default: d
  ${targets}`),
    ).toEqual([
      "NEVER_TAKEN nodes.r.branch.cases.1: this case of 'r' is never taken: its condition is always false",
      "NEVER_TAKEN nodes.r.branch.cases.2: this case of 'r' is never taken: an earlier case has the same test; so 'b' can never run either",
      "NEVER_TAKEN nodes.r.branch.cases.4: this case of 'r' is never taken: the 4th case always matches; so 'd' can never run either",
      "NEVER_TAKEN nodes.r.branch.default: the default of 'r' is never taken: the 4th case always matches",
    ]);
  });

  it('[VER-5] not where several may be taken', () => {
    expect(
      codes(`nodes:
  r:
    branch:
      many: true
      cases: [{ when: true, to: a }, { when: $input.x, to: b }, { when: $input.x, to: c }]
  ${targets}`),
    ).toEqual([]);
  });

  it('[VER-5] for a value or a pattern that the tested value never has', () => {
    expect(
      problemTexts(`nodes:
  o: { action: order }
  r: { needs: o, branch: { on: $o.state, cases: { open: a, lost: b } } }
  m: { needs: o, branch: { cases: [{ match: { state: paid }, to: c }, { match: { id: text }, to: d }] } }
  ${targets}`),
    ).toEqual([
      "NEVER_TAKEN nodes.r.branch.cases.lost: this case of 'r' is never taken: 'on' is one of open, paid; so 'b' can never run either",
      "NEVER_TAKEN nodes.m.branch.cases.1: this case of 'm' is never taken: the tested value never matches, because 'id' is a whole number, never \"text\"; so 'd' can never run either",
    ]);
  });

  it('[VER-6] a default that no value is left for', () => {
    expect(
      codes(`nodes:
  o: { action: order }
  r: { needs: o, branch: { on: $o.total > 5, cases: { true: a, false: b }, default: c } }
  s: { needs: o, branch: { on: $o.state, cases: { open: a, paid: b }, default: c } }
  t: { needs: o, branch: { on: $o?.state, cases: { open: a, paid: b }, default: c } }
  u: { needs: o, branch: { on: $o.total > 5, cases: { true: d }, default: c } }
  ${targets}`),
    ).toEqual(['NEVER_TAKEN nodes.r.branch.default', 'NEVER_TAKEN nodes.s.branch.default']);
  });

  it('[VER-60] a default may be taken because of a missing member, although the cases cover every value', () => {
    const total = (branch: string, more = '') =>
      codes(`${more}
nodes:
  r: { branch: ${branch} }
  ${targets}`);
    const seed = '{ on: $.order.total > 1000, cases: { true: a, false: b }, default: c }';
    expect(total(seed)).toEqual([]);
    const order = 'order: { type: object, properties: { total: { type: number } }';
    const input = (required: string) =>
      `input: { type: object, required: [order], properties: { ${order}${required} } } }`;
    expect(total(seed, input(''))).toEqual([]);
    expect(total(seed, input(', required: [total]'))).toEqual(['NEVER_TAKEN nodes.r.branch.default']);
    expect(total('{ cases: [{ when: $input.x, to: a }, { when: true, to: b }], default: c }')).toEqual([]);
    const late = 'cases: [{ when: true, to: a }, { when: $input.x, to: b }], default: c';
    expect(total(`{ many: true, ${late} }`)).toEqual([]);
    expect(total(`{ ${late} }`)).toHaveLength(2);
  });

  it('[VER-60] a default may be taken by a branch that did not decide, or whose node before has no output', () => {
    expect(
      codes(`nodes:
  o: { action: order, onError: ignore }
  q: { action: order }
  r: { needs: o, branch: { on: $o.total > 5, cases: { true: a, false: b }, default: c } }
  s: { needs: q, onError: ignore, branch: { on: $q.note > 5, cases: { true: a, false: b }, default: c } }
  t: { needs: [o, q], branch: { on: $q.total > 5, cases: { true: a, false: b }, default: d } }
  ${targets}`),
    ).toEqual([]);
  });
});

describe('joins that never fire', () => {
  it('[VER-7] because of edges that are never taken', () => {
    expect(
      problemTexts(`nodes:
  a: { action: do }
  b: { action: do }
  j: { action: do, needs: [a], join: 2 }
edges: [{ from: b, to: j, when: false }]`),
    ).toEqual([
      "JOIN_NEVER_FIRES nodes.j.join: 'j' can never run: it needs edges from 2 nodes, but only 1 can be taken",
    ]);
  });

  it('[VER-7] because of edges that exclude each other: success and error, cases of a branch, near or far', () => {
    expect(
      codes(`nodes:
  a: { action: do }
  r: { branch: { on: $input.x, cases: { 1: one, 2: two }, default: three } }
  one: { action: do }
  two: { action: do }
  far: { action: do, needs: two }
  three: { action: do }
  near: { action: do, needs: [one, two], join: 2 }
  wide: { action: do, needs: [one, far, three], join: 2 }
  ok: { action: do, needs: [one, two, three] }
  first: { action: do, needs: [one, two], join: any }
  other: { action: do, needs: [one, two, a], join: 2 }
  sorry: { action: do }
  both: { action: do, needs: [ok, sorry], join: 2 }
edges: [{ from: ok, to: sorry, on: error }]`),
    ).toEqual([
      'JOIN_NEVER_FIRES nodes.near.join',
      'JOIN_NEVER_FIRES nodes.wide.join',
      'JOIN_NEVER_FIRES nodes.both.join',
    ]);
  });

  it('[VER-7] not where the ways can be gone together', () => {
    expect(
      codes(`nodes:
  a: { action: do }
  b: { action: do }
  always: { action: do, needs: b, join: 2 }
  r: { branch: { many: true, cases: [{ when: $input.x, to: one }, { when: $input.y, to: two }] } }
  one: { action: do }
  two: { action: do }
  both: { action: do, needs: [one, two], join: 2 }
  s: { branch: { on: $input.z, cases: { 1: [three, four], 2: four } }, onError: ignore }
  three: { action: do }
  four: { action: do }
  same: { action: do, needs: [three, four], join: 2 }
edges: [{ from: a, to: always, on: always }]`),
    ).toEqual([]);
  });
});
