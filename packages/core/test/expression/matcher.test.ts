import { describe, expect, it } from 'vitest';
import type { RunError } from '../../src/error.ts';
import {
  compileErrorMatcher,
  compileMatcher,
  createBudget,
  ExpressionError,
  placeOf,
} from '../../src/expression/index.ts';
import { EXPRESSION_LIMITS } from '../../src/limits.ts';
import type { Json } from '../../src/value.ts';

function matches(pattern: Json, value: Json): boolean {
  const { matcher, problems } = compileMatcher(pattern);
  expect(problems).toEqual([]);
  return matcher?.matches(value, createBudget()) ?? false;
}

function matchesError(pattern: Json, error: Partial<RunError>): boolean {
  const { matcher, problems } = compileErrorMatcher(pattern);
  expect(problems).toEqual([]);
  return matcher?.matches({ code: 'X', kind: 'USER', message: 'm', ...error }, createBudget()) ?? false;
}

describe('result matchers', () => {
  it.each<readonly [Json, Json, boolean]>([
    ['ok', 'ok', true],
    ['ok', 'OK', false],
    [1, '1', false],
    [null, null, true],
    [{ status: 'ok' }, { status: 'ok', extra: 1 }, true],
    [{ status: 'ok' }, { status: 'no' }, false],
    [{ status: 'ok' }, {}, false],
    [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, true],
    [{ a: { b: 1 } }, { a: [1] }, false],
    [{ a: null }, {}, false],
    [{ a: null }, { a: null }, true],
    [{}, { any: 1 }, true],
    [{}, [], false],
    [[1, 2], [1, 2], true],
    [[1, 2], [1, 2, 3], false],
    [{ list: [{ a: 1 }] }, { list: [{ a: 1, b: 2 }] }, false],
    [{ constructor: { exists: false } }, {}, true],
    [{ toString: 1 }, {}, false],
  ])('[EXP-100] %j on %j is %s', (pattern, value, result) => {
    expect(matches(pattern, value)).toBe(result);
  });

  it.each<readonly [Json, Json, boolean]>([
    [{ gt: 5 }, 6, true],
    [{ gt: 5 }, 5, false],
    [{ gte: 5, lt: 7 }, 5, true],
    [{ gte: 5, lt: 7 }, 7, false],
    [{ lte: 'm' }, 'abc', true],
    [{ in: [1, { a: 2 }] }, { a: 2 }, true],
    [{ in: ['a'] }, 'b', false],
    [{ regex: '^INV-' }, 'INV-7', true],
    [{ total: { gt: 100 }, status: { in: ['paid', 'sent'] } }, { total: 120, status: 'paid' }, true],
    [{ total: { gt: 100 }, status: { in: ['paid', 'sent'] } }, { total: 120, status: 'open' }, false],
    [{ type: 'refund' }, { type: 'refund', id: 1 }, true],
    [{ type: { in: ['string'] } }, { type: 'string' }, true],
    [{ in: 5 }, { in: 5 }, true],
    [{ exists: true, type: 'number' }, 1, true],
  ])('[EXP-101] %j on %j is %s', (pattern, value, result) => {
    expect(matches(pattern, value)).toBe(result);
  });

  it.each<readonly [Json, Json, boolean]>([
    [{ gt: 5 }, '6', false],
    [{ gt: 5 }, null, false],
    [{ gt: 'a' }, 6, false],
    [{ regex: '1' }, 1, false],
    [{ a: { exists: false } }, {}, true],
    [{ a: { exists: false } }, { a: null }, false],
    [{ a: { exists: true } }, { a: null }, true],
    [{ a: { exists: true } }, {}, false],
    [{ a: { lt: 5 } }, {}, false],
    [{ a: { in: [null] } }, {}, false],
    [{ a: { type: 'null' } }, {}, false],
    [{ a: { b: { exists: false } } }, {}, false],
  ])('[EXP-102] %j on %j is %s', (pattern, value, result) => {
    expect(matches(pattern, value)).toBe(result);
  });

  it('[EXP-103] types', () => {
    const samples: Record<string, Json> = {
      null: null,
      boolean: false,
      number: 1.5,
      string: '',
      array: [],
      object: {},
    };
    for (const [type, sample] of Object.entries(samples)) {
      for (const other of Object.keys(samples)) expect(matches({ type: other }, sample)).toBe(other === type);
    }
    expect(matches({ type: 'integer' }, 2)).toBe(true);
    expect(matches({ type: 'integer' }, 2.5)).toBe(false);
    expect(matches({ type: ['string', 'null'] }, null)).toBe(true);
    expect(matches({ type: ['string', 'null'] }, 1)).toBe(false);
  });
});

describe('error matchers', () => {
  it('[EXP-104] code, kind and message', () => {
    expect(matchesError({ code: 'TIMEOUT' }, { code: 'TIMEOUT' })).toBe(true);
    expect(matchesError({ code: 'TIME' }, { code: 'TIMEOUT' })).toBe(false);
    expect(matchesError({ code: ['A', 'TIMEOUT'] }, { code: 'TIMEOUT' })).toBe(true);
    expect(matchesError({ code: '/^HTTP_5/' }, { code: 'HTTP_503' })).toBe(true);
    expect(matchesError({ code: ['A', '/^HTTP_5/'] }, { code: 'HTTP_404' })).toBe(false);
    expect(matchesError({ message: '/rate LIMIT/i' }, { message: 'Rate limit reached' })).toBe(true);
    expect(matchesError({ message: 'm' }, {})).toBe(true);
    expect(matchesError({ kind: 'SYSTEM', code: 'X' }, { kind: 'SYSTEM' })).toBe(true);
    expect(matchesError({ kind: 'SYSTEM', code: 'Y' }, { kind: 'SYSTEM' })).toBe(false);
    expect(matchesError({ code: [] }, {})).toBe(false);
    expect(matchesError({}, {})).toBe(true);
  });
});

describe('bad patterns', () => {
  it.each<readonly [Json, readonly (string | number)[], string]>([
    [{ a: { regex: '(' } }, ['a', 'regex'], 'MATCH_REGEX'],
    [{ a: '{{ $input.x }}' }, ['a'], 'MATCH_EXPRESSION'],
  ])('[EXP-105] %j', (pattern, path, code) => {
    const { matcher, problems } = compileMatcher(pattern);
    expect(matcher).toBeUndefined();
    expect(problems).toMatchObject([{ severity: 'error', path, code }]);
  });

  it.each<readonly [Json, readonly (string | number)[], string]>([
    ['TIMEOUT', [], 'MATCH_INVALID'],
    [['TIMEOUT'], [], 'MATCH_INVALID'],
    [{ cod: 'A' }, ['cod'], 'MATCH_UNKNOWN_KEY'],
    [{ code: 5 }, ['code'], 'MATCH_INVALID'],
    [{ code: ['A', null] }, ['code', 1], 'MATCH_INVALID'],
    [{ message: '/(/' }, ['message'], 'MATCH_REGEX'],
    [{ kind: 'user' }, ['kind'], 'MATCH_INVALID'],
  ])('[EXP-105] %j on errors', (pattern, path, code) => {
    const { matcher, problems } = compileErrorMatcher(pattern);
    expect(matcher).toBeUndefined();
    expect(problems).toMatchObject([{ severity: 'error', path, code }]);
  });

  it('[EXP-106] operators in a list are a warning', () => {
    const { matcher, problems } = compileMatcher({ sizes: [1, { gt: 5 }] });
    expect(problems).toMatchObject([{ severity: 'warning', path: ['sizes'], code: 'MATCH_LIST' }]);
    expect(matcher?.matches({ sizes: [1, 6] }, createBudget())).toBe(false);
    expect(compileMatcher([{ n: 1 }, ['a']]).problems).toEqual([]);
    expect(compileMatcher({ n: { in: [1, 2] } }).problems).toEqual([]);
  });

  it('[EXP-105] operators among members are a warning', () => {
    const { matcher, problems } = compileMatcher({ gt: 5, status: 'ok' });
    expect(problems).toMatchObject([{ severity: 'warning', path: ['gt'], code: 'MATCH_MIXED' }]);
    expect(matcher?.matches({ gt: 5, status: 'ok' }, createBudget())).toBe(true);
    expect(compileErrorMatcher({ cod: 'A' }).problems[0]?.hint).toContain('code');
  });

  it('[EXP-105] patterns nested without end come back as a problem', () => {
    let deep: Json = 1;
    for (let level = 0; level < 20_000; level++) deep = { a: deep };
    expect(compileMatcher(deep).problems).toMatchObject([{ severity: 'error', code: 'MATCH_INVALID' }]);
  });
});

describe('errors of matchers in a run', () => {
  const origin = { workflowId: 'w', path: ['edges', 0, 'match'] };
  const few = createBudget({ ...EXPRESSION_LIMITS, maxOperations: 1 });
  const placeIn = (run: () => unknown): unknown => {
    try {
      return run();
    } catch (error) {
      return error instanceof ExpressionError ? placeOf(error) : error;
    }
  };

  it('[RUN-570] have the place of the pattern, or of the whole matcher', () => {
    const pattern = '(?:[ab][bc]?){300}$';
    const text = 'ab'.repeat(2_000);
    const { matcher } = compileMatcher({ long: { regex: pattern } }, undefined, origin);
    expect(placeIn(() => matcher?.matches({ long: text }, few))).toEqual({
      workflowId: 'w',
      path: ['edges', 0, 'match', 'long', 'regex'],
      offset: 0,
      length: pattern.length,
    });
    const { matcher: ofErrors } = compileErrorMatcher({ message: ['never', `/${pattern}/`] }, undefined, origin);
    expect(placeIn(() => ofErrors?.matches({ code: 'X', kind: 'USER', message: text }, few))).toEqual({
      workflowId: 'w',
      path: ['edges', 0, 'match', 'message', 1],
      offset: 0,
      length: pattern.length + 2,
    });
    const { matcher: equal } = compileMatcher({ list: Array.from({ length: 5_000 }, (_, n) => n) }, undefined, origin);
    expect(placeIn(() => equal?.matches({ list: Array.from({ length: 5_000 }, (_, n) => n) }, few))).toEqual({
      workflowId: 'w',
      path: ['edges', 0, 'match'],
    });
  });
});
