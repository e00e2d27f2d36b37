import { describe, expect, it } from 'vitest';
import { codes, found, problemsIn, problemsOf } from './verifying.ts';

describe('loops', () => {
  const loop = (condition: string, body: string, more = ''): string[] =>
    codes(`variables: { go: true, n: 0 }
nodes:
  first: { action: do }
  loop: { needs: first, while: { condition: "${condition}" }, do: { nodes: { ${body} } } }
  read: { action: do, with: { x: "{{ [$vars.go, $vars.n] }}" } }
  ${more}`).filter((one) => one.startsWith('ENDLESS_LOOP'));

  it('[VER-10] whose condition reads nothing that changes have no end', () => {
    const endless = ['ENDLESS_LOOP nodes.loop.while.condition'];
    expect(loop('true', 'a: { action: do }')).toEqual(endless);
    expect(loop('$first.more', 'a: { action: do }')).toEqual(endless);
    expect(loop('$vars.go', 'a: { action: do }')).toEqual(endless);
    expect(loop('$vars.go', 'a: { set: { n: 1 } }')).toEqual(endless);
    expect(loop('$vars.go', 'a: { action: do }', 'after: { needs: loop, set: { go: false } }')).toEqual(endless);
  });

  it('[VER-10] that something may end are none of these', () => {
    expect(loop('$index < 5', 'a: { action: do }')).toEqual([]);
    expect(loop('$self.output ?? true', 'a: { action: do }')).toEqual([]);
    expect(loop('$vars.go', 'a: { set: { go: false } }')).toEqual([]);
    expect(
      loop(
        '$vars.go',
        'a: { action: do }',
        'beside: { wait: { signal: stop } }\n  stop: { needs: beside, set: { go: false } }',
      ),
    ).toEqual([]);
    expect(loop('true', 'a: { action: do, when: $index > 3, break: true }')).toEqual([]);
    expect(loop('true', 'a: { action: do }, b: { needs: a, when: $a, terminate: completed }')).toEqual([]);
    expect(loop('$vars.go', 'a: { dynamic: { action: do } }')).toEqual([]);
  });

  it('[VER-13] that never begin are told', () => {
    expect(codes('nodes: { l: { while: { condition: 1 > 2 }, do: { nodes: { a: { action: do } } } } }')).toEqual([
      'NEVER_RUNS nodes.l.while.condition',
    ]);
    expect(codes('nodes: { l: { forEach: { in: [] }, do: { nodes: { a: { action: do } } } } }')).toEqual([
      'NEVER_RUNS nodes.l.forEach.in',
    ]);
    expect(codes('nodes: { s: { split: { in: [] } }, m: { needs: s, merge: {} } }')).toEqual([
      'NEVER_RUNS nodes.s.split.in',
    ]);
  });

  it('[VER-11] to which every round adds items have no end', () => {
    const each = (node: string): string[] =>
      codes(`nodes: { each: { forEach: { in: [1] }, do: { nodes: { a: { action: do, ${node} } } } } }`);
    expect(each('emit: [1]')).toEqual(['ENDLESS_LOOP nodes.each.do.nodes.a.emit']);
    expect(each('emit: "[$item]"')).toEqual(['ENDLESS_LOOP nodes.each.do.nodes.a.emit']);
    expect(each('emit: ["{{ $item }}"]')).toEqual(['ENDLESS_LOOP nodes.each.do.nodes.a.emit']);
    expect(each('emit: "[...$self.output]"')).toEqual([]);
    expect(each('emit: []')).toEqual([]);
    expect(each('emit: $self.output.more')).toEqual([]);
    expect(each('emit: [1], when: $index < 5')).toEqual([]);
    expect(each('emit: [1], break: true')).toEqual([]);
  });
});

describe('keys', () => {
  it('[VER-14] that are held round what waits for them are a deadlock', () => {
    const key = 'concurrency: { key: k }';
    const found14 = ['SELF_DEADLOCK nodes.l.concurrency.key'];
    const around = (inner: string, more = ''): string[] =>
      codes(`nodes: { l: { ${key}, forEach: { in: [1] }, do: { nodes: { x: { action: do, ${inner} } } } } ${more} }`);
    expect(around(key)).toEqual(found14);
    expect(around('concurrency: { key: other }')).toEqual([]);
    expect(around('concurrency: { key: k, limit: 2 }')).toEqual([]);
    expect(around('concurrency: { key: "{{ $input.k }}" }')).toEqual([]);
    expect(around(`${key}, enabled: false`)).toEqual([]);
    expect(codes(`nodes: { a: { action: do, ${key} }, b: { action: do, ${key}, needs: a } }`)).toEqual([]);
    const kid = {
      kid: `nodes: { w: { while: { condition: $index < 2 }, do: { nodes: { a: { action: do, ${key} } } } } }`,
    };
    for (const mode of ['inline', 'child']) {
      expect(codes(`nodes: { l: { ${key}, workflow: { id: kid, mode: ${mode} } } }`, kid)).toEqual(found14);
    }
    const twice = { outer: 'nodes: { k: { workflow: { id: kid, mode: child } } }', ...kid };
    expect(found(`nodes: { l: { ${key}, workflow: { id: outer, mode: child } } }`, twice)).toEqual([
      "SELF_DEADLOCK nodes.l.concurrency.key: 'l' holds the key 'k' while 'a' of the workflow 'kid' of the workflow 'outer' inside it waits for it, so neither can go on",
    ]);
    const round = { round: 'nodes: { k: { workflow: { id: round, mode: child } } }' };
    expect(codes(`nodes: { l: { ${key}, workflow: { id: round, mode: child } } }`, round)).toEqual([]);
  });
});

describe('time', () => {
  it('[VER-12] is limited for what calls over the network', () => {
    expect(codes('nodes: { a: { action: call } }')).toEqual(['NO_TIMEOUT nodes.a.action']);
    expect(codes('nodes: { a: { dynamic: { action: call } } }')).toEqual(['NO_TIMEOUT nodes.a.dynamic.action']);
    expect(codes('nodes: { a: { action: call, timeout: { queued: 5s } } }')).toEqual(['NO_TIMEOUT nodes.a.action']);
    expect(codes('config: { timeout: 1h }\nnodes: { a: { action: do, compensate: { action: call } } }')).toEqual([
      'NO_TIMEOUT nodes.a.compensate.action',
    ]);
  });

  it('[VER-12] by the parameters, the action, the node, a node around it, or the workflow', () => {
    expect(codes('nodes: { a: { action: call, with: { timeout: 5s } } }')).toEqual([]);
    expect(codes('nodes: { a: { action: bounded } }')).toEqual([]);
    expect(codes('nodes: { a: { action: call, timeout: 5s } }')).toEqual([]);
    expect(codes('nodes: { a: { action: call, timeout: { total: 5s } } }')).toEqual([]);
    expect(codes('config: { timeout: 1h }\nnodes: { a: { action: call } }')).toEqual([]);
    expect(
      codes('nodes: { each: { timeout: 1m, forEach: { in: [1] }, do: { nodes: { a: { action: call } } } } }'),
    ).toEqual([]);
    expect(codes('nodes: { a: { action: do, compensate: { action: call, timeout: 5s } } }')).toEqual([]);
  });
});

describe('effects', () => {
  const saga = (node: string, more = ''): string[] =>
    codes(`nodes:
  book: { action: pay, compensate: { action: do } }
  send: { needs: book, ${node} }
  ${more}`);

  it('[VER-30] that are done once and never undone are told where something can fail later', () => {
    const last = 'last: { needs: send, action: do }';
    expect(saga('action: pay', last)).toEqual(['NEVER_UNDONE nodes.send']);
    expect(saga('action: pay', 'beside: { action: do }')).toEqual(['NEVER_UNDONE nodes.send']);
    expect(saga('action: do, effect: once', last)).toEqual(['NEVER_UNDONE nodes.send']);
    expect(
      codes(`nodes:
  book: { action: pay, compensate: { action: do } }
  each: { needs: book, forEach: { in: [1, 2] }, do: { nodes: { send: { action: pay } } } }`),
    ).toEqual(['NEVER_UNDONE nodes.each.do.nodes.send']);
  });

  it('[VER-30] not where nothing follows, a repeat does no harm, or the action can verify', () => {
    const last = 'last: { needs: send, action: do }';
    expect(saga('action: pay')).toEqual([]);
    expect(saga('action: pay', 'sorry: { action: do }\nedges: [{ from: send, to: sorry, on: error }]')).toEqual([]);
    expect(saga('action: sure', last)).toEqual([]);
    expect(saga('action: do', last)).toEqual([]);
    expect(saga('action: pay, effect: pure', last)).toEqual([]);
    expect(codes('nodes: { a: { action: pay }, b: { needs: a, action: do } }')).toEqual([]);
  });

  it('[VER-30] that depend on the parameters are known where these are written out', () => {
    const last = 'last: { needs: send, action: do }';
    expect(saga('action: ask, with: { method: POST, body: "{{ $book }}" }', last)).toEqual(['NEVER_UNDONE nodes.send']);
    expect(saga('action: ask, with: { method: GET }', last)).toEqual([]);
    expect(saga('action: ask, with: { method: "{{ $book.method }}" }', last)).toEqual([]);
  });

  it('[VER-31] of a pure action cannot be undone', () => {
    expect(codes('nodes: { a: { action: look, compensate: { action: do } } }')).toEqual([
      'NOTHING_TO_UNDO nodes.a.compensate',
    ]);
    expect(codes('nodes: { a: { action: look, effect: once, compensate: { action: do } } }')).toEqual([]);
  });
});

describe('variables', () => {
  it('[VER-40] that nothing reads are told', () => {
    expect(
      codes(`variables: { used: 1, idle: 2, lost: 0 }
nodes:
  a: { set: { kept: 1, lost: 2, outer: 3 } }
  b: { needs: a, action: do, with: { x: "{{ $vars.used + $vars.kept }}" } }`),
    ).toEqual(['UNUSED_VARIABLE variables.idle', 'UNUSED_VARIABLE variables.lost']);
  });

  it('[VER-40] not where the output of the set, all variables, or others in their stead may read them', () => {
    expect(codes('nodes: { a: { set: { x: 1 } } }')).toEqual([]);
    expect(codes('nodes: { a: { set: { x: 1 } }, b: { needs: a, action: do, with: { y: "{{ $a.x }}" } } }')).toEqual(
      [],
    );
    expect(codes('variables: { x: 1 }\nnodes: { a: { action: do, with: { y: "{{ $vars }}" } } }')).toEqual([]);
    expect(codes('variables: { x: 1 }\nnodes: { a: { dynamic: { action: do } } }')).toEqual([]);
    expect(
      codes('variables: { x: 1 }\nnodes: { a: { workflow: { id: other, isolation: shared } } }', {
        other: 'nodes: { a: { action: do } }',
      }),
    ).toEqual([]);
  });

  it('[VER-41] that are read before they are set are told', () => {
    expect(
      found(`nodes:
  early: { action: do, with: { x: "{{ $vars.n }}", y: "{{ $vars.n ?? 0 }}" } }
  set: { needs: early, set: { n: 1 } }
  late: { needs: set, action: do, when: $vars.n > 0 }
  beside: { action: do, with: { x: "{{ $vars.n }}" } }
output: "{{ $vars.n }}"`),
    ).toEqual([
      "UNSET_VARIABLE nodes.early.with.x: nothing sets the variable 'n' before it is read here",
      "UNSET_VARIABLE nodes.beside.with.x: nothing sets the variable 'n' before it is read here",
    ]);
  });

  it('[VER-41] not in loops, after bodies that set them, nor in the failure node', () => {
    expect(
      codes(`config: { failureNode: last }
nodes:
  each: { forEach: { in: [1] }, do: { nodes: { r: { action: do, when: $index > 0 && $vars.n > 0 }, s: { needs: r, set: { n: 1 } } } } }
  after: { needs: each, action: do, with: { x: "{{ $vars.n }}" } }
  last: { action: do, with: { x: "{{ $vars.n }}" } }`),
    ).toEqual([]);
  });

  it('[VER-42] of a workflow inside that shares them are known after it', () => {
    const inner = 'variables: { total: 0 }\nnodes: { a: { set: { seen: true, total: 1 } } }';
    const outer = (isolation: string, needs: string): string[] =>
      codes(
        `nodes:
  in: { workflow: { id: inner, isolation: ${isolation} } }
  b: { ${needs} action: do, with: { x: "{{ $vars.total }}", y: "{{ $vars.seen }}" } }`,
        { inner },
      );
    expect(outer('shared', 'needs: in,')).toEqual([]);
    expect(outer('shared', '')).toEqual(['UNSET_VARIABLE nodes.b.with.x', 'UNSET_VARIABLE nodes.b.with.y']);
    expect(outer('isolated', 'needs: in,')).toEqual([
      'UNKNOWN_VARIABLE nodes.b.with.x',
      'UNKNOWN_VARIABLE nodes.b.with.y',
    ]);
  });
});

describe('findings', () => {
  it('[VER-51] are found in time in graphs of any size', { timeout: 120_000 }, () => {
    const count = 20_000;
    const nodes: Record<string, object> = {};
    for (let at = 0; at < count; at++) {
      const needs = at === 0 ? [] : [`n${at - 1}`, ...(at % 7 === 0 ? [`n${at >> 1}`] : [])];
      nodes[`n${at}`] = { action: 'do', needs, ...(at % 5 === 0 ? { when: '$input.x' } : {}) };
    }
    nodes.fan = { action: 'do', join: 3 };
    const edges = Array.from({ length: count }, (_, at) => ({
      from: `n${at}`,
      to: 'fan',
      on: at % 2 === 0 ? 'error' : 'result',
      ...(at % 2 === 0 ? {} : { match: { ok: true } }),
    }));
    const started = process.cpuUsage().user;
    expect(problemsIn({ id: 'test', nodes, edges })).toEqual([]);
    expect(process.cpuUsage().user - started).toBeLessThan(60_000_000);
  });

  it('[VER-52] are told only where they are asked for', () => {
    const definition = { id: 'test', nodes: { a: { action: 'do', when: false } } };
    expect(problemsIn(definition)).toEqual(['NEVER_RUNS']);
    expect(problemsIn(definition, false)).toEqual([]);
  });

  it('[VER-50] have a code, a message, a hint and a place', () => {
    const problems = problemsOf(`variables: { idle: 1 }
config: { failureNode: z, onFailure: ignore }
nodes:
  a: { action: call, when: false }
  b: { needs: a, action: pay }
  c: { action: look, compensate: { action: do } }
  d: { while: { condition: true }, do: { nodes: { x: { action: do, when: $vars.later } } } }
  e: { needs: c, set: { later: true } }
  r: { branch: { cases: [{ when: true, to: s }], default: t } }
  s: { action: do }
  t: { action: do }
  j: { needs: [s, t], join: 2, action: do }
  z: { action: do }
edges: [{ from: c, to: j, when: false }]`);
    expect(new Set(problems.map(({ code }) => code))).toEqual(
      new Set([
        'UNUSED_VARIABLE',
        'NEVER_RUNS',
        'NO_TIMEOUT',
        'NEVER_UNDONE',
        'NOTHING_TO_UNDO',
        'ENDLESS_LOOP',
        'UNSET_VARIABLE',
        'NEVER_TAKEN',
        'JOIN_NEVER_FIRES',
      ]),
    );
    for (const { hint, message, range, path, severity } of problems) {
      expect(severity).toBe('warning');
      expect(hint, message).toBeTruthy();
      expect(range?.line, message).toBeGreaterThan(1);
      expect(range?.column, message).toBeGreaterThan(0);
      expect(path.length, message).toBeGreaterThan(0);
    }
  });
});

describe('errors in single values', () => {
  it('[VER-54] do not hide what else there is', () => {
    const never = 'c: { action: do, when: false }';
    const hidden = 'NEVER_RUNS nodes.c.when';
    expect(codes(`nodes: { a: { action: do }, b: { needs: a, join: 3, action: do }, ${never} }`)).toEqual([
      'JOIN_TOO_HIGH nodes.b.join',
      hidden,
    ]);
    expect(codes(`nodes: { a: { action: mail, with: { count: many } }, ${never} }`)).toEqual([
      'BAD_PARAMETER nodes.a.with.count',
      hidden,
    ]);
  });
});
