/** Expressions of one part of a definition are parsed in one piece: how many there may be. */
import { expect, it } from 'vitest';
import { compilePlan, createCatalog, DEFINITION_LIMITS, type Json } from '../../src/index.ts';

const MAX = DEFINITION_LIMITS.maxExpressionChars;
const catalog = createCatalog([{ id: 'do', version: '1', run: () => null }]);

function codesOf(more: object, isAccepted = false): string[] {
  const definition = { id: 'x', nodes: { a: { action: 'do' }, b: { action: 'do', needs: ['a'] } }, ...more };
  return compilePlan(definition as never, catalog, { isAccepted }).problems.map(({ code }) => code);
}
const withValue = (value: Json) => ({ nodes: { a: { action: 'do', with: { value } } } });
const templates = (count: number): Json => Array.from({ length: count }, (_, index) => `{{ $input.a + ${index} }}`);

it.each([
  ['many in one value', withValue(templates(2_000))],
  ['many in one text', withValue('{{ $input.a }} '.repeat(2_000))],
  ['one that is long', withValue(`{{ [${'$input.a,'.repeat(2_000)}1] }}`)],
  ['one that never ends', withValue(`{{ [${'$input.a,'.repeat(2_000)}`)],
  ['a condition', { nodes: { a: { action: 'do', when: `true${' || true'.repeat(3_000)}` } } }],
  [
    'many values of one node',
    { nodes: { a: { set: Object.fromEntries([...Array(3_000).keys()].map((at) => [`v${at}`, '{{ 1 + 1 }}'])) } } },
  ],
  ['an edge', { edges: [{ from: 'a', to: 'b', when: `true${' || true'.repeat(3_000)}` }] }],
  ['an output', { output: templates(2_000) }],
  ['patterns of functions', withValue(functions(20))],
  [
    'patterns of one expression',
    withValue(
      `{{ ${functions(20)
        .join(' || ')
        .replaceAll(/\{\{|\}\}/g, '')} }}`,
    ),
  ],
  ['patterns of queries', withValue(functions(20).map((_, at) => queryWith(`a{${1000 - at}}`)))],
  ['patterns of an edge', { edges: [{ from: 'a', to: 'b', on: 'result', match: { x: patterns(20) } }] }],
  ['patterns of a branch', { nodes: branched(patterns(20)) }],
  ['patterns of a retry', { nodes: { a: { action: 'do', retry: { attempts: 2, on: Object.values(slashed(20)) } } } }],
])('[DEF-102] %s: expressions beyond the limit are refused once, and not in a stored definition', (_, more) => {
  expect(codesOf(more).filter((code) => code !== 'EXPRESSION_SYNTAX')).toEqual(['EXPRESSION_LIMIT']);
  expect(codesOf(more, true)).not.toContain('EXPRESSION_LIMIT');
});

it('[DEF-102] the limit is of each part: many nodes have many expressions', () => {
  const nodes = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`n${index}`, { action: 'do', with: { value: templates(600) } }]),
  );
  expect(JSON.stringify(nodes).length).toBeGreaterThan(10 * MAX);
  expect(codesOf({ nodes })).toEqual([]);
});

it('[DEF-102] text around expressions does not count, and a mistake in a long text is reported as such', () => {
  const text = 'x'.repeat(10 * MAX);
  expect(codesOf(withValue(`{{ $input.a }}${text}{{ $input.b }}`))).toEqual([]);
  expect(codesOf(withValue(`{{ $input.a + }}${text}`))).toEqual(['EXPRESSION_SYNTAX']);
});

it('[DEF-102] thousands of mistakes end the parsing, too', () => {
  const codes = codesOf(withValue(Array(5_000).fill('{{ + }}')));
  expect(codes.length).toBeLessThan(MAX / 100 + 2);
  expect(codes).toContain('EXPRESSION_SYNTAX');
});

it('[DEF-102] patterns that become few instructions are taken, and the first one beyond the limit ends the compiling', () => {
  expect(codesOf({ nodes: branched(patterns(15)) })).toEqual([]);
  expect(codesOf({ nodes: branched(patterns(2_000)) })).toEqual(['EXPRESSION_LIMIT']);
});

it('[DEF-102] patterns of functions that become few instructions are taken, whether they were compiled before or not', () => {
  for (const _ of [1, 2]) expect(codesOf(withValue(functions(15)))).toEqual([]);
  for (const _ of [1, 2]) expect(codesOf(withValue(functions(20)))).toEqual(['EXPRESSION_LIMIT']);
});

function functions(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `{{ $input.a.matches('a{${1_000 - at}}') }}`);
}

function queryWith(pattern: string): string {
  return `{{ $input.query("$[?search(@, '${pattern}')]") }}`;
}

/** Each becomes about a thousand instructions. */
function patterns(count: number): Record<string, { regex: string }> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, { regex: `${at}a{1000}` }]));
}

function slashed(count: number): Record<string, string> {
  return Object.fromEntries(Object.entries(patterns(count)).map(([key, { regex }]) => [key, `/${regex}/`]));
}

function branched(match: object) {
  return {
    from: { action: 'do' },
    b: {
      needs: ['from'],
      branch: { cases: Object.entries(match).map(([key, one]) => ({ match: { [key]: one }, to: 'z' })) },
    },
    z: { action: 'do' },
  };
}
