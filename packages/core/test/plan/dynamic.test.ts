import { describe, expect, it } from 'vitest';
import { type Action, compilePlan, createCatalog, DEFINITION_LIMITS, type Json, type Plan } from '../../src/index.ts';
import type { DynamicWork } from '../../src/plan/plan.ts';
import { nodeOf, planOf } from './compiling.ts';

const plan = planOf(`id: x
variables: { n: 0 }
nodes:
  a: { action: do }
  late: { action: do }
  loop:
    needs: a
    forEach: { in: [1] }
    do: { nodes: { b: { action: do }, dyn: { needs: b, dynamic: { action: do } } } }`);
const { accept, compile } = nodeOf(plan, 'loop/dyn').work as DynamicWork;

function codesOf(graph: Json): string[] {
  const outcome = accept(graph);
  return 'problems' in outcome ? outcome.problems.map(({ code, path }) => `${code} ${path.join('.')}`) : [];
}

describe('a graph that an action returns', () => {
  it('[PLN-26] is compiled in its place: it reads the nodes upstream of its node', () => {
    const graph = {
      nodes: {
        p: { action: 'do', with: { x: '{{ [$a, $b, $item, $vars.n] }}' } },
        q: { set: { m: 1 }, needs: 'p' },
        r: { action: 'do', with: { m: '{{ $vars.m }}' } },
      },
      edges: ['p -> r'],
      output: '{{ $p }}',
    };
    const outcome = compile(graph);
    if (!('body' in outcome)) throw new Error(JSON.stringify(outcome.problems));
    expect(outcome.body.nodes.map(({ id }) => id)).toEqual(['p', 'q', 'r']);
    expect(outcome.body.nodes[0]?.reads).toEqual([
      { up: 2, index: 0 },
      { up: 1, index: 0 },
    ]);
    expect(compile(graph)).toBe(outcome);
  });

  it('[PLN-26] is checked like a definition', () => {
    expect(codesOf({ nodes: { p: { action: 'nope', retires: 1 } }, foo: 1 })).toEqual([
      'UNKNOWN_KEY nodes.p.retires',
      'UNKNOWN_KEY foo',
    ]);
    expect(codesOf({ nodes: { p: { action: 'nope', needs: ['p'] }, q: { action: 'do', needs: ['zz'] } } })).toEqual([
      'SELF_LOOP nodes.p.needs.0',
      'UNKNOWN_NODE nodes.q.needs.0',
    ]);
    expect(
      codesOf({ nodes: { p: { action: 'nope', with: { x: '{{ $late }}' } }, q: { action: 'do', break: true } } }),
    ).toEqual(['UNKNOWN_ACTION nodes.p.action', 'NOT_UPSTREAM nodes.p.with.x', 'NOT_IN_A_LOOP nodes.q.break']);
  });

  it('[PLN-93] uses no secret that its dynamic node does not name, at any depth', () => {
    const { accept: own, compile: again } = nodeOf(
      planOf('id: x\nnodes: { d: { dynamic: { action: do }, credentials: { any: bank } } }'),
      'd',
    ).work as DynamicWork;
    const wrong = (graph: Json) => {
      const outcome = own(graph);
      return 'problems' in outcome ? outcome.problems.map(({ code, path }) => `${code} ${path.join('.')}`) : [];
    };
    const node = (name: string) => ({ action: 'do', credentials: { api: name } });
    expect(wrong({ nodes: { a: node('bank') } })).toEqual([]);
    const other = { nodes: { a: node('other') } };
    expect(wrong(other)).toEqual(['SECRET_NOT_SHARED nodes.a.credentials.api']);
    const places = {
      'a loop': { each: { forEach: { in: [1] }, do: other } },
      'a group': { all: { group: other } },
      'a compensation': { a: { ...node('other'), compensate: { action: 'do' } } },
      'a dynamic node': { inner: { dynamic: { action: 'do' }, credentials: { api: 'other' } } },
    };
    for (const [place, nodes] of Object.entries(places)) {
      expect(wrong({ nodes } as Json), place).toEqual([expect.stringContaining('SECRET_NOT_SHARED')]);
    }
    // A graph that an earlier version accepted can still be folded.
    expect('body' in again({ nodes: { old: node('other') } })).toBe(true);
  });

  it('[PLN-93] shares with a dynamic node inside of it only the secrets that this node names', () => {
    const outer = planOf('id: x\nnodes: { d: { dynamic: { action: do }, credentials: { any: bank } } }');
    const { accept: own } = nodeOf(outer, 'd').work as DynamicWork;
    const body = own({ nodes: { inner: { dynamic: { action: 'do' } } } });
    if (!('body' in body)) throw new Error(JSON.stringify(body.problems));
    const inner = body.body.nodes[0]?.work as DynamicWork;
    const graph = { nodes: { a: { action: 'do', credentials: { api: 'bank' } } } };
    expect(inner.accept(graph)).toMatchObject({ problems: [{ code: 'SECRET_NOT_SHARED' }] });
  });

  it('[PLN-29] is verified: a graph that can never fit is refused, but not for warnings, nor if it was accepted before', () => {
    const typed: Action[] = [
      { id: 'make', version: '1', run: () => null },
      { id: 'number', version: '1', output: { type: 'number' }, run: () => null },
      { id: 'told', version: '1', output: { type: 'number' }, describeOnly: ['output'], run: () => null },
      { id: 'mail', version: '1', input: { type: 'object', properties: { to: { type: 'string' } } }, run: () => null },
    ];
    const nodes = {
      n: { action: 'number' },
      told: { action: 'told' },
      each: {
        needs: ['n', 'told'],
        forEach: { in: '{{ [$told] }}' },
        do: { nodes: { dyn: { dynamic: { action: 'make' } } } },
      },
    };
    const { plan: outer } = compilePlan({ id: 'x', nodes }, createCatalog(typed));
    const { accept, compile: again } = nodeOf(outer as Plan, 'each/dyn').work as DynamicWork;
    const mail = (to: string): Json => ({
      nodes: { own: { action: 'number' }, never: { action: 'mail', needs: 'own', when: 'false', with: { to } } },
    });
    const wrong = mail('{{ $own }}');
    const outcome = accept(wrong);
    expect('problems' in outcome && outcome.problems.map(({ code, path }) => [code, path.join('.')])).toEqual([
      ['TYPE_MISMATCH', 'nodes.never.with.to'],
    ]);
    // The graph as it is read from a journal.
    expect(again(structuredClone(wrong))).toHaveProperty('body');
    for (const to of ['{{ $n }}', '{{ $told }}', '{{ $item }}', '{{ $own.toString() }}']) {
      expect(accept(mail(to)), to).toHaveProperty('body');
    }
  });

  it.each<[string, Json, string]>([
    ['nothing', null, 'WRONG_TYPE '],
    ['a list', [], 'WRONG_TYPE '],
    ['no nodes', {}, 'MISSING_KEY '],
    ['endless nesting', JSON.parse(`${'{"nodes":'.repeat(5_000)}1${'}'.repeat(5_000)}`), 'TOO_DEEP '],
    ['too much', { nodes: {}, output: 'x'.repeat(DEFINITION_LIMITS.maxDynamicBytes) }, 'TOO_LARGE '],
  ])('[PLN-26] %s is refused', (_, graph, problem) => {
    expect(codesOf(graph)).toEqual([problem]);
  });

  it.each([
    ['2,001 nodes', { nodes: nodes(DEFINITION_LIMITS.maxDynamicNodes + 1) }],
    ['nodes of bodies', { nodes: { g: { group: { nodes: nodes(DEFINITION_LIMITS.maxDynamicNodes) } } } }],
    ['10,001 edges', { nodes: chained(150) }],
    [
      'a chain of 10,001 edges',
      {
        nodes: nodes(2),
        edges: [
          Array(DEFINITION_LIMITS.maxDynamicEdges + 2)
            .fill('n0')
            .join(' -> '),
        ],
      },
    ],
    ['200,001 values', { nodes: nodes(1), output: Array(DEFINITION_LIMITS.maxDynamicValues).fill(1) }],
  ])('[DEF-100] %s are refused, and what a journal has is not', (_, graph) => {
    expect(codesOf(graph as Json)).toEqual(['TOO_LARGE ']);
    const before = compile(structuredClone(graph) as Json);
    expect('problems' in before ? before.problems.map(({ code }) => code) : []).not.toContain('TOO_LARGE');
  });

  it('[DEF-101] is read, compiled and verified in steps', () => {
    const { prepare } = nodeOf(plan, 'loop/dyn').work as DynamicWork;
    const stepsOf = (count: number): number => [...prepare({ nodes: nodes(count) })].length;
    // Each node is compiled, its ways are found and checked, its types and its grants are checked: a step each.
    expect(stepsOf(300) - stepsOf(100)).toBeGreaterThanOrEqual(4 * 200);
    expect(stepsOf(1)).toBeGreaterThan(15);
  });

  const branching = (cases: Json, on?: string): Json => ({
    nodes: {
      from: { action: 'do' },
      b: { needs: ['from'], branch: { cases, ...(on !== undefined && { on }) } },
      n0: { action: 'do' },
    },
    edges: Array.from({ length: 40 }, (_, index) => ({
      from: 'from',
      to: 'b',
      on: 'error',
      match: { code: `C${index}` },
    })),
  });

  it.each([
    ['values', (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`v${at}`, 'n0']))],
    ['matches', (count: number) => Array.from({ length: count }, (_, at) => ({ match: { a: at }, to: 'n0' }))],
    ['errors', (count: number) => Array.from({ length: count }, (_, at) => ({ error: { code: `E${at}` }, to: 'n0' }))],
    ['conditions', (count: number) => Array.from({ length: count }, (_, at) => ({ when: `$from == ${at}`, to: 'n0' }))],
  ])('[DEF-101] a branch with many cases is compiled and verified in steps: %s', (_, cases) => {
    const { prepare } = nodeOf(plan, 'loop/dyn').work as DynamicWork;
    const stepsOf = (count: number): number => {
      const given = cases(count);
      const steps = prepare(branching(given, Array.isArray(given) ? undefined : '$from'));
      let made = 0;
      for (;;) {
        const { done, value } = steps.next();
        if (done !== true) made++;
        else if ('body' in value) return made;
        else throw new Error(JSON.stringify(value.problems.slice(0, 3)));
      }
    };
    expect(stepsOf(500) - stepsOf(20)).toBeGreaterThanOrEqual(2 * Math.floor(480 / 16));
  });

  it.each([
    ['a case', { cases: [{ when: 'true', to: Array(10_001).fill('n0') }] }],
    ['the cases of a value', { on: '1', cases: { a: Array(6_000).fill('n0'), b: Array(6_000).fill('n0') } }],
    ['the default', { on: '1', cases: { a: 'n0' }, default: Array(10_001).fill('n0') }],
  ])('[DEF-100] targets of %s are edges', (_, branch) => {
    expect(codesOf({ nodes: { b: { branch: branch as Json }, n0: { action: 'do' } } })).toEqual(['TOO_LARGE ']);
  });
});

function nodes(count: number): Record<string, Json> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, { action: 'do' }]));
}

/** Each node needs all nodes before it. */
function chained(count: number): Record<string, Json> {
  const ids = Array.from({ length: count }, (_, index) => `n${index}`);
  return Object.fromEntries(ids.map((id, index) => [id, { action: 'do', needs: ids.slice(0, index) }]));
}
