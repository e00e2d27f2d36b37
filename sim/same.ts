import { isDeepStrictEqual } from 'node:util';

/** Returns whether two values are the same as JSON: the order of members and the prototypes do not matter. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  return isDeepStrictEqual(plain(one), plain(other));
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}
