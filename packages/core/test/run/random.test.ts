import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RandomDrive } from './random-drive.ts';
import { type Happening, happenings, type RandomWorkflow, randomWorkflow } from './random-workflow.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 300);

const habits = fc.record({ slots: fc.constantFrom(1, 2, 100), isLazy: fc.boolean() });

describe('any run, whatever happens', { timeout: 600_000 }, () => {
  it('[RUN-88] does only what the language allows, leaves nothing pending, and ends', () => {
    fc.assert(
      fc.property(randomWorkflow, happenings, habits, (workflow: RandomWorkflow, list: readonly Happening[], how) => {
        const run = new RandomDrive(workflow, how);
        for (const happening of list) run.happen(happening);
        run.drain();
        const finishes = run.entries.filter(({ type }) => type === 'run.finished').length;
        const reopens = run.entries.filter(({ type }) => type === 'run.reopened').length;
        expect(finishes).toBe(reopens + 1);
      }),
      { numRuns: RUNS, ...(process.env.FUZZ_SEED === undefined ? {} : { seed: Number(process.env.FUZZ_SEED) }) },
    );
  });
});
