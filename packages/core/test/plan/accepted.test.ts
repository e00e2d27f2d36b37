/** A definition that an earlier version accepted is accepted again, whatever was added since. */
import { describe, expect, it } from 'vitest';
import { type CompileOptions, compilePlan, createCatalog, type Json, type Plan } from '../../src/index.ts';
import type { DynamicWork } from '../../src/plan/plan.ts';
import { definitionOf, testActions } from '../run/drive.ts';
import { acceptedGraph, acceptedRuns } from '../run/old-runs.ts';
import { nodeOf } from './compiling.ts';

function compiled(short: object, isAccepted: boolean, more: CompileOptions = {}) {
  const definition = definitionOf('test', short);
  return compilePlan(definition, createCatalog(testActions), { isAccepted, ...more });
}

function acceptedPlan(short: object): Plan {
  const { plan, problems } = compiled(short, true);
  if (plan === undefined) throw new Error(problems.map(({ code, message }) => `${code} ${message}`).join('\n'));
  return plan;
}

const codesOf = (short: object): string[] => compiled(short, false).problems.map(({ code }) => code);

const largeSchema = { properties: Object.fromEntries([...Array(21_000).keys()].map((at) => [`m${at}`, true])) };
const manyPatterns = { allOf: [...Array(15).keys()].map((at) => ({ pattern: `${at}a{1000}` })) };

describe('a definition that was accepted before', () => {
  it.each([
    ['onError: branch with only an always edge', acceptedRuns.branch, 'BRANCH_WITHOUT_EDGE'],
    ['a node `previous`, read as $previous', acceptedRuns.previous, 'NOT_IN_A_LOOP'],
    ['a join that counts edges', acceptedRuns.join, 'JOIN_TOO_HIGH'],
    ['an unknown retry policy of the workflow', acceptedRuns.policy, 'UNKNOWN_RETRY_POLICY'],
    ['a large schema', { input: largeSchema, nodes: { a: {} } }, 'BAD_SCHEMA'],
    ['many patterns', { nodes: { a: { wait: { signal: 's', schema: manyPatterns } } } }, 'BAD_SCHEMA'],
    [
      'a large pattern',
      { nodes: { a: { when: `$input.x.matches('${'[a-z]{1000}'.repeat(6)}')` } } },
      'EXPRESSION_LIMIT',
    ],
    ['a large pattern of a schema', { input: { pattern: 'b{1000}'.repeat(6) }, nodes: { a: {} } }, 'BAD_SCHEMA'],
    ['an asynchronous schema', { input: { $async: true }, nodes: { a: {} } }, 'BAD_SCHEMA'],
    ['a code between slashes', { nodes: { a: { retry: { attempts: 2, on: ['/(/'] } } } }, 'MATCH_REGEX'],
  ])('[PLN-100] is accepted again, although it is refused today: %s', (_, short, code) => {
    expect(codesOf(short)).toContain(code);
    expect(compiled(short, true).problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it('[PLN-100] is accepted again inside another definition', () => {
    const inner = definitionOf('inner', acceptedRuns.branch);
    const { plan } = compiled({ nodes: { a: { workflow: { id: 'inner' } } } }, false, { workflows: () => inner });
    expect(plan).toBeDefined();
  });

  it('[PLN-100] is still refused for what no version accepted', () => {
    const never = [
      { nodes: { a: { onError: 'branch' } } },
      { nodes: { a: {}, b: { needs: ['a'], join: 3 } }, edges: [{ from: 'a', to: 'b', on: 'always' }] },
      { nodes: { a: { with: { x: '{{ $previous }}' } } } },
      { nodes: { a: { action: 'gone@1' } } },
    ];
    for (const short of never) expect(compiled(short, true).plan, JSON.stringify(short)).toBeUndefined();
  });

  it('[PLN-101] reads the node `previous` as $previous where no iteration precedes', () => {
    const read = { needs: ['previous'], with: { x: '{{ $previous.n }}' } };
    const body = { nodes: { b: { with: { x: '{{ $previous.n }}' } } } };
    const plan = acceptedPlan({
      nodes: {
        previous: {},
        a: read,
        parallel: { needs: ['previous'], forEach: { in: [1], parallel: true }, do: body },
        until: { needs: ['previous'], retryUntil: { until: '$previous.n == 1', attempts: 2 }, do: body },
        each: { needs: ['previous'], forEach: { in: [1] }, do: body },
      },
    });
    expect(nodeOf(plan, 'a').reads).toEqual([{ up: 0, index: 0 }]);
    expect(nodeOf(plan, 'parallel/b').reads).toEqual([{ up: 1, index: 0 }]);
    expect(nodeOf(plan, 'until').reads).toEqual([{ up: 0, index: 0 }]);
    expect(nodeOf(plan, 'each/b').reads).toEqual([]);
  });

  it('[PLN-100] rejects every value where its schema is invalid by now', () => {
    const refused = acceptedPlan({ input: { $async: true }, nodes: { a: {} } }).acceptInput({});
    expect(refused).toMatchObject({
      problems: ['the input cannot be checked. Invalid JSON Schema: $async is not supported.'],
    });
    expect(acceptedPlan({ input: largeSchema, nodes: { a: {} } }).acceptInput({ m0: 1 })).toMatchObject({
      problems: [],
    });
  });

  it('[PLN-100] stays accepted as a graph in a journal, and is refused as a new one', () => {
    const { accept, compile } = nodeOf(acceptedPlan(acceptedRuns.dynamic), 'plan').work as DynamicWork;
    const refused = accept(structuredClone(acceptedGraph) as Json);
    expect('problems' in refused && refused.problems.map(({ code }) => code)).toContain('UNKNOWN_KEY');
    const journalled = compile(acceptedGraph as Json);
    if (!('body' in journalled)) throw new Error(JSON.stringify(journalled.problems));
    expect(journalled.body.nodes.map(({ id, join }) => [id, join])).toContainEqual(['twice', 1]);
  });
});
