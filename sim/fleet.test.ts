/**
 * The lives of every `npm test`, and more if they have not met every pair of entry and fault. `npm run sim -- --seeds
 * 20000` lives more. docs/simulation.md lists deliberate breakages, and the life that finds each.
 */
import { expect, it } from 'vitest';
import { ENTRY_KINDS, OUTCOME_ENTRY_KINDS, RARE_ENTRY_KINDS } from './coverage.ts';
import { ATTEMPT_FAULT_KINDS, DELIVERY_FAULT_KINDS, FAULT_FAMILIES, FAULT_KINDS } from './faults.ts';
import { LIVES } from './fleet.ts';
import { liveMany } from './lives.ts';
import { sitesToDieAt, type Tally } from './report.ts';

const MOST_LIVES = 700;

const each = (kinds: readonly (typeof FAULT_KINDS)[number][]) =>
  Object.fromEntries(kinds.map((kind) => [kind, [kind]]));

const missingIn = ({ coverage }: Tally): string[] => [
  ...coverage.missing(ENTRY_KINDS, FAULT_FAMILIES),
  ...coverage.missing(OUTCOME_ENTRY_KINDS, each(ATTEMPT_FAULT_KINDS)),
  ...coverage.missing(['node.started'], each(DELIVERY_FAULT_KINDS)),
];

it('[SIM-1, SIM-2, SIM-3, SIM-20, SIM-70, SIM-71, ENG-62] the lives of this test lose nothing, repeat no completed work, and come to rest', async () => {
  const { tally, failures } = await liveMany(1, LIVES);
  // Rare pairs meet by chance, and every change of the engine's turns changes all chances.
  const more: string[] = [];
  for (let seed = LIVES + 1; seed <= MOST_LIVES && missingIn(tally).length > 0; seed++) {
    more.push(...(await liveMany(seed, 1, {}, tally)).failures);
  }
  console.log(String(tally));
  expect([...failures, ...more]).toEqual([]);
  expect(tally.least.engines).toBeGreaterThanOrEqual(2);
  expect(tally.least.runs).toBeGreaterThanOrEqual(5);
  expect(tally.least.nodes).toBeGreaterThanOrEqual(40);
  expect(tally.snapshots).toBeGreaterThan(5 * LIVES);
  expect(tally.deletions).toBeGreaterThan(LIVES);
  expect(missingIn(tally), 'pairs of entry and fault that never met').toEqual([]);
  expect(tally.coverage.unmet(RARE_ENTRY_KINDS), 'rare entries that met no fault').toEqual([]);
  expect(
    FAULT_KINDS.filter((kind) => tally.coverage.metBy(kind) < 8),
    'faults that few kinds of entries met',
  ).toEqual([]);
  // One site may be missed by chance; more than one points to the generator.
  expect(sitesToDieAt(tally).slice(1), 'sites at which nobody died, beyond one').toEqual([]);
}, 1_800_000);
