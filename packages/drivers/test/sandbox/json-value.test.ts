import { allSteps, beginCopy, type Json } from '@nebula/core';
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

  test('[SBX-7] members that are named by symbols are not part of the output', () => {
    const value = { a: 1, [Symbol('s')]: { live: true } };
    const json = toJson({ inner: value }, 'output') as { inner: object };
    expect(Object.getOwnPropertySymbols(json.inner)).toEqual([]);
    expect(json).toEqual({ inner: { a: 1 } });
    const silent = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no names');
        },
      },
    );
    expect(() => toJson(silent, 'output')).toThrow(/^output cannot be read: no names$/);
  });

  test('[SBX-4] a copy shares nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = copyOf(value as Json);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
        if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value);
      }),
    );
    const row = (n: number): Json => ({ n, tags: [n, { deep: [n] }] });
    const rows = Array.from({ length: 3_000 }, (_, n) => row(n));
    const named = Object.fromEntries(rows.map((one, n) => [`member ${n}`, one]));
    for (const large of [rows, named, [[[rows]], named], Array.from({ length: 9_000 }, (_, n) => n)] as Json[]) {
      const begun = beginCopy(large);
      if ('copy' in begun) throw new Error('a large value is copied in steps');
      let steps = 0;
      let made = begun.next();
      for (; made.done !== true; made = begun.next()) steps++;
      expect(steps).toBeGreaterThan(2);
      expect(made.value).toEqual(large);
      expect(sharedIn(made.value, new Set(containersIn(large)))).toBe(0);
    }
    // Undefined members of an input in the same process stay what they are.
    expect(copyOf({ a: undefined, list: [1, undefined] } as never)).toStrictEqual({
      a: undefined,
      list: [1, undefined],
    });
    // Depth costs nothing: 190 levels around an object with many members.
    let deep: Json = Object.fromEntries(Array.from({ length: 16_000 }, (_, n) => [`m${n}`, n]));
    for (let level = 0; level < 190; level++) deep = { deep };
    let visited = 0;
    const ownKeys = (target: object) => {
      visited++;
      return Reflect.ownKeys(target);
    };
    const counting = new Proxy(deep, { ownKeys });
    expect(copyOf(counting as Json)).toEqual(deep);
    expect(visited).toBeLessThan(10);
    const polluting = JSON.parse('{"__proto__": {"polluted": true}}');
    expect((copyOf(polluting) as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

function copyOf(value: Json): Json {
  const begun = beginCopy(value);
  return 'copy' in begun ? begun.copy : allSteps(begun);
}

function containersIn(value: Json): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(containersIn)];
}

function sharedIn(value: Json, containers: ReadonlySet<object>): number {
  return containersIn(value).filter((one) => containers.has(one)).length;
}
