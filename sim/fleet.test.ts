/**
 * The suite of 1,000 lives. They meet every pair of entry and fault, and docs/simulation.md lists no
 * breakage whose first seed is above 420. `npm run sim -- --seeds 20000` lives more.
 */
import { expect, it } from 'vitest';
import { ATTEMPT_ENTRY_KINDS, ENTRY_KINDS, RARE_ENTRY_KINDS } from './coverage.ts';
import { COMMON_FAULT_KINDS, WORKER_FAULT_KINDS } from './faults.ts';
import { liveMany } from './lives.ts';
import { sitesToDieAt } from './report.ts';

it('[SIM-1, SIM-2, SIM-3, SIM-20, ENG-62] lives 1 to 1,000 lose nothing, repeat no completed work, and come to rest', async () => {
  const { tally, failures } = await liveMany(1, 1_000);
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
  // One site may be missed by chance; more than one points to the generator.
  expect(sitesToDieAt(tally).slice(1), 'sites at which nobody died, beyond one').toEqual([]);
}, 1_800_000);
