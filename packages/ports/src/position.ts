/**
 * The position of a frame in the feed: an opaque token. Callers keep positions, compare them with `comparePositions`
 * and return them unchanged; they never compute with them.
 *
 * Inside, a position is a decimal integer without leading zeros, of up to 19 digits: a counter if one process writes;
 * if many processes do, the transaction id with the number of the frame inside the transaction.
 */
declare const brand: unique symbol;

export type Position = string & { readonly [brand]: 'Position' };

/** The position before the first frame. */
export const FEED_START = '0' as Position;

/** Negative if `a` is before `b`, 0 if they are the same. */
export function comparePositions(a: Position, b: Position): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The position of a store that numbers its frames. */
export function positionOf(number: number): Position {
  return String(number) as Position;
}

/** Undefined for text that is not a position of any store. */
export function parsePosition(text: string): Position | undefined {
  const [, digits] = /^0*(\d{1,19})$/.exec(text) ?? [];
  return digits as Position | undefined;
}
