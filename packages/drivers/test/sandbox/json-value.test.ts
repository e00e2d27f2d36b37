import { copyJson, type Json } from '@nebula/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toJson } from '../../src/sandbox-inprocess/json-value.ts';

/** Everything that JSON.stringify turns into something without loss of meaning. */
const convertible = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue(),
    fc.constant(undefined),
    fc.constant(-0),
    fc.date({ noInvalidDate: true }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString')), tie('value'), {
      maxKeys: 4,
    }),
  ),
})).value;

describe('output', () => {
  test('[SBX-8] equals the result of JSON.stringify', () => {
    fc.assert(
      fc.property(convertible, (value) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(toJson(value, 'output'))).toBe(text === undefined ? 'null' : text);
      }),
      { numRuns: 2_000 },
    );
  });

  test('[SBX-8] is an equal copy when it is JSON already', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value: Json = JSON.parse(text);
        const copy = toJson(value, 'output');
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
        if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value);
      }),
      { numRuns: 1_000 },
    );
  });

  test('[SBX-8] is not changed in place, not even where a part of it has to be converted', () => {
    const part = { at: new Date(0) };
    const value = { keep: [1], part };
    const json = toJson(value, 'output') as { keep: unknown };
    expect(part.at).toBeInstanceOf(Date);
    expect(json.keep).toEqual(value.keep);
  });

  test('[SBX-7] too deep nesting is distinguished from a cycle', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 5_000; level++) deep = [deep];
    expect(() => toJson(deep, 'output')).toThrow(/nested too deeply/);
    const loop: unknown[] = [];
    loop.push({ side: {}, back: { again: loop } });
    expect(() => toJson(loop, 'output')).toThrow(/circular/);
  });

  test('[SBX-7] a toJSON that fails is reported with its path', () => {
    const value = { a: [{ toJSON: () => JSON.parse('{') }] };
    expect(() => toJson(value, 'output')).toThrow(/^output\.a\[0\] cannot be read/);
    expect(() => toJson({ when: new Date(Number.NaN) }, 'output')).not.toThrow();
  });

  test('[SBX-4] a copy shares nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = copyJson(value as Json);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
        if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value);
      }),
    );
    const polluting = JSON.parse('{"__proto__": {"polluted": true}}');
    expect((copyJson(polluting) as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
