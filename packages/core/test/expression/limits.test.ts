import { describe, expect, it } from 'vitest';
import { compileValue, createBudget, listFunctions, parseExpression, StepBudget } from '../../src/expression/index.ts';
import { MAX_PATTERN_LENGTH } from '../../src/expression/regex.ts';
import { EXPRESSION_LIMITS } from '../../src/limits.ts';
import type { Json } from '../../src/value.ts';
import { cpuMs, evaluate, failure, limited, parseFailure, sampleScope, scopeOf } from './sample-scope.ts';

const PLENTY = 10_000_000;

/** Operations that an evaluation spends. */
function cost(source: string, input: Json = null): number {
  const budget = createBudget(limited({ maxOperations: PLENTY }));
  evaluate(source, scopeOf(input), budget);
  return PLENTY - budget.operationsLeft;
}

function limitOf(source: string, input: Json = null, limits = {}): string {
  const error = failure(() => evaluate(source, scopeOf(input), createBudget(limited(limits))));
  expect(error.code, source).toBe('EXPRESSION_LIMIT');
  return error.message;
}

describe('depth', () => {
  const nested = (open: string, inner: string, close: string, depth: number) =>
    open.repeat(depth) + inner + close.repeat(depth);

  it('[EXP-60] 32 levels and not one more', () => {
    expect(parseExpression(nested('(', '1', ')', 31)).depth).toBe(32);
    expect(parseFailure(nested('(', '1', ')', 32)).code).toBe('EXPRESSION_LIMIT');
    expect(parseExpression(nested('(', '1', ')', 99), limited({ maxAstDepth: 100 })).depth).toBe(100);
  });

  it.each([
    ['(', ')'],
    ['[', ']'],
    ['{a:', '}'],
    ['!', ''],
    ['-', ''],
    ['not ', ''],
    ['[1].map(i => ', ')'],
    ['min(', ')'],
    ['true ? ', ' : 1'],
    ['$[?(', '== 1)]'],
    ['$[?@[?', ']]'],
    ['$[?length(', ') == 1]'],
    ['$input[', ']'],
    ['"a" + (', ')'],
  ])('[EXP-60] 100,000 times %s is a clean error', (open, close) => {
    for (const inner of ['1', '@.a', '']) {
      const error = parseFailure(nested(open, inner, close, 100_000));
      expect(['EXPRESSION_LIMIT', 'EXPRESSION_SYNTAX']).toContain(error.code);
    }
    expect(parseFailure(nested(open, '@', close, 100_000)).message.length).toBeLessThan(300);
  });

  it('[EXP-60] chains do not nest', () => {
    const many = 5_000;
    expect(parseExpression(`1${' + 1'.repeat(many)}`).depth).toBe(1);
    const budget = () => createBudget(limited({ maxOperations: PLENTY }));
    expect(evaluate(`1${' + 1'.repeat(many)}`, sampleScope, budget())).toBe(many + 1);
    expect(evaluate(`true${' && true'.repeat(many)}`, sampleScope, budget())).toBe(true);
    expect(evaluate(`null${' ?? null'.repeat(many)}`, sampleScope, budget())).toBe(null);
    expect(evaluate(`"a"${'.trim()'.repeat(many)}`, sampleScope, budget())).toBe('a');
    expect(evaluate(`${'false ? 1 : '.repeat(many)}2`, sampleScope, budget())).toBe(2);
    expect(failure(`$input${'.a'.repeat(many)}`).code).toBe('EXPRESSION_REFERENCE');
    // Except for this one, which wraps what comes before it.
    expect(evaluate(`$input${'.a.default(1)'.repeat(2)} ?? 2`)).toBe(1);
    expect(parseFailure(`$input${'.a.default(1)'.repeat(many)}`).code).toBe('EXPRESSION_LIMIT');
  });
});

describe('operations', () => {
  it('[EXP-61] counts operations', () => {
    expect(cost('1')).toBe(0);
    expect(cost('$input')).toBe(1);
    expect(cost('1 + 2 + 3')).toBe(2);
    expect(cost('$input.a.b', { a: { b: 1 } })).toBe(1);
    expect(cost('$input.a.a.a.a.a.a.a.a.a ?? 1', {})).toBe(3);
    expect(cost('[1].first()')).toBe(2);
    expect(cost('range(40).map(i => 1)')).toBe(42);
    expect(cost('range(40).map(i => i)')).toBe(42);
    expect(cost('range(40).map(i => i + 1)')).toBe(82);
  });

  it('[EXP-61] the limit and one more', () => {
    const sum = (terms: number) => `1${' + 1'.repeat(terms)}`;
    expect(evaluate(sum(100), sampleScope, createBudget(limited({ maxOperations: 100 })))).toBe(101);
    expect(limitOf(sum(101), null, { maxOperations: 100 })).toContain('100 operations');
    expect(limitOf('range(100).map(a => range(100).map(b => a + b))')).toContain('10000 operations');
  });

  it('[EXP-61] 100,000 elements are practical where no lambda runs', () => {
    const list = Array.from({ length: 100_000 }, (_, index) => index);
    for (const source of [
      '$input.sum()',
      '$input.reverse()',
      '$input.unique().length',
      '$input.sort().first()',
      '$input.take(5)',
    ]) {
      expect(cost(source, list), source).toBeLessThan(EXPRESSION_LIMITS.maxOperations);
    }
  });

  it('[EXP-62] work beyond a walk is charged', () => {
    const list = Array.from({ length: 12_000 }, (_, index) => `k${index}`);
    const object = Object.fromEntries(list.map((key) => [key, 1]));
    const text = 'ab '.repeat(10_000);
    expect(cost('$input.reverse()', list)).toBeLessThan(300);
    expect(cost('$input.unique()', list)).toBeGreaterThan(400);
    expect(cost('$input.sort()', list)).toBeGreaterThan(2_000);
    for (const source of ['keys()', 'entries()', "omit('a')", "set('a', 1)", 'merge({})', 'compact()', 'toQuery()']) {
      expect(cost(`$input.${source}`, object), source).toBeGreaterThanOrEqual(3_000);
    }
    expect(cost('$input.upper()', text)).toBeLessThan(100);
    for (const source of ['camelCase()', 'slug()', 'toBase64()', 'parseQuery()', 'escapeHtml()']) {
      expect(cost(`$input.${source}`, text), source).toBeGreaterThan(150);
    }
    expect(cost('$input.extractAll("ab")', text)).toBeGreaterThan(5_000);
  });

  it('[EXP-112] expressions of one step fail once they have cost as much as one evaluation can', () => {
    const budgets = new StepBudget(() => createBudget());
    const sortMany = (): unknown => evaluate('$input.sort().first()', scopeOf(list), budgets.next());
    const list = Array.from({ length: 8_000 }, (_, index) => `k${index}`);
    for (let times = 0; times < 2; times++) expect(sortMany()).toBe('k0');
    const error = failure(sortMany);
    expect(error.code).toBe('EXPRESSION_LIMIT');
    expect(error.message).toContain('together');
    budgets.renew();
    expect(sortMany()).toBe('k0');
    budgets.renew();
    for (let times = 0; times < 20_000; times++) evaluate('1 + 1 == 2', sampleScope, budgets.next());
  });

  it('[EXP-112] the next expression gets the rest of the step, and its plain operations count too', () => {
    const list = Array.from({ length: 8_000 }, (_, index) => `k${index}`);
    const budgets = new StepBudget(() => createBudget());
    evaluate('$input.sort().first()', scopeOf(list), budgets.next());
    const second = budgets.next();
    const more = failure(() => evaluate('[$input.sort(), $input.sort()].count()', scopeOf(list), second));
    expect(more.message).toContain('together');
    // Without the first evaluation the second is within its own limit.
    expect(evaluate('[$input.sort(), $input.sort()].count()', scopeOf(list), createBudget())).toBe(2);
    expect(failure(() => evaluate('1 + 1 == 2', sampleScope, budgets.next())).message).toContain('together');
    budgets.renew();
    expect(evaluate('1 + 1 == 2', sampleScope, budgets.next())).toBe(true);
  });

  it('[EXP-62] nothing that walks data is free', () => {
    const text = 'ab '.repeat(30_000);
    const list = Array.from({ length: 20_000 }, (_, index) => index);
    const records = list.map((n) => ({ n }));
    const object = Object.fromEntries(list.map((n) => [`k${n}`, n]));
    const constant = new Set(
      'at first last take skip slice zip type isEmpty default length has startsWith endsWith removePrefix removeSuffix truncate count toDate isDate toMillis plus minus diff startOf endOf isBefore isAfter datePart formatDate toNumber toBoolean toString find findIndex some every get'.split(
        ' ',
      ),
    );
    const free: string[] = [];
    for (const { name, signature, on, example } of listFunctions()) {
      const args = example.slice(example.lastIndexOf(`.${name}(`) + name.length + 1);
      if (
        constant.has(name) ||
        signature.includes('(item') ||
        signature.includes('(value') ||
        signature.includes('(key')
      )
        continue;
      for (const kind of on) {
        // A text has no members, so a query reads none of it.
        if (kind === 'string' && name === 'query') continue;
        const input =
          kind === 'string'
            ? text
            : kind === 'object'
              ? object
              : kind === 'array'
                ? args.includes('i.n') || args.includes('"n"')
                  ? records
                  : list
                : undefined;
        if (input === undefined) continue;
        const budget = createBudget(limited({ maxOperations: PLENTY, maxArrayLength: PLENTY, maxStringBytes: PLENTY }));
        try {
          evaluate(`$input.${name}${args}`, scopeOf(input), budget);
        } catch {
          // The arguments of some examples do not fit; only the cost until then counts.
        }
        if (PLENTY - budget.operationsLeft < 80) free.push(`${kind}.${name}${args}`);
      }
    }
    expect(free).toEqual([]);
  });

  it('[EXP-62] equality and order are charged for the values that they compare', () => {
    const long = 'x'.repeat(500_000);
    expect(cost('$input.a == $input.b', { a: long, b: `${long.slice(1)}x` })).toBeGreaterThan(400);
    expect(cost('$input.a < $input.b', { a: long, b: `${long}x` })).toBeGreaterThan(400);
    const list = Array.from({ length: 10_000 }, (_, index) => [index]);
    expect(cost('$input.a == $input.b', { a: list, b: structuredClone(list) })).toBeGreaterThan(100);
    expect(cost('$input.sort()', [long, `${long}a`, `${long}b`, `${long}c`])).toBeGreaterThan(1_000);
  });
});

describe('strings and lists', () => {
  it.each([
    `'x'.repeat(1000001)`,
    `'x'.padStart(1000001)`,
    `'x'.padEnd(1e15, 'ab')`,
    `'é'.repeat(500001)`,
    `'x'.repeat(500000) + 'y'.repeat(500001)`,
    `'x'.repeat(1000).replace('x', 'y'.repeat(1001))`,
    `'x'.repeat(1000).replacePattern('x', 'y'.repeat(1001))`,
    `range(1001).map(i => 'x'.repeat(1000)).join()`,
    `[0, 1].map(i => 'x'.repeat(600000)).toJson()`,
    `[0, 1].map(i => 'x'.repeat(600000)).toString()`,
    `'😀'.repeat(200000).urlEncode()`,
    `'x'.repeat(900000).toBase64()`,
    `'&'.repeat(900000).escapeHtml()`,
    `'ß'.repeat(400000).upper() + 'x'.repeat(300000)`,
    `range(1000).join('x'.repeat(1001))`,
    `'ab'.repeat(400000).split('').join('xx')`,
    `{a: range(2000).map(i => 'x'.repeat(600))}.toQuery()`,
  ])('[EXP-63] %s is too long', (source) => {
    expect(limitOf(source, null, { maxOperations: PLENTY })).toMatch(/bytes|elements/);
  });

  it('[EXP-63] bytes are UTF-8, and the limit itself is allowed', () => {
    const limits = { maxStringBytes: 12 };
    const length = (source: string) => evaluate(source, sampleScope, createBudget(limited(limits)));
    expect(length(`'abcdef' + 'ghijkl'`)).toBe('abcdefghijkl');
    expect(limitOf(`'abcdef' + 'ghijklm'`, null, limits)).toContain('12 bytes');
    expect(length(`'ééé' + 'ééé'`)).toBe('éééééé');
    expect(limitOf(`'ééé' + 'éééx'`, null, limits)).toContain('12 bytes');
    expect(length(`'😀' + '😀😀'`)).toBe('😀😀😀');
    expect(limitOf(`'😀' + '😀😀x'`, null, limits)).toContain('12 bytes');
  });

  it('[EXP-63] values of the scope may be longer, and are passed on', () => {
    const long = 'x'.repeat(2_000_000);
    expect(evaluate('$input', scopeOf(long))).toBe(long);
    expect(evaluate('[$input.a].first()', scopeOf({ a: long }))).toBe(long);
    expect(limitOf('$input.upper()', long)).toContain('bytes');
  });

  it.each([
    'range(100001)',
    'range(1e300)',
    `'a'.repeat(100001).split('')`,
    `'\\n'.repeat(100001).lines()`,
    `'a'.repeat(100001).extractAll('a')`,
    `'a '.repeat(100001).splitPattern(' ')`,
    'range(60000).concat(range(60000))',
    '[...range(60000), ...range(60000)]',
    'range(60000).union(range(60000))',
    '[range(60000), range(60000)].flat()',
    'range(400).flatMap(i => range(400))',
    'range(100000).append(1)',
  ])('[EXP-64] %s is too long', (source) => {
    const started = cpuMs();
    expect(limitOf(source, null, { maxOperations: PLENTY })).toContain('elements');
    expect(cpuMs() - started).toBeLessThan(2_000);
  });

  it('[EXP-64] the limit itself is allowed, and can be moved', () => {
    expect(evaluate('range(100000).length')).toBe(100_000);
    expect(limitOf('range(11)', null, { maxArrayLength: 10 })).toContain('11 elements');
    expect(limitOf('$input.filter(i => true)', [1, 2, 3], { maxArrayLength: 2 })).toContain('3 elements');
    const list = Array.from({ length: 150_000 }, () => 0);
    expect(evaluate('$input.list', scopeOf({ list }))).toBe(list);
    expect(evaluate('[$input].first()', scopeOf(list))).toBe(list);
  });
});

describe('time and the one budget', () => {
  it('[EXP-65] the clock of the budget', () => {
    let now = 0;
    const budget = createBudget(limited({ maxOperations: PLENTY }), () => {
      now += 1_000;
      return now;
    });
    const error = failure(() => evaluate('range(10000).map(i => i + 1)', sampleScope, budget));
    expect(error).toMatchObject({ code: 'EXPRESSION_LIMIT', message: 'the expression takes longer than 5000 ms' });
    // The clock is read rarely: at the start and about every 256 operations.
    expect(now).toBeLessThan(10_000);
  });

  it('[EXP-65] without a clock there is no limit of time', () => {
    expect(cost('range(10000).map(i => i + 1).length')).toBeGreaterThan(20_000);
  });

  it('[EXP-66] one budget for everything, never reset', () => {
    const budget = createBudget(limited({ maxOperations: 200 }));
    const list = Array.from({ length: 30 }, (_, n) => ({ n, text: 'abc' }));
    const scope = scopeOf({ list });
    const spend = (source: string) => {
      const before = budget.operationsLeft;
      evaluate(source, scope, budget);
      expect(budget.operationsLeft, source).toBeLessThan(before);
    };
    spend('$input.list.map(i => i.n)');
    spend('$.list[?@.n > 3].n');
    spend(`'abc'.matches('b')`);
    spend('range(10).map(i => i)');
    const template = compileValue('{{ $input.list.map(i => i.n).join() }} and {{ $input.list.length }}');
    template.evaluate(scope, budget);
    expect(budget.operationsLeft).toBeLessThan(100);
    expect(failure(() => evaluate('range(100).map(i => i)', scope, budget)).code).toBe('EXPRESSION_LIMIT');
    // A used-up budget stays used up.
    expect(failure(() => evaluate('$input.list.length + 1', scope, budget)).code).toBe('EXPRESSION_LIMIT');
  });
});

describe('regular expressions', () => {
  it('[EXP-67] are charged for the text that they read, by the size of the program', () => {
    const text = 'a'.repeat(10_000);
    const small = cost(`$input.matches('a+b?$')`, `${text}c`);
    const large = cost(`$input.matches('(a?){100}a{100}[bc][de]$')`, `${text}c`);
    expect(small).toBeGreaterThan(3);
    expect(large).toBeGreaterThan(small * 10);
  });

  it('[EXP-67] finding all matches cannot be quadratic for free', () => {
    const started = cpuMs();
    expect(limitOf(`$input.extractAll('a*?[b]|a')`, 'a'.repeat(50_000))).toContain('operations');
    expect(limitOf(`$input.replacePattern('.*[bc]|a', 'x')`, 'a'.repeat(50_000))).toContain('operations');
    expect(cpuMs() - started).toBeLessThan(3_000);
  });

  it('[EXP-67] large patterns are refused before they are compiled', () => {
    const started = cpuMs();
    for (const pattern of [
      '(a{100}){100}{100}',
      '((a{50}){50}){50}',
      'a{1000}'.repeat(140),
      `(${'ab|'.repeat(200)}c){500}`,
    ]) {
      expect(limitOf('"a".matches($input)', pattern)).toContain('too large');
    }
    expect(limitOf('"a".matches($input)', 'a'.repeat(MAX_PATTERN_LENGTH + 1))).toContain('longer than');
    expect(parseFailure(`'a'.matches('${'a'.repeat(MAX_PATTERN_LENGTH + 1)}')`).code).toBe('EXPRESSION_LIMIT');
    expect(cpuMs() - started).toBeLessThan(500);
    expect(evaluate(`'2024-05-01'.matches('^\\\\d{4}-\\\\d{2}-[\\\\p{N}{]{2}$')`)).toBe(true);
  });

  it('[EXP-67] the cost of a pattern does not depend on whether it was compiled before', () => {
    const first = cost('$input.text.matches($input.pattern)', { text: 'abc', pattern: 'a(b|c)+never-seen' });
    expect(cost('$input.text.matches($input.pattern)', { text: 'abc', pattern: 'a(b|c)+never-seen' })).toBe(first);
  });
});

describe('results', () => {
  it('[EXP-68] shared parts count each time', () => {
    expect(limitOf('range(40).reduce(t => [t, t], 1)')).toContain('too large');
    expect(limitOf(`range(40).reduce(t => { a: t, b: t }, 'x')`)).toContain('too large');
    expect(limitOf(`range(2000).map(i => $input)`, 'x'.repeat(900_000))).toContain('too large');
    const chain = `[1]${'.map(i => [i, i])'.repeat(30)}`;
    expect(limitOf(chain, null, { maxOperations: PLENTY })).toContain('too large');
    expect(limitOf('range(40).reduce(t => [t, t], 1).toJson()')).toMatch(/bytes|operations/);
    expect(limitOf('range(40).reduce(t => [t, t], 1) == range(40).reduce(t => [t, t], 1)')).toContain('operations');
  });

  it('[EXP-68] results do not nest without end', () => {
    expect(limitOf('range(2000).reduce(t => [t], 1)')).toContain('1000 levels');
    expect(evaluate('range(900).reduce(t => [t], 1).flat(900).length')).toBe(1);
    for (const method of ['toJson()', 'toString()', 'unique()', 'flat(5000)']) {
      const error = failure(`[range(4000).reduce(t => [t], [1])].${method}`);
      expect(error.code, method).toBe('EXPRESSION_LIMIT');
    }
    expect(
      limitOf('range(4000).reduce(t => [t], 1) == range(4000).reduce(t => [t], 1)', null, { maxOperations: PLENTY }),
    ).toContain('levels');
    expect(limitOf(`('['.repeat(50000) + ']'.repeat(50000)).parseJson()`)).toContain('1000 levels');
  });

  it('[EXP-68] the weight of all parts of a value is one', () => {
    const value = compileValue(Array.from({ length: 12 }, () => '{{ range(90000) }}'));
    const budget = createBudget(limited({ maxOperations: PLENTY }));
    expect(failure(() => value.evaluate(sampleScope, budget)).message).toContain('too large');
  });
});
