import { randomFillSync } from 'node:crypto';
import type { Random } from '@nebula/ports';
import { idMaker } from './id.ts';

/** Chance from the system's cryptographic source, drawn in blocks: one call for 1,024 numbers. */
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
