/** Schemas that nobody should write: each is refused, or costs no more than its budget. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { compileSchema, type Json, type JsonObject, type JsonSchema, SCHEMA_LIMITS } from '../../src/index.ts';

const invalid = expect.objectContaining({ code: 'SCHEMA_INVALID' });

/** Each schema applies the next one twice: 2^count checks of one value. */
function doubling(count: number, keyword: 'allOf' | 'anyOf' | 'oneOf'): JsonSchema {
  const $defs: Record<string, Json> = { [`a${count}`]: { type: 'string' } };
  for (let index = 0; index < count; index++) {
    $defs[`a${index}`] = { [keyword]: [{ $ref: `#/$defs/a${index + 1}` }, { $ref: `#/$defs/a${index + 1}` }] };
  }
  return { $defs, $ref: '#/$defs/a0' };
}

function nested(depth: number): Json {
  let value: Json = [];
  for (let index = 0; index < depth; index++) value = [value];
  return value;
}

const members = (count: number, value: Json): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, value]));

describe('hostile schemas', () => {
  it.each([
    { $async: true, type: 'object' },
    { $async: false },
    { properties: { a: { $async: true } } },
    { $defs: { a: { $async: true } }, $ref: '#/$defs/a' },
    { anyOf: [{ allOf: [{ $async: true }] }] },
  ])('[SCH-8] $async is refused at every level (%j)', (schema) => {
    expect(() => compileSchema(schema as JsonSchema)).toThrow(invalid);
  });

  it('[SCH-8] a member of the data may be called $async', () => {
    const schema = { properties: { $async: { type: 'boolean' } }, default: { $async: 1 } };
    expect(compileSchema(schema).problems({ $async: true })).toBeUndefined();
  });

  it.each(['allOf', 'anyOf', 'oneOf'] as const)('[SCH-9] an exponential schema is stopped (%s)', (keyword) => {
    const check = compileSchema(doubling(40, keyword));
    const [problem] = check.problems(keyword === 'allOf' ? 'x' : 1) ?? [];
    if (keyword !== 'anyOf') expect(problem?.message).toContain('budget');
    expect(check.problems(7)).toBeDefined();
  });

  it.each<[string, JsonSchema, Json]>([
    ['a reference to itself', { $ref: '#' }, 1],
    ['a circle of references', { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, 1],
    ['doubling at every level of the data', { items: { allOf: [{ $ref: '#' }, { $ref: '#' }] } }, nested(60)],
    ['a not in a not', { not: { $ref: '#' } }, 1],
    ['unevaluated everywhere', { unevaluatedItems: { allOf: [{ $ref: '#' }, { $ref: '#' }] } }, nested(60)],
  ])('[SCH-9] %s gives a problem, and does not throw', (_, schema, value) => {
    expect(compileSchema(schema).problems(value)).toHaveLength(1);
  });

  it.each<[string, JsonSchema, Json]>([
    ['known members', { properties: members(4_000, true), additionalProperties: false }, members(4_000, 1)],
    ['absent members', { properties: members(4_000, { type: 'integer' }) }, {}],
    ['absent dependencies', { dependentRequired: members(4_000, []) }, {}],
    ['the number of members', { minProperties: 1 }, members(4_000, 1)],
    ['names', { propertyNames: true }, members(4_000, 1)],
    ['a long item', { uniqueItems: true }, ['x'.repeat(100_000)]],
    ['a long constant', { const: 'x'.repeat(200_000) }, 'x'.repeat(200_000)],
    ['objects that are compared', { not: { const: {} } }, members(4_000, 1)],
    ['characters', { maxLength: 100_000 }, 'x'.repeat(100_000)],
    ['any items', { contains: true }, Array(4_000).fill(1)],
    ['items without a check', { unevaluatedItems: true }, Array(4_000).fill(1)],
  ])('[SCH-9] work in proportion to data or schema is paid from the budget: %s', (_, schema, value) => {
    const check = compileSchema({ $defs: { one: schema }, allOf: Array(4_000).fill({ $ref: '#/$defs/one' }) });
    expect(check.problems(value)).toEqual([{ path: [], message: expect.stringContaining('budget') }]);
  });

  it('[SCH-9] a large value may cost in proportion to its size', () => {
    const check = compileSchema({ items: { type: 'integer', minimum: 0, maximum: 9 } });
    expect(check.problems(Array(SCHEMA_LIMITS.maxSteps).fill(3))).toBeUndefined();
  });

  it('[SCH-10] a schema is limited in size and depth', () => {
    const list = (count: number): JsonSchema => ({ enum: Array(count).fill(0) });
    expect(() => compileSchema(list(SCHEMA_LIMITS.maxValues - 2))).not.toThrow();
    expect(() => compileSchema(list(SCHEMA_LIMITS.maxValues))).toThrow(invalid);
    const deep = (levels: number): JsonSchema => (levels === 1 ? {} : { not: deep(levels - 1) });
    expect(() => compileSchema(deep(SCHEMA_LIMITS.maxDepth))).not.toThrow();
    expect(() => compileSchema(deep(SCHEMA_LIMITS.maxDepth + 1))).toThrow(invalid);
    expect(() => compileSchema(deep(5_000))).toThrow(invalid);
  });

  it('[SCH-10] patterns are limited one by one and together', () => {
    const big = (letter: string) => `${letter}{990}`.repeat(5);
    expect(() => compileSchema({ pattern: 'x'.repeat(1_001) })).toThrow(invalid);
    expect(() => compileSchema({ pattern: '(a{100}){100}' })).toThrow(invalid);
    const many = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((one) => [one, { pattern: big(one) }]));
    expect(() => compileSchema({ properties: many })).toThrow(invalid);
  });

  it('[SCH-9] patterns and formats are paid from the same budget', () => {
    const texts = Array(1_000).fill('a'.repeat(2_000)) as string[];
    expect(compileSchema({ items: { pattern: '(a|aa){100}b' } }).problems(texts)).toBeDefined();
    const emails = Array(2_000).fill(`${'a'.repeat(1_900)}@`) as string[];
    expect(compileSchema({ items: { format: 'email' } }).problems(emails)).toBeDefined();
    expect(compileSchema({ format: 'email' }).problems('a'.repeat(SCHEMA_LIMITS.maxFormatChars + 1))).toBeDefined();
  });

  it('[SCH-11] equal ids in different schemas do not touch each other', () => {
    const one = compileSchema({
      $defs: { x: { $id: 'https://example.com/x', type: 'string' } },
      $ref: 'https://example.com/x',
    });
    const other = compileSchema({
      $defs: { x: { $id: 'https://example.com/x', type: 'number' } },
      $ref: 'https://example.com/x',
    });
    expect([one.problems('a'), other.problems(1)]).toEqual([undefined, undefined]);
    expect([one.problems(1), other.problems('a')]).not.toContain(undefined);
    expect(() => compileSchema({ $ref: 'https://example.com/x' })).toThrow(invalid);
  });

  it('[SCH-11] compiled schemas go with their schemas', async () => {
    const { setFlagsFromString } = await import('node:v8');
    const { runInNewContext } = await import('node:vm');
    setFlagsFromString('--expose-gc');
    onTestFinished(() => setFlagsFromString('--no-expose-gc'));
    const collect = runInNewContext('gc') as () => void;
    const refs = Array.from({ length: 50 }, (_, index) => {
      const schema = { $id: `https://example.com/${index}`, anyOf: [{ const: 'x'.repeat(10_000) }, { type: 'null' }] };
      compileSchema(schema).problems(1);
      return new WeakRef(schema);
    });
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    expect(refs.filter((ref) => ref.deref() !== undefined).length).toBeLessThan(5);
  });
});
