import { expect, it } from 'vitest';
import type { Json } from '../../src/index.ts';
import { exceedsBytes } from '../../src/run/journal/stored-value.ts';
import { NULL_VALUE, type StoredValue, valuesIn } from '../../src/run.ts';
import { everyCompositeEntry } from './scenario.ts';

it('[RUN-456] every value of a run goes through the turn', () => {
  const blobs = new Map<string, Json>();
  const store = (value: Json): StoredValue => {
    if (value === null) return NULL_VALUE;
    const sha256 = JSON.stringify(value);
    blobs.set(sha256, value);
    return { blob: { sha256, bytes: sha256.length } };
  };
  const run = everyCompositeEntry({ values: { store, lookup: ({ sha256 }) => blobs.get(sha256) ?? null } });
  const plain = everyCompositeEntry();
  expect(run.entries.map(({ type }) => type)).toEqual(plain.entries.map(({ type }) => type));
  const values = run.entries.flatMap(valuesIn);
  expect(values.length).toBeGreaterThan(15);
  for (const { value = null } of values) expect(value).toBeNull();
  expect(run.state.spilled).toBe(values.filter(({ blob }) => blob !== undefined).length);
});

it('[RUN-590] a value counts with its keys and members when its size is compared with a limit', () => {
  const text = 'x'.repeat(40);
  for (const value of [{ a: text }, { [text]: 1 }, { a: { b: text } }, { a: 'x'.repeat(20), b: 'x'.repeat(20) }]) {
    expect(exceedsBytes(value, 40)).toBe(true);
    expect(exceedsBytes(value, 80)).toBe(false);
  }
  expect(exceedsBytes([null, 1, true], 19)).toBe(true);
  expect(exceedsBytes([null, 1, true], 20)).toBe(false);
});
