import { describe, expect, it } from 'vitest';
import { createBudget, listFunctions, parseExpression } from '../../src/expression/index.ts';
import { evaluate, failure, parseFailure, sampleScope, scopeOf } from './sample-scope.ts';

describe('the library', () => {
  it.each(listFunctions().map((entry) => [entry.example, entry.result] as const))('[EXP-40] %s', (example, result) => {
    expect(evaluate(example)).toEqual(result);
  });

  it('[EXP-40] functions without a receiver are few, and every function is documented', () => {
    const plain = listFunctions().filter((entry) => entry.on.length === 0);
    expect(plain.map((entry) => entry.name)).toEqual([
      'range',
      'min',
      'max',
      'object',
      'date',
      'hash',
      'hmac',
      'uuid',
      'random',
    ]);
    for (const { name, signature, doc } of listFunctions()) {
      expect(signature.startsWith(`${name}(`)).toBe(true);
      expect(doc).toMatch(/^[A-Z`-].*\.$/);
    }
  });

  it('[EXP-40] one name has one function for each kind of receiver', () => {
    const seen = listFunctions().flatMap((entry) => entry.on.map((kind) => `${kind}.${entry.name}`));
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('[EXP-41] unknown functions and wrong numbers of arguments are refused when parsed', () => {
    expect(parseFailure('$input.name.uper()')).toMatchObject({
      code: 'EXPRESSION_REFERENCE',
      hint: 'did you mean .upper()?',
    });
    expect(parseFailure('[1].take()')).toMatchObject({
      code: 'EXPRESSION_TYPE',
      hint: 'the signature is take(count: integer)',
    });
    expect(parseFailure('"a".slice(1, 2, 3)').message).toBe('slice takes 1 to 2 arguments, not 3');
    expect(parseFailure('range()').code).toBe('EXPRESSION_TYPE');
    expect(parseFailure('[1].reduce((a, b) => a + b)').hint).toContain('start');
    expect(failure('[1].min(2)').hint).toContain('min()');
  });

  it('[EXP-42] wrong receivers and arguments', () => {
    expect(failure('$input.zero.upper()')).toMatchObject({
      code: 'EXPRESSION_TYPE',
      message: 'upper works on a string, but $input.zero is a number',
    });
    expect(failure('"a".repeat(1.5)').message).toBe('repeat takes a whole number for count, not a number');
    expect(failure('[1].join(1)').message).toBe('join takes a string for separator, not a number');
    expect(failure('[1].sortBy(1)').message).toContain('a lambda or the name of a member');
    expect(failure('"a".matches(1)').message).toContain('a pattern');
    expect(failure('{}.merge([])').message).toContain('an object');
    expect(failure('"a".padStart(null)').code).toBe('EXPRESSION_TYPE');
    expect(failure('[1].concat(2)').code).toBe('EXPRESSION_TYPE');
    expect(failure('["a"].sum()').message).toContain('a string');
    expect(failure('[{}].groupBy(i => i)').code).toBe('EXPRESSION_TYPE');
    expect(failure('[{a: 1}].pluck("aa")').hint).toContain('"a"');
    expect(failure('object([1])').code).toBe('EXPRESSION_TYPE');
  });

  it('[EXP-43] receivers stay as they are', () => {
    const input = { list: [3, 1, 2, 1], nested: [[1], [2]], object: { a: { b: 1 }, c: null }, text: ' Text ' };
    const frozen = JSON.stringify(input);
    const scope = scopeOf(input);
    const calls: Record<string, string[]> = {
      '$input.list': [
        'sort()',
        'reverse()',
        'sortBy(i => i)',
        'append(1)',
        'concat([1])',
        'unique()',
        'take(1)',
        'chunk(2)',
        'compact()',
      ],
      '$input.nested': ['flat()', 'map(i => i)', 'zip([1, 2])'],
      '$input.object': [
        'merge({a: 1})',
        'mergeDeep({a: {d: 2}})',
        'set("a", 1)',
        'omit("a")',
        'compact()',
        'mapValues(v => 1)',
      ],
      '$input.text': ['trim()', 'replace("T", "t")', 'upper()'],
    };
    for (const [receiver, methods] of Object.entries(calls)) {
      for (const method of methods) evaluate(`${receiver}.${method}`, scope);
    }
    expect(JSON.stringify(input)).toBe(frozen);
  });

  it('[EXP-44] order of numbers or of strings, stable, null keys last', () => {
    expect(evaluate('[10, 9, 1].sort()')).toEqual([1, 9, 10]);
    expect(evaluate('["b", "a"].sort("desc")')).toEqual(['b', 'a']);
    expect(evaluate('[{k: 1, n: "a"}, {k: 0, n: "b"}, {k: 1, n: "c"}].sortBy("k").pluck("n")')).toEqual([
      'b',
      'a',
      'c',
    ]);
    expect(evaluate('[{k: 1, n: "a"}, {k: 2, n: "b"}, {k: 1, n: "c"}].sortBy("k", "desc").pluck("n")')).toEqual([
      'b',
      'a',
      'c',
    ]);
    expect(evaluate('[{n: 2}, {}, {n: 1}].sortBy(i => i?.n)')).toEqual([{ n: 1 }, { n: 2 }, {}]);
    expect(evaluate('[[].min(), [].max(), [].avg(), [].sum()]')).toEqual([null, null, null, 0]);
    for (const bad of [
      '[1, "a"].sort()',
      '[null].sort()',
      '[[1], [2]].sort()',
      '[1, "a"].max()',
      '[true].min()',
      '[1].sort("up")',
    ]) {
      expect(['EXPRESSION_TYPE', 'EXPRESSION_VALUE'], bad).toContain(failure(bad).code);
    }
  });

  it('[EXP-47] patterns', () => {
    expect(parseFailure('$input.name.matches("(")')).toMatchObject({ code: 'EXPRESSION_VALUE', offset: 20 });
    expect(parseFailure(String.raw`"a".matches("(a)\\1")`).hint).toContain('RE2');
    expect(parseFailure('"a".matches("(?=a)")').code).toBe('EXPRESSION_VALUE');
    expect(failure('"a".matches($input.pattern)', scopeOf({ pattern: '(' })).code).toBe('EXPRESSION_VALUE');
    expect(evaluate('"ABC".matches("(?i)abc")')).toBe(true);
    expect(evaluate('"a1b2".replacePattern("[0-9]", "<$&>")')).toBe('a<1>b<2>');
    expect(evaluate('"a".replacePattern("(a)", "$1$1$$$2")')).toBe('aa$$2');
    expect(evaluate('"abc".extract("x")')).toBe(null);
    expect(evaluate('"k=v".extract("(x)?k=(v)")')).toBe(null);
    expect(evaluate('"aXbX".extractAll("X?")')).toEqual(['', 'X', '', 'X', '']);
    expect(evaluate('"abc".splitPattern("")')).toEqual(['abc']);
  });

  it('[EXP-48] the same expression over the same scope gives the same result', () => {
    for (const { example } of listFunctions()) {
      const expression = parseExpression(example);
      const first = expression.evaluate(sampleScope, createBudget());
      expect(expression.evaluate(sampleScope, createBudget())).toEqual(first);
    }
    const names = listFunctions().map((entry) => entry.name);
    expect(names).not.toEqual(expect.arrayContaining(['now']));
    for (const name of ['now', 'today', 'shuffle', 'sample']) expect(names).not.toContain(name);
  });
});

describe('digests and draws', () => {
  const sha1 = 'a9993e364706816aba3e25717850c26c9cd0d89d';

  it.each([
    [`hash('abc', 'sha1')`, sha1],
    [`hash('')`, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    [`hash({b: 1, a: 2}) == hash({a: 2, b: 1})`, true],
    [`hash({a: 1}) == hash('{"a":1}')`, true],
    [
      `hmac('what do ya want for nothing?', 'Jefe')`,
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [`hmac('what do ya want for nothing?', 'Jefe', 'sha1')`, 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79'],
    [`hash('abc', 'sha1', 'base64')`, 'qZk+NkcGgWq6PiVxeFDCbJzQ2J0='],
  ])('[EXP-108] %s', (source, result) => {
    expect(evaluate(source)).toEqual(result);
  });

  it('[EXP-108] an unknown algorithm or encoding is reported, and digests are charged', () => {
    expect(failure(`hash('a', 'md5')`).hint).toContain('sha256');
    expect(failure(`hash('a', 'sha1', 'hax')`).hint).toContain('base64');
    expect(failure(`range(100).map(i => hash('x'.repeat(100000)))`).code).toBe('EXPRESSION_LIMIT');
  });

  it('[EXP-109] uuid and random draw from the scope, and nowhere else', () => {
    expect(evaluate('uuid()')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(evaluate('random()')).toBeGreaterThanOrEqual(0);
    const { draw: _, ...without } = sampleScope;
    expect(failure('uuid()', without).code).toBe('EXPRESSION_VALUE');
    expect(parseExpression('uuid() + random().toString()').references.map(({ kind }) => kind)).toEqual([
      'draw',
      'draw',
    ]);
  });
});

describe('JSONPath over any value', () => {
  it.each([
    [`$input.order.query('$.items[*].sku')`, ['a', 'b']],
    [`$input.order.query('$.items[0].sku')`, 'a'],
    [`[3, 1].query('$[?@ > 2]')`, [3]],
    [`$input.order.query('$.' + 'id')`, 7],
    [`$input.order.query('$.no.such') ?? 'none'`, 'none'],
    [`$input.order?.query('$.no')`, null],
    [`$input.nothing?.query('$.a')`, null],
    [`{a: null}.query('$.a')`, null],
    [`'text'.query('$.a[*]')`, []],
  ])('[EXP-110] %s', (source, result) => {
    expect(evaluate(source)).toEqual(result);
  });

  it('[EXP-110] a missing or invalid query is reported', () => {
    expect(failure(`$input.order.query('$.no')`)).toMatchObject({ code: 'EXPRESSION_REFERENCE', isMissing: true });
    expect(parseFailure(`$input.query('.a')`).message).toContain('starts with $');
    expect(parseFailure(`$input.query('$.a[')`).code).toBe('EXPRESSION_SYNTAX');
    expect(failure(`$input.query($input.name)`).code).toBe('EXPRESSION_SYNTAX');
    expect(failure(`range(200).map(i => $input.query('$..*' + ''.padEnd(900))).length`).code).toMatch(/EXPRESSION_/);
  });
});

describe('characters outside the first plane', () => {
  it.each([
    [`'😀'.split('')`, ['😀']],
    [`'a😀b'.split('', 2)`, ['a', '😀']],
    [`'a😀b'.split('a')`, ['', '😀b']],
    [`'😀a'.slice(0, 1)`, ''],
    [`'😀a'.slice(1)`, '😀a'],
    [`'😀a'.slice(0, 2)`, '😀'],
    [`'a😀'.slice(-1)`, '😀'],
    [`'😀a'.at(0)`, '😀'],
    [`'😀a'.at(1)`, '😀'],
    [`'a😀'.at(-1)`, '😀'],
    [`'😀😀'.truncate(3, '')`, '😀'],
    [`'a'.padStart(3, '😀')`, '😀a'],
    [`'a'.padEnd(4, '😀')`, 'a😀'],
    [`'a'.padEnd(4)`, 'a   '],
    [`'𐐨x'.capitalize()`, '𐐀x'],
    [`'a😀b'.extractAll('.')`, ['a', '😀', 'b']],
    [`'a😀b'.splitPattern('')`, ['a😀b']],
    [`'😀'.length`, 2],
  ])('[EXP-107] %s', (source, result) => {
    expect(evaluate(source)).toEqual(result);
  });
});

describe('details', () => {
  it.each([
    [`'a.b.c'.replace('.', '$&')`, 'a$&b$&c'],
    [`'aaa'.replace('', 'x')`, 'aaa'],
    [`'abc'.split('')`, ['a', 'b', 'c']],
    [`'a,b,c'.split(',', 2)`, ['a', 'b']],
    [`'😀a'.capitalize()`, '😀a'],
    [`''.capitalize()`, ''],
    [`'HTTPServer error2'.snakeCase()`, 'http_server_error_2'],
    [`'abc'.at(5)`, null],
    [`'x'.repeat(-1)`, ''],
    [`'abc'.truncate(2, '...')`, '...'],
    [`'1e3'.toNumber()`, 1000],
    [`'abc'.toNumber(null)`, null],
    [`true.toNumber()`, 1],
    [`null.toString()`, ''],
    [`[1, null].toString()`, '[1,null]'],
    [`null.toBoolean()`, false],
    [`null.isEmpty() && [].isEmpty() && {}.isEmpty() && !{a: 1}.isEmpty() && !' '.isEmpty()`, true],
    [`1.005.round(2)`, 1.01],
    [`(-2.5).round()`, -3],
    [`1234.round(-2)`, 1200],
    [`1e-7.round(8)`, 1e-7],
    [`(-1234.5).format(1, '.', ',')`, '-1.234,5'],
    [`0.1.toFixed(3)`, '0.100'],
    [`[1, [2, [3, [4]]]].flat(2)`, [1, 2, 3, [4]]],
    [`[1, [2, [3]]].flat(99)`, [1, 2, 3]],
    [`[{a: 1}, {a: 1}, [1], [1], 1, '1', null].unique().length`, 5],
    [`[3, 1].zip([1])`, [[3, 1]]],
    [`[1, 2].union([2, {a: 1}, {a: 1}])`, [1, 2, { a: 1 }]],
    [`[1, null, 'a', [2]].join('|')`, '1||a|[2]'],
    [`range(5, 0, -2)`, [5, 3, 1]],
    [`range(0)`, []],
    [`{a: {b: [1, {c: 2}]}}.get('a.b.1.c')`, 2],
    [`{a: 1}.get('a.b.c', 'none')`, 'none'],
    [`{a: 1}.get('__proto__.x')`, null],
    [`[{a: 5}].get('[0].a')`, 5],
    [`{a: 1}.mapKeys((k, v) => k + v.toString())`, { a1: 1 }],
    [`{b: 1, a: 2}.entries().sortBy('key').map(e => e.value)`, [2, 1]],
    [`'a=1&a=2&a=3&b='.parseQuery()`, { a: ['1', '2', '3'], b: '' }],
    [`'?x=%C3%A9'.parseQuery()`, { x: 'é' }],
    [`'4pyTIMOgIGxhIG1vZGU'.fromBase64()`, '✓ à la mode'],
    [`{a: {b: {c: 1}}}.toJson(true).lines().length`, 7],
  ])('[EXP-40] %s', (source, result) => {
    expect(evaluate(source)).toEqual(result);
  });

  it.each([
    [`'x'.toNumber()`, 'EXPRESSION_VALUE'],
    [`'maybe'.toBoolean()`, 'EXPRESSION_VALUE'],
    [`[].toNumber()`, 'EXPRESSION_TYPE'],
    [`'{'.parseJson()`, 'EXPRESSION_VALUE'],
    [`'1e999'.parseJson()`, 'EXPRESSION_VALUE'],
    [`'/w=='.fromBase64()`, 'EXPRESSION_VALUE'],
    [`'*'.fromBase64()`, 'EXPRESSION_VALUE'],
    [`'%'.urlDecode()`, 'EXPRESSION_VALUE'],
    [`(-1).sqrt()`, 'EXPRESSION_VALUE'],
    [`5.clamp(3, 1)`, 'EXPRESSION_VALUE'],
    [`5.toFixed(-1)`, 'EXPRESSION_VALUE'],
    [`5.round(500)`, 'EXPRESSION_VALUE'],
    [`[1].chunk(0)`, 'EXPRESSION_VALUE'],
    [`range(0, 1, 0)`, 'EXPRESSION_VALUE'],
    [`{a: {}}.toQuery()`, 'EXPRESSION_TYPE'],
    [`{a: 1}.mapKeys(k => 1)`, 'EXPRESSION_TYPE'],
  ])('[EXP-42] %s fails with %s', (source, code) => {
    expect(failure(source).code).toBe(code);
  });
});
