import { describe, expect, it } from 'vitest';
import { NebulaError } from '../../src/error.ts';
import { failure } from './sample-scope.ts';

describe('errors', () => {
  it.each([
    ['1 +', 'EXPRESSION_SYNTAX', '', 3],
    ['1 + * 2', 'EXPRESSION_SYNTAX', '*', 4],
    ['[1, 2', 'EXPRESSION_SYNTAX', '', 5],
    ['{a 1}', 'EXPRESSION_SYNTAX', '1', 3],
    ['1 2', 'EXPRESSION_SYNTAX', '2', 2],
    ['$input.order.totl', 'EXPRESSION_REFERENCE', '.totl', 12],
    ['1 + $input.nmae', 'EXPRESSION_REFERENCE', '.nmae', 10],
    ['$nodes.fetch.output.body.tota + 1', 'EXPRESSION_REFERENCE', '.tota', 24],
    ['$gone.x', 'EXPRESSION_REFERENCE', '$gone', 0],
    ['[1, foo]', 'EXPRESSION_REFERENCE', 'foo', 4],
    ['"a".uper()', 'EXPRESSION_REFERENCE', 'uper', 4],
    ['1 + (2 - "a")', 'EXPRESSION_TYPE', '(2 - "a")', 4],
    ['true && $input.zero.upper()', 'EXPRESSION_TYPE', '.upper()', 19],
    ['"a".repeat("b")', 'EXPRESSION_TYPE', '"b"', 11],
    ['[1, 2].map(i => i.x)', 'EXPRESSION_TYPE', '.x', 17],
    ['[4, 0].map(i => 8 / i)', 'EXPRESSION_VALUE', '8 / i', 16],
    ['1 + "x".toNumber()', 'EXPRESSION_VALUE', '.toNumber()', 7],
    ['"a".matches("[")', 'EXPRESSION_VALUE', '"["', 12],
    ['1 + "x".repeat(2000000).length', 'EXPRESSION_LIMIT', '.repeat(2000000)', 7],
    ['[1].map(i => range(200000))', 'EXPRESSION_LIMIT', 'range(200000)', 13],
    ['$.order.items[?@.n = 1]', 'EXPRESSION_SYNTAX', '=', 19],
    ['$.order.itms', 'EXPRESSION_REFERENCE', '.itms', 7],
  ])('[EXP-80] %s', (source, code, at, offset) => {
    const error = failure(source);
    expect(error).toBeInstanceOf(NebulaError);
    expect(error.name).toBe('ExpressionError');
    expect(error.code).toBe(code);
    expect(source.slice(error.offset, error.offset + error.length)).toBe(at);
    expect(error.offset).toBe(offset);
    expect(error.message).not.toMatch(/undefined|\[object|NaN/);
  });

  it('[EXP-80] an error without a finer place has the whole expression', () => {
    const source = ' range(99).map(a => range(99).map(b => a * b)) ';
    const error = failure(source);
    expect(error.code).toBe('EXPRESSION_LIMIT');
    expect(error.length).toBeGreaterThan(0);
  });
});

describe('names of other engines', () => {
  it.each([
    ['secrets.x', /docs\/secrets\.md/],
    ['$secrets.x', /docs\/secrets\.md/],
    ['$env.HOME', /environment.*docs\/actions\.md/],
    ['$json.a', /\$input.*docs\/expressions\.md/],
    ['$now', /no clock.*\$execution\.startedAt/],
    ['needs.a.result', /\$nodes\.<id>\.output/],
    ['steps.a.outputs.x', /\$nodes\.<id>\.output/],
    ['inputs.x', /\$input/],
  ])('[EXP-114] %s', (source, hint) => {
    const error = failure(source);
    expect([error.code, error.hint]).toEqual(['EXPRESSION_REFERENCE', expect.stringMatching(hint)]);
  });
});
