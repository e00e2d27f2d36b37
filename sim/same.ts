import { isDeepStrictEqual } from 'node:util';

/** Returns whether two values are the same as JSON: the order of members and the prototypes do not matter. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  const [text, otherText] = [JSON.stringify(one ?? null), JSON.stringify(other ?? null)];
  return text === otherText || isDeepStrictEqual(JSON.parse(text), JSON.parse(otherText));
}
