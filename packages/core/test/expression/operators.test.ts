import { describe, expect, it } from 'vitest';
import { createBudget, isTrue } from '../../src/expression/index.ts';
import { evaluate, failure, sampleScope } from './sample-scope.ts';

describe('arithmetic', () => {
  it('[EXP-30] + adds numbers and joins strings', () => {
    expect(evaluate('0.1 + 0.2')).toBeCloseTo(0.3);
    expect(evaluate(`'a' + 'b' + 'c'`)).toBe('abc');
    expect(failure(`'n: ' + 1`)).toMatchObject({
      code: 'EXPRESSION_TYPE',
      hint: expect.stringContaining('toString()'),
    });
    expect(failure('[1] + [2]').hint).toContain('concat');
    expect(failure('null + 1').code).toBe('EXPRESSION_TYPE');
    expect(failure('true + true').code).toBe('EXPRESSION_TYPE');
  });

  it('[EXP-31] the others take numbers only', () => {
    expect(evaluate('7 % 4')).toBe(3);
    expect(evaluate('-7 % 4')).toBe(-3);
    expect(evaluate('-$input.order.id')).toBe(-7);
    expect(evaluate('2 * 3 - 4 / 2 + 1')).toBe(5);
    for (const bad of ['"6" / 2', '"a" * 2', 'null - 1', '[] - []', '-"5"', '{} % 2']) {
      expect(failure(bad).code, bad).toBe('EXPRESSION_TYPE');
    }
    expect(failure('"6" / 2').hint).toContain('toNumber()');
  });

  it('[EXP-32] results are finite', () => {
    expect(failure('1 / 0')).toMatchObject({ code: 'EXPRESSION_VALUE', message: 'division by zero' });
    expect(failure('0 % 0').message).toBe('division by zero');
    expect(failure('1e308 * 10').message).toContain('finite');
    expect(failure('1e308 + 1e308').code).toBe('EXPRESSION_VALUE');
    expect(failure('(-8).pow(0.5)').code).toBe('EXPRESSION_VALUE');
    expect(failure('[1e308, 1e308].sum()').code).toBe('EXPRESSION_VALUE');
    expect(Object.is(evaluate('0 * -1'), 0)).toBe(true);
    expect(Object.is(evaluate('-0'), 0)).toBe(true);
    expect(Object.is(evaluate('-$input.zero'), 0)).toBe(true);
    expect(Object.is(evaluate('(-0.4).round()'), 0)).toBe(true);
  });
});

describe('comparison', () => {
  it.each([
    ['1 == 1.0', true],
    ['1 == "1"', false],
    ['0 == false', false],
    ['null == false', false],
    ['null == null', true],
    ['[1, [2]] == [1, [2]]', true],
    ['[1, 2] == [2, 1]', false],
    ['{a: 1, b: [2]} == {b: [2], a: 1}', true],
    ['{a: 1} == {a: 1, b: null}', false],
    ['[] == {}', false],
    ['[] != {}', true],
    ['"a" != "b"', true],
  ])('[EXP-33] %s is %s', (source, result) => {
    expect(evaluate(source)).toBe(result);
  });

  it.each([
    ['1 < 2', true],
    ['2 <= 2', true],
    ['"a" < "b"', true],
    ['"Z" < "a"', true],
    ['"" < "a"', true],
    ['"ab" >= "aa"', true],
    ['"😀" > "\ue000"', true],
    ['"a" > "a"', false],
  ])('[EXP-34] %s is %s', (source, result) => {
    expect(evaluate(source)).toBe(result);
  });

  it('[EXP-34] other pairs have no order', () => {
    for (const bad of ['1 < "2"', 'null < 1', '[] < [1]', 'true > false', '{} <= {}']) {
      expect(failure(bad).code, bad).toBe('EXPRESSION_TYPE');
    }
    expect(failure('$input.nothing > 3').hint).toContain('??');
  });

  it('[EXP-39] contains', () => {
    expect(evaluate('"workflow" contains "flow"')).toBe(true);
    expect(evaluate('[1, {a: 2}] contains {a: 2}')).toBe(true);
    expect(evaluate('[1, 2] contains "1"')).toBe(false);
    expect(evaluate('[1, 2].contains(2) && "ab".contains("b")')).toBe(true);
    expect(failure('{a: 1} contains "a"').hint).toContain('.has(');
    expect(failure('null contains 1').code).toBe('EXPRESSION_TYPE');
    expect(failure('"a1" contains 1').code).toBe('EXPRESSION_TYPE');
  });
});

describe('logic', () => {
  it.each([
    ['false', false],
    ['null', false],
    ['true', true],
    ['0', true],
    ['""', true],
    ['[]', true],
    ['{}', true],
  ])('[EXP-35] %s counts as %s', (source, result) => {
    expect(evaluate(`${source} ? true : false`)).toBe(result);
    expect(evaluate(`!${source}`)).toBe(!result);
    expect(isTrue(evaluate(source))).toBe(result);
  });

  it('[EXP-36] && and || give the operand that decides', () => {
    expect(evaluate('null && 1')).toBe(null);
    expect(evaluate('1 && 2 && 3')).toBe(3);
    expect(evaluate('false || null || "x"')).toBe('x');
    expect(evaluate('0 || 1')).toBe(0);
    expect(evaluate('not null')).toBe(true);
    expect(evaluate('!!1')).toBe(true);
  });

  it('[EXP-36] [EXP-37] [EXP-38] an unneeded operand is not evaluated', () => {
    expect(evaluate('false && 1 / 0')).toBe(false);
    expect(evaluate('true || 1 / 0')).toBe(true);
    expect(evaluate('true ? 1 : 1 / 0')).toBe(1);
    expect(evaluate('false ? 1 / 0 : 2')).toBe(2);
    expect(evaluate('1 ?? 1 / 0')).toBe(1);
    const budget = createBudget();
    const before = budget.operationsLeft;
    evaluate('true ? 1 : [1, 2, 3].map(i => i * i).sum()', sampleScope, budget);
    expect(before - budget.operationsLeft).toBe(1);
  });

  it('[EXP-38] ?? gives its right side for null and for nothing else', () => {
    expect(evaluate('null ?? 1')).toBe(1);
    expect(evaluate('false ?? 1')).toBe(false);
    expect(evaluate('$input.zero ?? 1')).toBe(0);
    expect(evaluate('null ?? null')).toBe(null);
    expect(failure('($input.missing + 1) ?? 2').code).toBe('EXPRESSION_REFERENCE');
  });
});
