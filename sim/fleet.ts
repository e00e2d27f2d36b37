/** The suite of 2,000 seeds, in two halves so that two cores share it. */
import { expect } from 'vitest';
import { ATTEMPT_ENTRY_KINDS, ENTRY_KINDS, RARE_ENTRY_KINDS } from './coverage.ts';
import { COMMON_FAULT_KINDS, WORKER_FAULT_KINDS } from './faults.ts';
import { liveMany } from './lives.ts';
import { sitesToDieAt } from './report.ts';

const HALF = 1_000;

export async function expectHalf(half: 0 | 1): Promise<void> {
  const { tally, failures } = await liveMany(1 + half * HALF, HALF);
  console.log(String(tally));
  expect(failures).toEqual([]);
  expect(tally.least.engines).toBeGreaterThanOrEqual(2);
  expect(tally.least.runs).toBeGreaterThanOrEqual(5);
  expect(tally.least.nodes).toBeGreaterThanOrEqual(40);
  const missing = [
    ...tally.coverage.missing(ENTRY_KINDS, COMMON_FAULT_KINDS),
    ...tally.coverage.missing(ATTEMPT_ENTRY_KINDS, WORKER_FAULT_KINDS),
  ];
  expect(missing, 'pairs of entry and fault that never met').toEqual([]);
  expect(tally.coverage.unmet(RARE_ENTRY_KINDS), 'rare entries that met no fault').toEqual([]);
  // A half may miss one site by chance; more than one points to the generator.
  expect(sitesToDieAt(tally).slice(1), 'sites at which nobody died, beyond one').toEqual([]);
}
