/** Random chains of hostile names over every kind of value: only plain JSON comes out, within the budget. */
import { describe, expect, it } from 'vitest';
import { createBudget, ExpressionError, listFunctions, parseExpression } from '../../src/expression/index.ts';
import { EXPRESSION_LIMITS } from '../../src/limits.ts';
import type { Json } from '../../src/value.ts';
import { cpuMs, sampleScope, scopeOf } from './sample-scope.ts';

const NAMES = [
  'constructor',
  '__proto__',
  'prototype',
  'call',
  'apply',
  'bind',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  '__defineSetter__',
  '__lookupGetter__',
  'isPrototypeOf',
  'propertyIsEnumerable',
  'toLocaleString',
  'Symbol.iterator',
  '@@iterator',
  'Symbol(Symbol.iterator)',
  'then',
  'caller',
  'callee',
  'arguments',
  'name',
  'length',
  'message',
  'stack',
  'mainModule',
  'env',
  'globalThis',
  'process',
  'require',
  'fill',
  'push',
  'splice',
  'copyWithin',
  'entries',
  'keys',
  'values',
  'at',
  'concat',
  '0',
  '-1',
  'a',
  'input',
];

const ROOTS = [
  'null',
  'true',
  '1',
  '-1.5',
  '"text"',
  '[]',
  '[1, "a", null]',
  '{}',
  '{a: {b: [1]}}',
  '{constructor: 1}',
  '{["__proto__"]: {x: 1}}',
  '$input',
  '$vars',
  '$trigger',
  '$execution',
  '$workflow',
  '$nodes.fetch',
  '$self',
  '$nodes.fetch.output',
  '$nodes.broken.error',
  '$item',
  '$items',
  '$parent',
  '$fetch',
  '$',
  '$..*',
  '$.order',
  'range(3)',
  'object([["a", 1]])',
  'date(0)',
];

/** A small generator with a seed, so that what fails can be named. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Every object in it has the prototype of a plain one or of a list, and every leaf is JSON. */
function expectPlain(value: unknown, source: string): void {
  const waiting: unknown[] = [value];
  for (let part = waiting.pop(); waiting.length > 0 || part !== undefined; part = waiting.pop()) {
    if (part === null || ['string', 'boolean'].includes(typeof part)) continue;
    if (typeof part === 'number') {
      if (!Number.isFinite(part)) expect.fail(`${source} gives ${part}`);
      continue;
    }
    if (typeof part !== 'object') expect.fail(`${source} gives a ${typeof part}`);
    const prototype = Object.getPrototypeOf(part);
    if (prototype !== (Array.isArray(part) ? Array.prototype : Object.prototype))
      expect.fail(`${source}: a host object`);
    if (Object.getOwnPropertySymbols(part).length > 0) expect.fail(`${source}: symbols`);
    waiting.push(...Object.values(part as object).map((member) => (member === undefined ? 'undefined' : member)));
  }
}

function evaluated(source: string, scope = sampleScope): Json | undefined {
  try {
    return parseExpression(source).evaluate(scope, createBudget());
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw new Error(`${source} throws ${String(error)}`, { cause: error });
    return undefined;
  }
}

describe('hostile chains', () => {
  it.each([1, 2, 3, 4])('[EXP-74] seed %i: nothing but plain JSON comes out', (seed) => {
    const below = seeded(seed);
    const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
    const functions = listFunctions().map(({ name }) => name);
    const part = (): string => {
      const name = pick(NAMES);
      const quoted = JSON.stringify(name);
      return pick([
        () => (/^\w+$/.test(name) && !/^\d/.test(name) ? `.${name}` : `[${quoted}]`),
        () => `[${quoted}]`,
        () => `?.[${quoted}]`,
        () => `[${JSON.stringify(name.slice(0, 3))} + ${JSON.stringify(name.slice(3))}]`,
        () => `.${/^[a-z]\w*$/i.test(name) ? name : 'call'}()`,
        () => `.${pick(functions)}(${quoted})`,
        () => `.${pick(functions)}(i => i?.[${quoted}])`,
        () => `.${pick(functions)}()`,
        () => `.get(${quoted}, {})`,
        () => `.set(${quoted}, ${pick(ROOTS)})`,
        () => `.mapKeys(k => ${quoted})`,
      ])();
    };
    let answers = 0;
    for (let round = 0; round < 4_000; round++) {
      const source = pick(ROOTS) + Array.from({ length: 1 + below(4) }, part).join('');
      const value = evaluated(source);
      if (value === undefined) continue;
      answers++;
      expectPlain(value, source);
    }
    expect(answers).toBeGreaterThan(200);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  it('[EXP-74] the result of every function, with every hostile name', () => {
    const examples = listFunctions().map(({ example }) => example);
    let answers = 0;
    for (const example of examples) {
      const result = evaluated(example);
      if (result === undefined) continue;
      answers++;
      expectPlain(result, example);
      for (const name of NAMES) {
        const source = `(${example})?.[${JSON.stringify(name)}]`;
        const value = evaluated(source);
        if (value !== undefined) expectPlain(value, source);
        const isOwn = typeof result === 'object' && result !== null && Object.hasOwn(result, name);
        if (!isOwn && name !== 'length') expect(value ?? null, source).toBe(null);
      }
    }
    expect(answers).toBeGreaterThan(examples.length / 2);
  });
});

describe('work that grows faster than its text', () => {
  const megabyte = 'ab '.repeat(333_000);
  const wide = Array.from({ length: 20_000 }, (_, n) => ({ n, k: `k${n % 7}`, t: 'x'.repeat(20) }));
  const input = {
    text: megabyte,
    wide,
    names: wide.map(({ n }) => `name-${n}`),
    deep: '['.repeat(500) + ']'.repeat(500),
  };

  it.each([
    `range(9999).map(i => 'x'.repeat(100000)).length`,
    `range(9999).map(i => $input.text.upper()).length`,
    `range(9999).map(i => $input.text.contains('zz')).length`,
    `range(9999).map(i => $input.text.split(' ')).length`,
    `range(9999).map(i => $input.text.replace('a', 'bb')).length`,
    `range(9999).map(i => $input.wide.sortBy(w => w.t)).length`,
    `range(9999).map(i => $input.wide.groupBy(w => w.k)).length`,
    `range(9999).map(i => $input.names.sort()).length`,
    `range(9999).map(i => $input.names.unique()).length`,
    `range(9999).map(i => $input.names.join($input.names.first())).length`,
    `range(9999).map(i => $input.wide == $input.wide.reverse().reverse()).length`,
    `range(9999).map(i => $input.wide.toJson()).length`,
    `range(9999).map(i => $input.deep.parseJson()).length`,
    `range(9999).map(i => $input.text.matches('(a|b| )*c')).length`,
    `range(9999).map(i => $input.text.replacePattern('a*', 'x')).length`,
    `range(9999).map(i => 'a'.padEnd(100000, 'ab')).length`,
    `range(9999).map(i => $input.wide.flat(99).length).sum()`,
    `range(9999).map(i => $input.names.concat($input.names)).length`,
    `range(9999).map(i => $input.wide.map(w => {...w, x: w})).length`,
    `range(9999).reduce((t, i) => t + 'x'.repeat(100), '')`,
    `range(9999).reduce((t, i) => [...t, i], [])`,
    `range(9999).reduce((t, i) => {...t, ['k' + i.toString()]: i}, {})`,
    `$..[?@..n]`,
    `$.wide[?@.n == $.wide[19999].n][?@ == $.wide]`,
    `$.wide[?match(@.t, '(x|xx)*y')]`,
    `$..*[?@..*]`,
  ])('[EXP-75] %s ends soon', (source) => {
    const started = cpuMs();
    const budget = createBudget(EXPRESSION_LIMITS);
    try {
      parseExpression(source).evaluate(scopeOf(input), budget);
    } catch (error) {
      expect((error as ExpressionError).code).toBe('EXPRESSION_LIMIT');
    }
    const spent = EXPRESSION_LIMITS.maxOperations - budget.operationsLeft;
    expect(spent).toBeGreaterThan(50);
    // Without a clock: the count of operations alone bounds the work. Most take some 50 ms.
    expect(cpuMs() - started).toBeLessThan(EXPRESSION_LIMITS.maxEvaluationMs);
  });

  it.each([
    `'9999-12-31T23:59:59Z'.toDate().plus({years: 1e9})`,
    `'9999-12-31'.plus(1e300, 'days')`,
    `date(8.64e15).plus(1, 'days')`,
    `date(-8.64e15).minus(1, 'days')`,
    `date(8.64e15).startOf('week', 'Pacific/Kiritimati')`,
    `date(0).diff(date(8.64e15), 'days')`,
    `date(0).formatDate('${'yyyy'.repeat(1_000)}')`,
    `1e308.toFixed(100)`,
    `1.5.round(400)`,
    `(0.1).format('${'#'.repeat(1_000)}')`,
    `'x'.padStart(1e308)`,
    `'x'.repeat(-1)`,
    `'x'.repeat(1e308)`,
    `range(0, 1e308, 1e-308)`,
    `range(1, 2, 0)`,
    `'😀'.slice(0, 1).urlEncode()`,
    `'%'.urlDecode()`,
    `'\\u0000'.fromBase64()`,
    `'1e999'.parseJson()`,
    `'1e999'.toNumber()`,
  ])('[EXP-73] %s is answered', (source) => {
    const value = evaluated(source);
    if (value !== undefined) expectPlain(value, source);
  });
});
