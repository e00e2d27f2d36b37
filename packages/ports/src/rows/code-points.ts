/** Text in the order of its code points, as databases with binary collation have it. */

/** JavaScript's own order compares code units and puts 😀 before U+FFFD. */
export function byCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === length) return a.length - b.length;
  // Inside a surrogate pair both have a low surrogate here, and these are in the order of their pairs.
  return (a.codePointAt(at) as number) - (b.codePointAt(at) as number);
}

const LAST_CODE_POINT = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;

/**
 * The least text above every text with the prefix; undefined if there is none. Turns a prefix into a range of an index.
 */
export function endOfPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last + 1 === FIRST_SURROGATE ? AFTER_SURROGATES : last + 1;
  return String.fromCodePoint(...points, next);
}
