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
  it('[PLN-26] is compiled where it stands: it reads what is upstream of its node', () => {
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

  it('[PLN-29] is verified: what can never fit is refused, warnings are not, and neither is what was accepted before', () => {
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
    // As it comes from a journal.
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
});
