/**
 * A value that a run holds: inline, or, above the inline limit, as the name of a blob.
 * Journal entry and state share one `StoredValue`, so spilling it before the frame is written changes both.
 */
import { assert } from '../../error.ts';
import type { Json } from '../../value.ts';

export interface BlobRef {
  readonly sha256: string;
  readonly bytes: number;
}

export interface StoredValue {
  value?: Json;
  blob?: BlobRef;
}

export function inlineValue(value: Json): StoredValue {
  return { value };
}

/** The blob takes the place of the inline value. */
export function spill(stored: StoredValue, blob: BlobRef): void {
  assert(stored.blob === undefined, 'a value is spilled once');
  stored.blob = blob;
  delete stored.value;
}

/** Looks a spilled value up; the engine has it at hand before it asks the core to decide. */
export type BlobLookup = (blob: BlobRef) => Json;

export function resolveValue(stored: StoredValue | undefined, lookup: BlobLookup): Json {
  if (stored === undefined) return null;
  if (stored.blob !== undefined) return lookup(stored.blob);
  return stored.value ?? null;
}

/** True when the JSON text of `value` is longer than `limitBytes`; stops counting there. */
export function exceedsBytes(value: Json, limitBytes: number): boolean {
  return weigh(value, limitBytes) > limitBytes;
}

/** Bytes of the JSON text, roughly from below (escapes and wide characters aside), no further than just past `limit`. */
function weigh(value: Json, limit: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) {
      bytes += 1 + weigh(item, limit - bytes);
      if (bytes > limit) break;
    }
    return bytes;
  }
  for (const [key, item] of Object.entries(value)) {
    bytes += key.length + 4 + weigh(item, limit - bytes);
    if (bytes > limit) break;
  }
  return bytes;
}
