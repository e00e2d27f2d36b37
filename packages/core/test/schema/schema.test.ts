import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSchema, describePath, type Json, type JsonSchema } from '../../src/index.ts';
import { MAX_SCHEMA_PROBLEMS } from '../../src/schema/check.ts';
import { compileDirectly } from '../../src/schema/direct.ts';
import { followPath } from '../../src/schema/follow.ts';

const told = (schema: JsonSchema, value: Json): string[] =>
  (compileSchema(schema).problems(value) ?? []).map(({ path, message }) => `${describePath(path, 'it')} ${message}`);

const values = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const smallValues = fc.oneof(values, fc.integer({ min: -3, max: 9 }), fc.constantFrom('', 'a', 'ab', 'é', '😀😀'));
const names = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');

/** Schemas of the words that the direct checker knows. */
const schemas: fc.Arbitrary<JsonSchema> = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.boolean(),
    fc.record(
      {
        type: fc.oneof(
          fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object'),
          fc.uniqueArray(fc.constantFrom('string', 'integer', 'object', 'null'), { minLength: 1 }),
        ),
        enum: fc.uniqueArray(smallValues, {
          minLength: 1,
          maxLength: 3,
          comparator: (a, b) => JSON.stringify(a) === JSON.stringify(b),
        }),
        const: smallValues,
        minimum: fc.integer({ min: -2, max: 5 }),
        exclusiveMaximum: fc.integer({ min: -2, max: 5 }),
        minLength: fc.nat(2),
        maxLength: fc.nat(2),
        minItems: fc.nat(2),
        maxItems: fc.nat(2),
        minProperties: fc.nat(2),
        pattern: fc.constantFrom('^a', 'b$', '[0-9]+'),
        items: tie('schema'),
        required: fc.uniqueArray(names, { maxLength: 2 }),
        properties: fc.dictionary(names, tie('schema'), { maxKeys: 3, noNullPrototype: true }),
        additionalProperties: tie('schema'),
        title: fc.constant('words'),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<JsonSchema>,
  ),
})).schema;

describe('schema', () => {
  it('[SCH-1] the direct checker agrees with ajv', () => {
    fc.assert(
      fc.property(schemas, fc.array(smallValues, { minLength: 1, maxLength: 4 }), (schema, samples) => {
        const direct = compileDirectly(schema, false);
        expect(direct).toBeDefined();
        // `allOf` is beyond the direct checker's words, so this one is ajv's.
        const full = compileSchema({ allOf: [schema] });
        for (const value of samples) {
          const problems: string[] = [];
          direct?.(value, { path: [], report: (_, message) => problems.push(message) });
          expect(problems.length === 0, `${JSON.stringify(schema)} on ${JSON.stringify(value)}`).toBe(
            full.problems(value) === undefined,
          );
        }
      }),
      { numRuns: 1_500 },
    );
  });

  it('[SCH-2] leaves richer schemas to ajv', () => {
    const schema = {
      type: 'object',
      properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] }, m: { format: 'email' } },
    };
    expect(compileDirectly(schema, false)).toBeUndefined();
    expect(told(schema, { a: null, m: 'me@example.com' })).toEqual([]);
    expect(told(schema, { a: 7 }).join()).toContain('a must be');
    expect(told(schema, { m: 'nobody' })).toEqual(['m must match format "email"']);
    expect(told({ ...schema, required: ['x'], additionalProperties: false }, { y: 1 })).toEqual([
      'x is missing',
      'y is not known',
    ]);
  });

  it('[SCH-3] problems carry their path, and not too many are told', () => {
    const schema = {
      type: 'array',
      items: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
    };
    expect(told(schema, [{ n: 1 }, { n: 'x' }, {}])).toEqual(['[1].n must be an integer', '[2].n is missing']);
    expect(
      told(
        schema,
        Array.from({ length: 999 }, () => ({})),
      ),
    ).toHaveLength(MAX_SCHEMA_PROBLEMS);
  });

  it.each([{}, { anyOf: [true] }])('[SCH-4] fills defaults in when asked for (%j)', (more) => {
    const list: Json[] = [];
    const schema = {
      ...more,
      type: 'object',
      properties: { a: { type: 'integer', default: 7 }, l: { default: list } },
    };
    const plain = {};
    expect(compileSchema(schema).problems(plain)).toBeUndefined();
    expect(plain).toEqual({});
    const filled: Record<string, Json> = { a: 1 };
    expect(compileSchema(schema, { fillDefaults: true }).problems(filled)).toBeUndefined();
    expect(filled).toEqual({ a: 1, l: [] });
    expect(filled.l).not.toBe(list);
  });

  it.each([{}, { anyOf: [true] }])('[SCH-5] a hostile pattern does not hang (%j)', (more) => {
    const schema = { ...more, type: 'string', pattern: '^(a+)+$' };
    expect(told(schema, `${'a'.repeat(40)}!`)).toHaveLength(1);
    expect(told(schema, 'aaa')).toEqual([]);
  });

  it.each([{ const: {} }, { enum: [{ toString: 1 }] }, { uniqueItems: true }])(
    '[SCH-1] members named as methods are data (%j)',
    (words) => {
      const value = JSON.parse('[{ "valueOf": {} }, { "toString": 1 }, { "constructor": null }]') as Json;
      const schema = { type: 'array', items: true, ...words, unevaluatedProperties: false };
      expect(() => compileSchema(schema).problems(value)).not.toThrow();
    },
  );

  it.each([{ type: 5 }, { type: 'text' }, { properties: 3 }, { required: 'a' }, { pattern: '(' }])(
    '[SCH-6] %j is no schema',
    (schema) => {
      expect(() => compileSchema(schema as JsonSchema)).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    },
  );

  it('[SCH-7] follows a path', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        open: { type: 'object', properties: { x: { type: 'string' } } },
        closed: { type: 'object', properties: { x: {} }, additionalProperties: false },
        list: { type: 'array', items: { type: 'integer' } },
        free: {},
        either: { anyOf: [{ type: 'string' }] },
      },
    };
    const verdict = (...path: (string | number)[]): string => followPath(schema, path).verdict;
    expect(verdict('open', 'x')).toBe('fits');
    expect(verdict('open', 'y')).toBe('undeclared');
    expect(verdict('open', 'x', 'y')).toBe('absent');
    expect(verdict('open', 'x', 'length')).toBe('fits');
    expect(verdict('closed', 'y')).toBe('absent');
    expect(verdict('list', 0)).toBe('fits');
    expect(verdict('list', 0, 'y')).toBe('absent');
    expect(verdict('list', 'first')).toBe('absent');
    expect(verdict('free', 'a', 'b')).toBe('fits');
    expect(verdict('either', 'a')).toBe('fits');
    expect(followPath(true, ['a']).verdict).toBe('fits');
  });
});
