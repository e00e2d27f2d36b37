import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compileValue,
  createBudget,
  ExpressionError,
  listFunctions,
  parseExpression,
} from '../../src/expression/index.ts';
import { type Json, jsonEquals } from '../../src/value.ts';
import { evaluate, limited, scopeOf } from './sample-scope.ts';

const OPERATIONS = 500;

/** Evaluates, and checks that nothing but JSON or an ExpressionError comes out. */
function checked(source: string, input: Json): Json | undefined {
  const limits = limited({ maxOperations: OPERATIONS, maxArrayLength: 1_000, maxStringBytes: 10_000 });
  let looks = 0;
  const budget = createBudget(limits, () => ++looks);
  try {
    const result = parseExpression(source, limits).evaluate(scopeOf(input), budget);
    expect(jsonEquals(JSON.parse(JSON.stringify(result)), result)).toBe(true);
    return result;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    expect(error.offset).toBeGreaterThanOrEqual(0);
    expect(error.offset + error.length).toBeLessThanOrEqual(source.length);
    return undefined;
  } finally {
    // The clock is read once in 256 operations, so its readings bound what was really spent.
    expect(looks).toBeLessThanOrEqual(2 + OPERATIONS / 256);
  }
}

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

/** Text that looks like an expression, right or wrong. */
const { source: expressionText } = fc.letrec<{ source: string; atom: string; arg: string }>((tie) => ({
  atom: fc.oneof(
    fc.constantFrom(
      '$',
      '$input',
      '$.a',
      '$..a',
      '$[0]',
      '$[?@.a > 1]',
      '$[*]',
      'null',
      'true',
      '"text"',
      "'a,b'",
      '[]',
      '{}',
      'i',
      '$x',
    ),
    fc.integer({ min: -1_000, max: 200_000 }).map(String),
    fc.string({ maxLength: 5 }).map((text) => JSON.stringify(text)),
  ),
  arg: fc.oneof(
    { depthSize: 'small' },
    tie('source'),
    tie('source').map((body) => `i => ${body}`),
    tie('source').map((body) => `(i, j) => ${body}`),
  ),
  source: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('atom'),
    fc
      .tuple(
        tie('source'),
        fc.constantFrom('+', '-', '*', '/', '%', '==', '<', '>=', '&&', '||', '??', 'and', 'or', 'contains'),
        tie('source'),
      )
      .map((parts) => parts.join(' ')),
    fc
      .tuple(
        tie('source'),
        fc.constantFrom(...new Set(listFunctions().map((entry) => entry.name))),
        fc.array(tie('arg'), { maxLength: 3 }),
      )
      .map(([self, name, args]) => `${self}.${name}(${args.join(', ')})`),
    fc
      .tuple(tie('source'), fc.constantFrom('.a', '?.a', '[0]', '?.[-1]', '.length', '.__proto__', '["constructor"]'))
      .map((parts) => parts.join('')),
    fc.tuple(tie('source'), tie('source'), tie('source')).map(([a, b, c]) => `${a} ? ${b} : ${c}`),
    fc.array(tie('source'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    tie('source').map((value) => `{a: ${value}, ...${value}}`),
    tie('source').map((value) => `(${value})`),
    tie('source').map((value) => `!${value}`),
  ),
}));

describe('properties', () => {
  it('[EXP-73] parsing any text throws nothing but ExpressionError', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string(), expressionText), (text) => {
        checked(text, null);
        try {
          compileValue(`a {{${text}}} b`);
        } catch (error) {
          if (!(error instanceof ExpressionError)) throw error;
        }
      }),
      { numRuns: 2_000 },
    );
  }, 60_000);

  it('[EXP-73] [EXP-72] evaluating gives JSON or an ExpressionError, within the budget', () => {
    let evaluated = 0;
    fc.assert(
      fc.property(expressionText, json, (source, input) => {
        if (checked(source, input) !== undefined) evaluated++;
      }),
      { numRuns: 5_000 },
    );
    // Otherwise the generator writes nothing worth evaluating.
    expect(evaluated).toBeGreaterThan(700);
  }, 60_000);

  it('[EXP-48] evaluating twice gives the same', () => {
    fc.assert(
      fc.property(expressionText, json, (source, input) => {
        expect(checked(source, input)).toEqual(checked(source, input));
      }),
      { numRuns: 1_000 },
    );
  });

  it('[EXP-33] == is equality of JSON', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(evaluate('$.a == $.b', scopeOf({ a, b }))).toBe(jsonEquals(a, b));
        expect(evaluate('$.a == $.b', scopeOf({ a, b: structuredClone(a) }))).toBe(true);
      }),
    );
  });

  it('[EXP-34] strings are ordered by code point', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        const expected = Buffer.compare(Buffer.from(a), Buffer.from(b));
        expect(evaluate('$.a < $.b', scopeOf({ a, b }))).toBe(expected < 0);
      }),
    );
  });

  it('[EXP-94] values without braces come back as they are', () => {
    fc.assert(
      fc.property(json, (raw) => {
        fc.pre(!JSON.stringify(raw).includes('{{'));
        expect(compileValue(raw).evaluate(scopeOf(null), createBudget())).toBe(raw);
      }),
    );
  });

  it('[EXP-92] escaped braces come back unescaped', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('{', '}', '{{', '}}', '\\', 'a', ' '), { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        fc.pre(!text.includes('\\{{') && !text.includes('{{{'));
        const escaped = text.replaceAll('{{', '\\{{');
        expect(compileValue(escaped).evaluate(scopeOf(null), createBudget())).toBe(text);
      }),
    );
  });

  it('[EXP-40] round trips', () => {
    fc.assert(
      fc.property(fc.string(), json, (text, value) => {
        const scope = scopeOf({ text, value });
        expect(evaluate('$.text.toBase64().fromBase64()', scope)).toBe(text);
        expect(evaluate('$.text.urlEncode().urlDecode()', scope)).toBe(text);
        expect(evaluate('$.value.toJson().parseJson() == $.value', scope)).toBe(true);
      }),
    );
  });
});
