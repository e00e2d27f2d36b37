import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  canonicalJson,
  compileSchema,
  describePath,
  isUnfinished,
  type Json,
  type JsonSchema,
  SCHEMA_LIMITS,
  type SchemaCheck,
} from '../../src/index.ts';
import { followPath } from '../../src/schema/follow.ts';
import { type Pieces, Trail } from '../../src/schema/trail.ts';
import { jsonEquals } from '../../src/value.ts';

const problemTexts = (schema: JsonSchema, value: Json): string[] =>
  (compileSchema(schema).problems(value) ?? []).map(({ path, message }) => `${describePath(path, 'it')} ${message}`);

/** The oracle. Its own comparison calls methods of the data, so it is given ours. */
function oracle(): Ajv2020 {
  const ajv = new Ajv2020({ ownProperties: true, strict: false, logger: false, validateSchema: false, meta: false });
  formats.default(ajv);
  for (const keyword of ['const', 'enum', 'uniqueItems']) ajv.removeKeyword(keyword);
  ajv.addKeyword({ keyword: 'const', compile: (wanted: Json) => (value: Json) => jsonEquals(wanted, value) });
  ajv.addKeyword({
    keyword: 'enum',
    compile: (choices: readonly Json[]) => (value: Json) => choices.some((choice) => jsonEquals(choice, value)),
  });
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    compile: (isUnique: boolean) => (items: readonly Json[]) =>
      !isUnique || new Set(items.map(canonicalJson)).size === items.length,
  });
  return ajv;
}

const values = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const names = fc.constantFrom('a', 'b', 'c', 'ab', '__proto__', 'constructor');
const objects = fc.dictionary(names, values, { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<Json>;
const smallValues = fc.oneof(
  values,
  objects,
  fc.array(fc.oneof(objects, fc.integer({ min: 0, max: 3 })), { maxLength: 4 }) as fc.Arbitrary<Json>,
  fc.integer({ min: -3, max: 9 }),
  fc.constantFrom('', 'a', 'ab', 'é', '😀😀', '2026-01-31', 'me@example.com', '127.0.0.1'),
);
const choices = fc.uniqueArray(smallValues, {
  minLength: 1,
  maxLength: 3,
  comparator: (a, b) => JSON.stringify(a) === JSON.stringify(b),
});
const REFERENCES = ['#', '#/$defs/one', '#/$defs/two', '#mark', '#/properties/a'] as const;

/** Schemas of all words; what they refer to is there. */
const schemas: fc.Arbitrary<JsonSchema> = fc.letrec<{ schema: JsonSchema; list: JsonSchema[]; some: JsonSchema }>(
  (tie) => ({
    list: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
    some: fc.dictionary(names, tie('schema'), { maxKeys: 3, noNullPrototype: true }),
    schema: fc.oneof(
      { maxDepth: 2, depthIdentifier: 'schema', withCrossShrink: true },
      fc.boolean(),
      fc.record(
        {
          type: fc.oneof(
            fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object'),
            fc.uniqueArray(fc.constantFrom('string', 'integer', 'object', 'null'), { minLength: 1 }),
          ),
          enum: choices,
          const: smallValues,
          minimum: fc.integer({ min: -2, max: 5 }),
          exclusiveMaximum: fc.integer({ min: -2, max: 5 }),
          multipleOf: fc.constantFrom(1, 2, 3),
          minLength: fc.nat(2),
          maxLength: fc.nat(2),
          minItems: fc.nat(2),
          maxItems: fc.nat(2),
          uniqueItems: fc.boolean(),
          minProperties: fc.nat(2),
          maxProperties: fc.nat(2),
          pattern: fc.constantFrom('^a', 'b$', '[0-9]+'),
          format: fc.constantFrom('date', 'email', 'ipv4', 'uuid', 'int32', 'nothing'),
          items: tie('schema'),
          prefixItems: tie('list'),
          contains: tie('schema'),
          minContains: fc.nat(2),
          maxContains: fc.nat(2),
          required: fc.uniqueArray(names, { maxLength: 2 }),
          properties: tie('some'),
          patternProperties: fc.dictionary(fc.constantFrom('^a', 'b', 'c$'), tie('schema'), {
            maxKeys: 2,
            noNullPrototype: true,
          }),
          additionalProperties: tie('schema'),
          propertyNames: tie('schema'),
          dependentRequired: fc.dictionary(names, fc.uniqueArray(names, { maxLength: 2 }), {
            maxKeys: 2,
            noNullPrototype: true,
          }),
          dependentSchemas: tie('some'),
          allOf: tie('list'),
          anyOf: tie('list'),
          oneOf: tie('list'),
          not: tie('schema'),
          if: tie('schema'),
          then: tie('schema'),
          else: tie('schema'),
          unevaluatedProperties: tie('schema'),
          unevaluatedItems: tie('schema'),
          title: fc.constant('words'),
        },
        { requiredKeys: [] },
      ) as fc.Arbitrary<JsonSchema>,
    ),
  }),
).schema;

const texts = (count: number): string[] => Array.from({ length: count }, (_, at) => `x${at}`);

/** Two references at every level: 2 to the power of the levels for an object, one step for others. */
function doubling(levels: number): JsonSchema {
  const defs: Record<string, Json> = { [`a${levels}`]: { type: ['object', 'string'] } };
  for (let at = 0; at < levels; at++) {
    const next = { $ref: `#/$defs/a${at + 1}` };
    defs[`a${at}`] = { if: { type: 'object' }, then: { allOf: [next, next] } };
  }
  return { $defs: defs };
}

/** The number of pieces, and the steps of the largest. */
function inPieces(check: SchemaCheck, value: Json, pieces?: Pieces) {
  const begun = check.begin(value, pieces);
  if (!isUnfinished(begun)) return { problems: begun, pieces: 1, most: 0 };
  let count = 1;
  let most = 0;
  for (;;) {
    const before = spent;
    const { done, value: problems } = begun.next();
    most = Math.max(most, spent - before);
    count++;
    if (done === true) return { problems, pieces: count, most };
  }
}

let spent = 0;
const spend = Trail.prototype.spend;
beforeAll(() => {
  Trail.prototype.spend = function (this: Trail, steps) {
    spent += steps;
    spend.call(this, steps);
  };
});
afterAll(() => {
  Trail.prototype.spend = spend;
});

/** References go into members only, so that neither of the two runs for ever. */
const referring = fc
  .tuple(schemas, schemas, schemas, fc.constantFrom(...REFERENCES), fc.constantFrom('items', 'additionalProperties'))
  .map(([root, one, two, $ref, keyword]) => {
    const defs = { one, two: { ...(typeof two === 'boolean' ? {} : two), $anchor: 'mark' } };
    return {
      $defs: defs,
      properties: { a: typeof root === 'boolean' ? {} : root, b: { [keyword]: { $ref } } },
      [keyword]: { $ref: '#/$defs/one' },
    } as JsonSchema;
  });

describe('schema', () => {
  it.each<[string, JsonSchema, Json]>([
    ['items', { items: { type: 'string', minLength: 1, maxLength: 9 } }, texts(50_000)],
    [
      'members',
      { additionalProperties: { type: 'integer' } },
      Object.fromEntries(texts(50_000).map((one, at) => [one, at])),
    ],
    ['names', { propertyNames: { maxLength: 9 } }, Object.fromEntries(texts(20_000).map((one) => [one, 1]))],
    ['lists in lists', { items: { items: { type: 'integer', minimum: 0 } } }, Array(300).fill(Array(300).fill(1))],
    ['a choice', { anyOf: [{ type: 'null' }, { items: { type: 'string', minLength: 1 } }] }, texts(50_000)],
    ['one of several', { oneOf: [{ items: { type: 'integer' } }, { items: { type: 'string' } }] }, texts(50_000)],
    ['a condition', { if: { items: { type: 'string' } }, then: { minItems: 1 }, else: false }, texts(50_000)],
    ['a negation', { not: { items: { type: 'integer' } } }, texts(50_000)],
    ['a search', { contains: { const: 'x49999' } }, texts(50_000)],
    ['a search beyond the budget of a small value', { contains: { const: 'x98999' } }, texts(99_000)],
    ['different items', { uniqueItems: true }, texts(50_000)],
    ['different large items', { uniqueItems: true }, [texts(24_000), texts(23_000)]],
    [
      'what is left',
      { properties: { a: { items: { type: 'string' } } }, unevaluatedProperties: false },
      { a: texts(50_000) },
    ],
  ])('[SCH-12] a large value is checked in pieces (%s)', (_, schema, value) => {
    const { pieces, most, problems } = inPieces(compileSchema(schema), value);
    expect(problems).toBeUndefined();
    expect(pieces).toBeGreaterThan(1);
    expect(most).toBeLessThan(3 * SCHEMA_LIMITS.pieceSteps);
  });

  it('[SCH-12] pieces find the same problems at the same places, and stop at the same budget', () => {
    const check = compileSchema({ properties: { l: { items: { items: { type: 'string' } } } } });
    const list: Json[][] = Array.from({ length: 300 }, () => Array(300).fill('x'));
    (list[7] as Json[])[9] = 1;
    (list[299] as Json[])[299] = null;
    const expected = [
      { path: ['l', 7, 9], message: 'must be a string' },
      { path: ['l', 299, 299], message: 'must be a string' },
    ];
    expect(check.problems({ l: list })).toEqual(expected);
    expect(inPieces(check, { l: list }).problems).toEqual(expected);
    const costly = compileSchema({ items: { allOf: Array(20).fill({ minLength: 1, type: 'string' }) } });
    expect(inPieces(costly, texts(50_000)).problems?.[0]?.message).toContain('budget');
  });

  it.each([
    ['anyOf', { anyOf: [{}], required: ['x'] }],
    ['oneOf', { oneOf: [{}], required: ['x'] }],
    ['not', { not: { type: 'string' }, required: ['x'] }],
    ['if', { if: {}, required: ['x'] }],
    ['both', { anyOf: [{}], required: ['x'], oneOf: [{}] }],
    ['a later member', { properties: { a: { anyOf: [{}] }, b: { oneOf: [{}] } }, required: ['x'] }],
  ])('[SCH-12] schemas that are tried in pieces keep the problems of others (%s)', (_, schema) => {
    const check = compileSchema(schema);
    const value = { a: texts(5_000), b: texts(5_000), ...Object.fromEntries(texts(3_000).map((one) => [one, 1])) };
    const expected = [{ path: ['x'], message: 'is missing' }];
    expect(check.problems(value)).toEqual(expected);
    expect(inPieces(check, value).problems).toEqual(expected);
  });

  it('[SCH-12] an object with many members is checked by several keywords', () => {
    const value = Object.fromEntries(texts(150_000).map((one, at) => [one, at]));
    const schema = { additionalProperties: { type: 'integer' }, propertyNames: { maxLength: 9 }, minProperties: 2 };
    expect(inPieces(compileSchema(schema), value).problems).toBeUndefined();
  });

  it('[SCH-12] a piece that cannot be interrupted has the budget of a small value', () => {
    // One small item costs more than all steps of a piece, though the large value around it would pay for it.
    const check = compileSchema({ ...(doubling(18) as object), items: { $ref: '#/$defs/a0' } });
    const { problems, most } = inPieces(check, [...texts(99_000), {}]);
    expect(problems?.[0]?.message).toContain('budget');
    expect(most).toBeLessThanOrEqual(SCHEMA_LIMITS.maxSteps + SCHEMA_LIMITS.pieceSteps);
  });

  it.each([
    ['plain', schemas],
    ['with references', referring],
  ] as const)('[SCH-1] agrees with ajv about schemas of all words (%s)', { timeout: 60_000 }, (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, fc.array(smallValues, { minLength: 1, maxLength: 4 }), (schema, samples) => {
        const check = compileSchema(schema);
        const expected = oracle().compile(schema);
        for (const value of samples) {
          const what = `${JSON.stringify(schema)} on ${JSON.stringify(value)}`;
          const isValid = expected(value);
          expect(check.problems(value) === undefined, what).toBe(isValid);
          // As small as pieces can be.
          expect(inPieces(check, value, { steps: 1, largeValues: 0 }).problems === undefined, what).toBe(isValid);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('[SCH-2] problems of richer schemas look like those of simple ones', () => {
    const schema = {
      type: 'object',
      properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] }, m: { format: 'email' } },
    };
    expect(problemTexts(schema, { a: null, m: 'me@example.com' })).toEqual([]);
    expect(problemTexts(schema, { a: 7 })).toEqual([
      'a must be a string',
      'a must be null',
      'a must match a schema in anyOf',
    ]);
    expect(problemTexts(schema, { m: 'nobody' })).toEqual(['m must match format "email"']);
    expect(problemTexts({ ...schema, required: ['x'], additionalProperties: false }, { y: 1 })).toEqual([
      'x is missing',
      'y is not known (known: a, m)',
    ]);
  });

  it('[SCH-2] ids, anchors and dynamic references lead to schemas of the same document', () => {
    const schema = {
      $id: 'https://example.com/tree',
      $dynamicAnchor: 'node',
      type: 'object',
      properties: { data: { $ref: 'data#word' }, children: { type: 'array', items: { $dynamicRef: '#node' } } },
      $defs: { data: { $id: 'data', $defs: { w: { $anchor: 'word', type: 'string' } } } },
    };
    expect(problemTexts(schema, { data: 'x', children: [{ data: 'y' }] })).toEqual([]);
    expect(problemTexts(schema, { children: [{ children: [{ data: 1 }] }] })).toEqual([
      'children[0].children[0].data must be a string',
    ]);
  });

  it('[SCH-3] problems carry their path, and their number is limited', () => {
    const schema = {
      type: 'array',
      items: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
    };
    expect(problemTexts(schema, [{ n: 1 }, { n: 'x' }, {}])).toEqual(['[1].n must be an integer', '[2].n is missing']);
    expect(
      problemTexts(
        schema,
        Array.from({ length: 999 }, () => ({})),
      ),
    ).toHaveLength(SCHEMA_LIMITS.maxProblems);
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
    expect(filled['l']).not.toBe(list);
  });

  it('[SCH-4] fills through references, and not by schemas that are only tried', () => {
    const member = { type: 'object', properties: { x: { default: 1 } } };
    const fill = (schema: JsonSchema): Json => {
      const value = {};
      compileSchema(schema, { fillDefaults: true }).problems(value);
      return value;
    };
    expect(fill({ $ref: '#/$defs/m', $defs: { m: member } })).toEqual({ x: 1 });
    expect(fill({ allOf: [member] })).toEqual({ x: 1 });
    for (const word of ['anyOf', 'oneOf']) expect(fill({ [word]: [member] })).toEqual({});
    expect(fill({ if: { $ref: '#/$defs/m' }, $defs: { m: member } })).toEqual({});
  });

  it.each([{}, { anyOf: [true] }])('[SCH-5] a hostile pattern does not hang (%j)', (more) => {
    const schema = { ...more, type: 'string', pattern: '^(a+)+$' };
    expect(problemTexts(schema, `${'a'.repeat(40)}!`)).toHaveLength(1);
    expect(problemTexts(schema, 'aaa')).toEqual([]);
  });

  it.each([{ const: {} }, { enum: [{ toString: 1 }] }, { uniqueItems: true }])(
    '[SCH-1] members named as methods are data (%j)',
    (words) => {
      const value = JSON.parse('[{ "valueOf": {} }, { "toString": 1 }, { "constructor": null }]') as Json;
      const schema = { type: 'array', items: true, ...words, unevaluatedProperties: false };
      expect(() => compileSchema(schema).problems(value)).not.toThrow();
    },
  );

  it.each([
    { type: 5 },
    { type: 'text' },
    { properties: 3 },
    { properties: { a: 3 } },
    { required: 'a' },
    { pattern: '(' },
    { patternProperties: { '(': {} } },
    { items: [{}] },
    { allOf: [] },
    { anyOf: {} },
    { minLength: -1 },
    { minimum: '1' },
    { $ref: '#/nowhere' },
    { $ref: 'https://example.com/other' },
    { $defs: { unused: { type: 'text' } } },
    null,
    7,
    [[]],
  ])('[SCH-6] %j is no schema', (schema) => {
    expect(() => compileSchema(schema as JsonSchema)).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });

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
