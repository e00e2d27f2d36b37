/**
 * Time-ordered ids: `<prefix>_` + 48 bits of milliseconds + 80 bits of chance, in Crockford's base 32, lower case.
 * Ids of one maker always grow: inside one millisecond, and when the clock goes back, the chance part counts up.
 */

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const HALF = 2 ** 40;

export interface IdSources {
  now(): number;
  /** A whole number from 0 up to, not including, 2^40. */
  random40(): number;
}

export function idMaker(sources: IdSources): (prefix: string) => string {
  let timeMs = -1;
  let timeText = '';
  let high = 0;
  let low = 0;

  return (prefix) => {
    const now = Math.floor(sources.now());
    if (now > timeMs) {
      timeMs = now;
      timeText = base32(timeMs, 10);
      high = sources.random40();
      low = sources.random40();
    } else if (++low === HALF) {
      low = 0;
      // 2^80 ids in a millisecond do not happen; a chance part that began at its very end might.
      if (++high === HALF) {
        high = 0;
        timeText = base32(++timeMs, 10);
      }
    }
    return `${prefix}_${timeText}${base32(high, 8)}${base32(low, 8)}`;
  };
}

function base32(value: number, digits: number): string {
  let text = '';
  for (let rest = value, digit = 0; digit < digits; digit++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
