/**
 * A value that a run holds: inline, or, above the inline limit, as the name of a blob.
 * Journal entry and state share one `Held`, so spilling it before the frame is written changes both.
 */
import { assert } from '../error.ts';
import type { Json } from '../value.ts';

export interface BlobRef {
  readonly sha256: string;
  readonly bytes: number;
}

export interface Held {
  value?: Json;
  blob?: BlobRef;
}

export function hold(value: Json): Held {
  return { value };
}

/** The blob takes the place of the inline value. */
export function spill(held: Held, blob: BlobRef): void {
  assert(held.blob === undefined, 'a value is spilled once');
  held.blob = blob;
  delete held.value;
}

/** Looks a spilled value up; the engine has it at hand before it asks the core to decide. */
export type BlobLookup = (blob: BlobRef) => Json;

export function heldValue(held: Held | undefined, lookup: BlobLookup): Json {
  if (held === undefined) return null;
  if (held.blob !== undefined) return lookup(held.blob);
  return held.value ?? null;
}

/** True when the JSON text of `value` is longer than `limitBytes`; stops counting there. */
export function outweighs(value: Json, limitBytes: number): boolean {
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
