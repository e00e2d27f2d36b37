/** The contract of randomness, by the rules of SPEC.md. */

import type { Random } from '@nebula/ports';
import { describe, expect, test } from 'vitest';

export function randomSuite(name: string, open: () => Random): void {
  describe(`random contract: ${name}`, () => {
    test('[RND-1] fractions spread evenly from 0 to below 1', () => {
      const random = open();
      const draws = 20_000;
      const buckets = new Array<number>(10).fill(0);
      for (let draw = 0; draw < draws; draw++) {
        const fraction = random.fraction();
        if (!(fraction >= 0 && fraction < 1)) expect.fail(`${fraction} is outside`);
        const bucket = Math.floor(fraction * 10);
        buckets[bucket] = (buckets[bucket] as number) + 1;
      }
      // Six standard deviations of a fair bucket are about 250.
      for (const count of buckets) expect(Math.abs(count - draws / 10)).toBeLessThan(260);
    });

    test('[RND-2] ids have their prefix and 26 characters', () => {
      const random = open();
      for (const prefix of ['exe', 'wrk', 'a']) {
        expect(random.id(prefix)).toMatch(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`));
      }
    });

    test('[RND-3] later ids sort later and never repeat', async () => {
      const random = open();
      const ids: string[] = [];
      for (let round = 0; round < 5; round++) {
        for (let index = 0; index < 2_000; index++) ids.push(random.id('exe'));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect(ids).toEqual([...ids].sort());
      expect(new Set(ids).size).toBe(ids.length);
    });
  });
}
