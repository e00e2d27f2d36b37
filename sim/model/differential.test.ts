import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compare } from './compare.ts';
import { happenings, randomWorkflow } from './random.ts';

/** `npm test` always uses the same runs; `FUZZ_RUNS` and `FUZZ_SEED` draw more, and others. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 2_000);
const SEED = Number(process.env.FUZZ_SEED ?? 1);

it('[SIM-22, RUN-460] thousands of small workflows do in the core what the reference interpreter says, event by event', () => {
  fc.assert(
    fc.property(randomWorkflow, happenings, fc.boolean(), (definition, list, isSuspended) => {
      const { difference, isUnspecified, events } = compare(definition, list, isSuspended);
      fc.pre(!isUnspecified);
      expect(difference, events.join(', ')).toBe(undefined);
    }),
    { numRuns: RUNS, seed: SEED },
  );
}, 300_000);
