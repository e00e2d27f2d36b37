import fc from 'fast-check';
import { describe, it } from 'vitest';
import { expectSound, live } from './random-life.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 100);

describe('any world', { timeout: 600_000 }, () => {
  it('[ENG-62] loses nothing, repeats nothing that is done, and comes to rest', async () => {
    await fc.assert(
      fc.asyncProperty(fc.noShrink(fc.nat()), async (seed) => {
        await expectSound(await live(seed));
      }),
      { numRuns: RUNS },
    );
  });
});
