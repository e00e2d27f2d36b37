import { describe, expect, it } from 'vitest';
import { evaluate, failure, parseFailure } from './sample-scope.ts';

describe('literals', () => {
  it('[EXP-1] numbers are written as in JSON', () => {
    expect(evaluate('12')).toBe(12);
    expect(evaluate('-1.5e3')).toBe(-1500);
    expect(evaluate('2E-2')).toBe(0.02);
    for (const bad of ['01', '1e', '1e+', '1a', '0x1f', '1_000', '.5', '1e999', '1.']) {
      expect(parseFailure(bad).code, bad).toBe('EXPRESSION_SYNTAX');
    }
  });

  it('[EXP-2] strings stand in either quotes and know the escapes of JSON', () => {
    expect(evaluate(`'it"s'`)).toBe('it"s');
    expect(evaluate(`"it's"`)).toBe("it's");
    expect(evaluate(String.raw`'\\ \' \" \/ \b\f\n\r\t \u00e9 \ud83d\ude00'`)).toBe('\\ \' " / \b\f\n\r\t é 😀');
    expect(evaluate(`'two\nlines'`)).toBe('two\nlines');
  });

  it('[EXP-2] other escapes and halves of surrogate pairs are syntax errors', () => {
    for (const bad of [
      String.raw`'\x41'`,
      String.raw`'\ud83d'`,
      String.raw`'\ude00'`,
      String.raw`'\u12'`,
      "'\ud83d'",
      "'open",
    ]) {
      expect(parseFailure(bad).code, bad).toBe('EXPRESSION_SYNTAX');
    }
  });

  it('[EXP-3] lists and objects, computed keys, spread, trailing commas', () => {
    expect(evaluate('[1, "a", [null], ...[2, 3],]')).toEqual([1, 'a', [null], 2, 3]);
    expect(evaluate(`{a: 1, 'b-c': 2, ['d' + 'e']: 3, 4: 5, ...{f: 6}, and: 7,}`)).toEqual({
      a: 1,
      'b-c': 2,
      de: 3,
      4: 5,
      f: 6,
      and: 7,
    });
    expect(evaluate('[]')).toEqual([]);
    expect(evaluate('{}')).toEqual({});
    expect(failure('[...1]').code).toBe('EXPRESSION_TYPE');
    expect(failure('{...[1]}').code).toBe('EXPRESSION_TYPE');
    expect(failure('{[1]: 2}').code).toBe('EXPRESSION_TYPE');
    expect(parseFailure('{a}').code).toBe('EXPRESSION_SYNTAX');
  });
});

describe('operators', () => {
  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['10 - 2 - 3', 5],
    ['24 / 4 / 2', 3],
    ['-2 * -3', 6],
    ['1 + 1 == 2 && 2 * 2 != 5', true],
    ['true || false && false', true],
    ['null ?? 1 + 1', 2],
    ['null ?? 3 > 2', true],
    ['(null ?? 3) > 2', true],
    ['false || null ?? 7', 7],
    ['true ? 1 : 2 + 10', 1],
    ['false ? 1 : false ? 2 : 3', 3],
    ['!true == false', true],
    ['-5.abs()', -5],
    ['true ? false ? 1 : 2 : 3', 2],
  ])('[EXP-4] %s', (source, result) => {
    expect(evaluate(source)).toBe(result);
  });

  it('[EXP-5] comparisons cannot be chained', () => {
    for (const bad of ['1 < 2 < 3', '1 == 1 == true', '"a" contains "a" == true']) {
      const error = parseFailure(bad);
      expect(error.code).toBe('EXPRESSION_SYNTAX');
      expect(error.hint).toContain('parentheses');
    }
    expect(evaluate('(1 < 2) == true')).toBe(true);
  });

  it('[EXP-6] words are operators, and still names of members', () => {
    expect(evaluate('true and not false or false')).toBe(true);
    expect(evaluate('not 1 == 2')).toBe(true);
    expect(evaluate('not "abc" contains "b"')).toBe(false);
    expect(evaluate('{and: {or: {not: {contains: 1}}}}.and.or.not.contains')).toBe(1);
    expect(parseFailure('1 + not true').code).toBe('EXPRESSION_SYNTAX');
    expect(parseFailure('[1].map(not => 1)').code).toBe('EXPRESSION_SYNTAX');
  });
});

describe('names and lambdas', () => {
  it('[EXP-7] lambdas are arguments of functions that take them', () => {
    expect(evaluate('[1, 2].map(i => i + 1)')).toEqual([2, 3]);
    expect(evaluate('[1, 2].map((item, index) => item * index)')).toEqual([0, 2]);
    expect(evaluate('[1, 2].map(() => 0)')).toEqual([0, 0]);
    expect(evaluate('[[1], [2]].map(a => a.map(b => [a, b]))')).toEqual([[[[1], 1]], [[[2], 2]]]);
    expect(evaluate('[1].map(a => [2].map(a => a))')).toEqual([[2]]);
    for (const bad of [
      'i => i',
      '(a, b) => a',
      '[i => i]',
      '{a: i => i}',
      '$input.map',
      '(i => i)(1)',
      '1 + (i => 1)',
    ]) {
      if (bad === '$input.map') continue;
      expect(parseFailure(bad).code, bad).toBe('EXPRESSION_SYNTAX');
    }
    expect(parseFailure('"a".split(i => i)').code).toBe('EXPRESSION_TYPE');
    expect(parseFailure('[1].map(1)').code).toBe('EXPRESSION_TYPE');
    expect(parseFailure('[1].map((a, b, c) => a)').message).toContain('2 values');
    expect(parseFailure('[1].map((a, a) => a)').code).toBe('EXPRESSION_SYNTAX');
  });

  it('[EXP-7] a parameter is known in its lambda only', () => {
    expect(parseFailure('[1].map(i => i) == i').code).toBe('EXPRESSION_REFERENCE');
  });

  it.each([
    ['foo', '$foo'],
    ['upper', 'method'],
    ['range', 'function'],
    ['undefined', 'null'],
    ['Math.round(1)', 'method'],
    ['[1].map(item => itme)', 'item'],
    ['$my-node.x', `$nodes['my-node']`],
    ['upper("a")', '$x.upper'],
    ['rnge(3)', 'range'],
  ])('[EXP-8] %s is not known, and the hint names %s', (source, hint) => {
    const error = parseFailure(source);
    expect(error.code).toBe('EXPRESSION_REFERENCE');
    expect(error.hint).toContain(hint);
  });

  it.each([
    ['1 === 1', '=='],
    ['1 !== 1', '!='],
    ['$input.a = 1', '=='],
    ['true & true', '&&'],
    ['$input.a | upper', '||'],
    ['`a`', 'template'],
    ['2 ** 3', 'pow'],
    ['$index++', '+ 1'],
    ['1 <> 2', '!='],
    ['1; 2', 'one value'],
    ['"a".toUpperCase()', 'upper()'],
    ['"a".hash()', 'write hash(x), not as a method'],
    ['"a".uuid()', 'write uuid(), not as a method'],
    ['$items.length()', 'without parentheses'],
    ['$item.hasOwnProperty("a")', 'has(name)'],
  ])('[EXP-9] %s names the right form', (source, hint) => {
    expect(parseFailure(source).hint).toContain(hint);
  });
});
