/**
 * A value that a run stores: inline or, above the inline limit, as the reference of a blob.
 *
 * A `StoredValue` is immutable. `decide` makes one with `turn.store`, which leaves the choice between inline and blob
 * to the engine, so no entry can hold a large value inline. The brand keeps object literals from passing for one.
 */
import { isJsonList, type Json } from '../../value.ts';

export interface BlobRef {
  readonly sha256: string;
  readonly bytes: number;
}

declare const inlined: unique symbol;

export interface InlineValue {
  readonly value: Json;
  readonly blob?: never;
  readonly [inlined]: true;
}

export interface BlobValue {
  readonly blob: BlobRef;
  readonly value?: never;
}

export type StoredValue = InlineValue | BlobValue;

/** Stores a value inline. Use it only for values that are known to be small. */
export function inlineValue(value: Json): InlineValue {
  return { value } as InlineValue;
}

export const NULL_VALUE = inlineValue(null);

/** Looks up a spilled value. The engine fetches it before it asks the core to decide. */
export type BlobLookup = (blob: BlobRef) => Json;

export function resolveValue(stored: StoredValue | undefined, lookup: BlobLookup): Json {
  if (stored === undefined) return null;
  // An entry of an earlier version may have neither.
  return stored.blob === undefined ? (stored.value ?? null) : lookup(stored.blob);
}

/** True when the JSON text of `value` is longer than `limitBytes`; stops counting there. */
export function exceedsBytes(value: Json, limitBytes: number): boolean {
  return weigh(value, limitBytes) > limitBytes;
}

/** A lower bound of the bytes of the JSON text (without escapes and wide characters). Stops just past `limit`. */
function weigh(value: Json, limit: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let bytes = 2;
  if (isJsonList(value)) {
    for (const item of value) {
      bytes += 1 + weigh(item, limit - bytes);
      if (bytes > limit) break;
    }
    return bytes;
  }
  for (const key of Object.keys(value)) {
    bytes += key.length + 4 + weigh(value[key] ?? null, limit - bytes);
    if (bytes > limit) break;
  }
  return bytes;
}
