import { createHash, randomFillSync } from 'node:crypto';
import type { Digest, Random } from '@nebula/ports';

/** Randomness from the system's cryptographic source, drawn in blocks: one call for 1,024 numbers. */
export function realRandom(): Random {
  const block = new Uint32Array(1024);
  let used = block.length;

  const random32 = (): number => {
    if (used === block.length) {
      randomFillSync(block);
      used = 0;
    }
    return block[used++] as number;
  };

  return {
    fraction: () => ((random32() >>> 5) * 2 ** 26 + (random32() >>> 6)) / 2 ** 53,
    id: idMaker({ now: Date.now, random40: () => (random32() & 0xff) * 2 ** 32 + random32() }),
  };
}

/**
 * Time-ordered ids: `<prefix>_` + 48 bits of milliseconds + 80 random bits, in Crockford's base 32, lower case. The ids
 * of one generator always grow: within a millisecond, and when the clock goes back, the random part counts up.
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
      // 2^80 ids in a millisecond do not happen, but the random part may start near its end.
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

export const sha256: Digest = (data) => createHash('sha256').update(data).digest('hex');
