import { describe, expect, it } from 'vitest';
import { compilePlan, type NodeDefinition, type Scope, type WorkflowDefinition } from '../../src/index.ts';
import type {
  BranchWork,
  ForEachWork,
  RetryUntilWork,
  SetWork,
  TerminateWork,
  WaitWork,
  WhileWork,
} from '../../src/plan/plan.ts';
import { catalog, codes, findings, nodeOf, planOf } from './compiling.ts';
import { EVERY_KIND } from './every-kind.ts';

const others = { workflows: () => ({ id: 'sub', nodes: { a: { action: 'do' } } }) };

describe('every kind', () => {
  it('[PLN-11] compiles, at any depth', () => {
    const plan = planOf(EVERY_KIND, others);
    const kinds = new Set(plan.root.nodes.map(({ work }) => work.kind));
    expect([...kinds].sort()).toEqual(
      'action branch child dynamic forEach inline merge retryUntil terminate wait while'.split(' '),
    );
    expect(nodeOf(plan, 'loop/s').work.kind).toBe('set');
    expect(nodeOf(plan, 'items/inner/y').breaks).toBe(true);
    expect(nodeOf(plan, 'items/more').emits).toBeDefined();
  });
});

describe('branches', () => {
  const NODES = 'a: { action: do }\n  b: { action: do }\n  c: { action: do }';

  it('[PLN-12] cases and the default name edges by their keys', () => {
    const plan = planOf(`id: x
nodes:
  r: { branch: { on: $input.s, cases: { paid: a, open: [a, b, a] }, default: c } }
  ${NODES}`);
    const { outgoing, work } = nodeOf(plan, 'r');
    expect(outgoing.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    expect(work).toMatchObject({
      kind: 'branch',
      cases: [
        { equals: 'paid', to: ['a'] },
        { equals: 'open', to: ['a', 'b'] },
      ],
      otherwise: ['c'],
      many: false,
    });
  });

  it('[PLN-12] the only node before is the subject of match and error', () => {
    const plan = planOf(`id: x
nodes:
  f: { action: do }
  r: { branch: { cases: [{ match: { ok: true }, to: a }, { error: { code: X }, to: b }], default: c } }
  ${NODES}
edges: [{ from: f, to: r, on: always }]`);
    const work = nodeOf(plan, 'r').work as BranchWork;
    expect(work.subject?.id).toBe('f');
    expect(work.cases.map((one) => Object.keys(one))).toEqual([
      ['match', 'to'],
      ['error', 'to'],
    ]);
    expect(nodeOf(plan, 'r').reads).toEqual([{ up: 0, index: 0 }]);
  });

  it('[PLN-12] match needs something to test, and error an edge that errors take', () => {
    expect(
      findings(`id: x
nodes:
  f: { action: do }
  g: { action: do }
  r: { needs: [f, g], branch: { cases: [{ match: 1, to: a }] } }
  s: { needs: [f], branch: { cases: [{ error: { code: X }, to: b }] } }
  t: { needs: [i], branch: { cases: [{ error: { code: X }, to: b }] } }
  i: { action: do, onError: ignore }
  ${NODES}`),
    ).toEqual([
      "NO_SUBJECT nodes.r.branch.cases.0.match (set the value to test with 'on')",
      'NO_ERROR_EDGE nodes.s.branch.cases.0.error (add an edge { from: f, to: s, on: always })',
    ]);
  });

  it('[PLN-12] an unknown target is reported at its position', () => {
    expect(findings(`id: x\nnodes:\n  r: { branch: { on: $input.s, cases: { paid: aa } } }\n  ${NODES}`)).toEqual([
      "UNKNOWN_NODE nodes.r.branch.cases.paid (did you mean 'a'?)",
    ]);
  });
});

describe('loops', () => {
  const body = 'do: { nodes: { s: { action: do } } }';

  it('[PLN-13] have their defaults and limits', () => {
    const plan = planOf(`id: x
nodes:
  a: { forEach: { in: $input.list }, ${body} }
  b: { forEach: { in: [1, "{{ $input.n }}"], parallel: true }, ${body} }
  c: { forEach: { in: $input.list, parallel: true, maxConcurrency: 3, minSuccess: 80% }, ${body} }
  d: { forEach: { in: $input.list, minSuccess: 2 }, ${body} }
  e: { while: { condition: $input.go }, ${body} }
  f: { while: { condition: true, maxIterations: 7 }, ${body} }
  g: { retryUntil: { until: $self.output, attempts: 4, backoff: { delay: 5s, on: [X] } }, ${body} }
  h: { retryUntil: { attempts: 2 }, ${body} }`);
    const loop = (id: string): ForEachWork => nodeOf(plan, id).work as ForEachWork;
    expect(loop('a')).toMatchObject({ maxConcurrency: 1, minSuccess: undefined, until: 'all' });
    expect(loop('b').maxConcurrency).toBe(10);
    expect(loop('b').in.evaluate({ input: { n: 5 } } as unknown as Scope, plan.newBudget())).toEqual([1, 5]);
    expect(loop('c')).toMatchObject({ maxConcurrency: 3, minSuccess: { ratio: 0.8 } });
    expect(loop('d').minSuccess).toEqual({ count: 2 });
    expect((nodeOf(plan, 'e').work as WhileWork).maxIterations).toBe(1_000);
    expect((nodeOf(plan, 'f').work as WhileWork).maxIterations).toBe(7);
    expect((nodeOf(plan, 'g').work as RetryUntilWork).backoff.rules).toMatchObject([
      { policy: 'fixed', initialMs: 5_000, attempts: 4, on: { names: new Set(['X']), patterns: [] } },
    ]);
    expect((nodeOf(plan, 'h').work as RetryUntilWork).until).toBeUndefined();
    expect(nodeOf(plan, 'a').retry).toEqual({ rules: [], lost: 0 });
  });

  it('[PLN-13] have the rank of the longest way through their body, or their own estimate', () => {
    const plan = planOf(`id: x
nodes:
  a: { forEach: { in: [1] }, do: { nodes: { s: { action: do, estimate: 3s }, t: { needs: s, action: do, estimate: 2s } } } }
  b: { forEach: { in: [1] }, estimate: 1s, ${body} }`);
    expect(plan.root.nodes.map(({ rank }) => rank)).toEqual([5_000, 1_000]);
    expect(nodeOf(plan, 'a/s').rank).toBe(5_000);
  });

  it('[PLN-13] an unknown policy of a backoff is reported', () => {
    expect(codes(`id: x\nnodes: { a: { retryUntil: { attempts: 2, backoff: { policy: slow } }, ${body} } }`)).toEqual([
      'UNKNOWN_RETRY_POLICY',
    ]);
  });

  it('[PLN-14] break and emit are allowed only in loops', () => {
    expect(
      findings(`id: x
nodes:
  a: { action: do, break: true, emit: "[1]" }
  b: { while: { condition: true }, do: { nodes: { s: { action: do, break: true, emit: "[1]" } } } }
  c: { forEach: { in: [1] }, do: { nodes: { s: { action: do, break: true, emit: "[1]" } } } }`),
    ).toEqual([
      'NOT_IN_A_LOOP nodes.a.break (put it on a node in the body of the loop itself, not in a group or a workflow inside that body)',
      'NOT_IN_A_LOOP nodes.a.emit (put it on a node in the body of the forEach itself, not in a group or a workflow inside that body)',
      'NOT_IN_A_LOOP nodes.b.do.nodes.s.emit (put it on a node in the body of the forEach itself, not in a group or a workflow inside that body)',
    ]);
  });

  it('[PLN-14] a workflow that a loop runs cannot break it or add to it; the node that runs it can', () => {
    const loop = (node: NodeDefinition): WorkflowDefinition => ({
      id: 'x',
      nodes: { l: { forEach: { in: [1] }, do: { nodes: { s: node } } } },
    });
    const sub = (key: object) => ({ workflows: (id: string) => ({ id, nodes: { e: { action: 'do', ...key } } }) });
    for (const key of [{ emit: '[1]' }, { break: true }]) {
      const [problem] = compilePlan(loop({ workflow: { id: 'sub' } }), catalog, sub(key)).problems;
      const [name] = Object.keys(key);
      expect(problem).toMatchObject({ severity: 'error', code: 'BROKEN_WORKFLOW', hint: 'fix that workflow first' });
      expect(problem?.message).toContain(`'${name}' is allowed only inside a `);
      expect(problem?.message).toContain(`(nodes.e.${name})`);
    }
    expect(compilePlan(loop({ workflow: { id: 'sub' }, emit: '[1]', break: true }), catalog, sub({})).problems).toEqual(
      [],
    );
  });
});

describe('other kinds', () => {
  it('[PLN-15] set and terminate', () => {
    const plan = planOf(`id: x
nodes:
  a: { set: { n: 1, m: "{{ $input.m }}" } }
  b: { needs: a, terminate: completed, with: { output: { n: "{{ $vars.n }}" } } }
  c: { terminate: failed, with: { error: no } }`);
    expect([...(nodeOf(plan, 'a').work as SetWork).values.keys()]).toEqual(['n', 'm']);
    expect(nodeOf(plan, 'b').work).toMatchObject({ status: 'completed', error: undefined });
    expect((nodeOf(plan, 'b').work as TerminateWork).output).toBeDefined();
    expect((nodeOf(plan, 'c').work as TerminateWork).error).toBeDefined();
  });

  it('[PLN-15] variables that only a set assigns are known; parallel iterations that assign them are warned of', () => {
    expect(
      findings(`id: x
nodes:
  a: { forEach: { in: [1], parallel: true }, do: { nodes: { s: { set: { total: "{{ $item }}" } } } } }
  b: { needs: a, action: do, with: { n: "{{ $vars.total }}", m: "{{ $vars.totl }}" } }`),
    ).toEqual([
      'SET_IN_PARALLEL nodes.a.do.nodes.s.set (use the output of the loop, or run its iterations sequentially)',
      "UNKNOWN_VARIABLE nodes.b.with.m (did you mean 'total'?)",
    ]);
  });

  it.each<[string, string, boolean]>([
    ['a flag', 's: { set: { n: true } }', false],
    ['counting', 's: { set: { n: "{{ $vars.n + $input.by + $vars.step + $before }}" } }', false],
    ['a sum over items', 's: { set: { n: "{{ $vars.n + $item }}" } }', true],
    ['the number of the iteration', 's: { set: { n: "{{ $index }}" } }', true],
    ['what another node of the iteration gave', 'o: { action: do }, s: { needs: o, set: { n: "{{ $o }}" } }', true],
    ['a variable that iterations assign', 's: { set: { n: "{{ $vars.m }}", m: "{{ $vars.n }}" } }', true],
    ['all variables', 's: { set: { n: "{{ $vars }}" } }', true],
    ['two that assign it', 's: { set: { n: 1 } }, t: { set: { n: 2 } }', true],
    ['a graph that may assign it', 's: { set: { n: 1 } }, d: { dynamic: { action: do } }', true],
    [
      'counting in a loop inside',
      'l: { forEach: { in: [1] }, do: { nodes: { s: { set: { n: "{{ $vars.n + 1 }}" } } } } }',
      false,
    ],
    [
      'the item of a loop inside',
      'l: { forEach: { in: [1] }, do: { nodes: { s: { set: { n: "{{ $item }}" } } } } }',
      true,
    ],
  ])(
    '[PLN-30] of sets in parallel iterations only those are warned of whose order matters: %s',
    (_, nodes, isWarned) => {
      const found = codes(`id: x
variables: { n: 0, m: 0, step: 1 }
nodes:
  before: { action: do }
  a: { needs: before, forEach: { in: [1], parallel: true }, do: { nodes: { ${nodes} } } }`);
      expect(found.includes('SET_IN_PARALLEL')).toBe(isWarned);
    },
  );

  it('[PLN-16] waits', () => {
    const plan = planOf(EVERY_KIND, others);
    const work = nodeOf(plan, 'w2').work as WaitWork;
    expect(work.waits.map(({ kind, name }) => [kind, name])).toEqual([
      ['until', 'until'],
      ['signal', 'paid'],
      ['approval', 'approval'],
      ['callback', 'callback'],
    ]);
    expect(work.deadline?.constant).toBe(false);
    const [, signal] = work.waits;
    expect(signal?.kind === 'signal' && signal.check?.problems(5)).toBeTruthy();
    const plain = planOf('id: x\nnodes: { a: { wait: { until: 2030-01-01 } } }');
    const [until] = (nodeOf(plain, 'a').work as WaitWork).waits;
    expect(until?.kind === 'until' && until.until.evaluate({} as Scope, plain.newBudget())).toBe('2030-01-01');
  });

  it('[PLN-16] schemas that are none are reported', () => {
    expect(
      findings(
        'id: x\nnodes: { a: { wait: { signal: s, schema: { type: 5 } } }, b: { wait: { approval: { form: { type: 5 } } } } }',
      ).map((text) => text.split(' (')[0]),
    ).toEqual(['BAD_SCHEMA nodes.a.wait.schema', 'BAD_SCHEMA nodes.b.wait.approval.form']);
  });

  it('[PLN-17] compensation, cache and limits', () => {
    const plan = planOf(EVERY_KIND, others);
    const { compensate, cache, concurrency, rateLimit } = nodeOf(plan, 'fetch');
    expect(compensate).toMatchObject({ retry: { rules: [{ attempts: 2 }] }, timeouts: { attemptMs: 3_000 } });
    expect(cache).toEqual({ version: '2', ttlMs: 3_600_000, ignore: ['x'], overwrite: false });
    expect(concurrency?.limit).toBe(2);
    expect(rateLimit).toMatchObject({ limit: 3, perMs: 1_000 });
  });

  it('[DEF-141] an unknown parameter is an error, also if its value is an expression', () => {
    const source = 'id: x\nnodes: { a: { action: mail.send, with: { to: a, too: "{{ $input.x }}" } } }';
    expect(codes(source)).toEqual(['BAD_PARAMETER']);
    expect(codes('id: x\nnodes: { a: { action: mail.send, with: { to: "{{ $input.x }}" } } }')).toEqual([]);
  });

  it('[PLN-17] a compensation is checked like any action', () => {
    expect(
      codes(
        'id: x\nnodes: { a: { action: do, compensate: { action: mail.send, with: { t: 1 } } }, b: { action: do, compensate: { action: nope } } }',
      ),
    ).toEqual(['BAD_PARAMETER', 'BAD_PARAMETER', 'UNKNOWN_ACTION']);
  });

  it('[PLN-18] the failure node may read every node, and nothing leads to it', () => {
    const plan = planOf(`id: x
config: { failureNode: tell }
nodes:
  a: { action: do }
  tell: { action: do, with: { a: "{{ $a }}", e: "{{ $execution.error }}" } }`);
    expect(plan.failureNode).toBe(nodeOf(plan, 'tell'));
    expect(plan.failureNode?.reads).toEqual([{ up: 0, index: 0 }]);
    for (const nodes of [plan.root.entries, plan.root.ends]) expect(nodes.map(({ id }) => id)).toEqual(['a']);
    expect(plan.root.levels.map((level) => level.map(({ id }) => id))).toEqual([['a'], ['tell']]);
  });

  it('[PLN-18] the key of starts reads the input, and no node', () => {
    const plan = planOf(
      'id: x\nconfig: { start: { key: $input.id, policy: debounce, window: 5s } }\nnodes: { a: { action: do } }',
    );
    expect(plan.start).toMatchObject({ policy: 'debounce', windowMs: 5_000 });
    expect(codes('id: x\nconfig: { start: { key: $a.id } }\nnodes: { a: { action: do } }')).toEqual(['NOT_UPSTREAM']);
  });

  it('[PLN-9] fields of outputs that the kind decides', () => {
    expect(
      findings(`id: x
nodes:
  r: { branch: { on: $input.s, cases: { a: [l] } } }
  l: { forEach: { in: [1] }, do: { nodes: { s: { action: do } } } }
  u: { needs: [l], action: do, with: { a: "{{ $r.takn }} {{ $l.lenth }} {{ $l.length }} {{ $l[0].x }}" } }`),
    ).toEqual([
      "UNKNOWN_FIELD nodes.u.with.a (did you mean 'taken'?)",
      "UNKNOWN_FIELD nodes.u.with.a (did you mean 'length'?)",
    ]);
  });

  it('[PLN-61] every credential that an action asks for has a secret', () => {
    const one = (node: string) => findings(`id: x\nnodes:\n  a: { ${node} }`);
    expect(one('action: pay')).toEqual([
      'MISSING_CREDENTIAL nodes.a.action (add credentials: { account: <name of a secret> })',
    ]);
    expect(one('action: do, compensate: { action: pay }')).toEqual([
      'MISSING_CREDENTIAL nodes.a.compensate.action (add credentials: { account: <name of a secret> })',
    ]);
    expect(one('action: pay, credentials: { acount: bank }')).toEqual([
      'MISSING_CREDENTIAL nodes.a.credentials (add credentials: { account: <name of a secret> })',
      "UNUSED_CREDENTIAL nodes.a.credentials.acount (did you mean 'account'?)",
    ]);
    expect(one('action: pay, credentials: { account: bank }')).toEqual([]);
    expect(one('action: do, credentials: { whatever: bank }')).toEqual([]);
    expect(one('action: do, credentials: { account: bank }, compensate: { action: pay }')).toEqual([]);
    expect(one('dynamic: { action: pay }, credentials: { account: bank, forTheGraph: other }')).toEqual([]);
  });
});
