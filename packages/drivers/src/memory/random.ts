import type { Random } from '@nebula/ports';
import { idMaker } from '../real/random.ts';

/** Gives the same fractions and ids for the same seed. Without `now`, ids count up from time 0. */
export function seededRandom(seed: number, now: () => number = () => 0): Random {
  const next32 = mulberry32(seed);
  return {
    fraction: () => ((next32() >>> 5) * 2 ** 26 + (next32() >>> 6)) / 2 ** 53,
    id: idMaker({ now, random40: () => (next32() & 0xff) * 2 ** 32 + next32() }),
  };
}

/** Mulberry32: 32 bits of state, good enough spread for tests, the same on every machine. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
