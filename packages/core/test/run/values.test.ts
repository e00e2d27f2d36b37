import { expect, it } from 'vitest';
import type { Json } from '../../src/index.ts';
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
