import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explore } from './exploration.ts';
import { checkKept, keepFailure } from './kept-failure.ts';
import { type Recorded, recordBeside, recordEngine, withSabotage } from './recorded-engine.ts';
import { whyNoRecording } from './recording.ts';
import type { Sabotage } from './workload-options.ts';

/** `npm run power-loss -- --states 100000` goes through more. */
const STATES = 500;
const CONTINUE_EVERY = 125;
/** `POWER_SEED=… npm test -- e2e/power-loss` draws the same states of another record. */
const SEED = Number(process.env.POWER_SEED ?? Math.floor(Math.random() * 2 ** 32));

const why = whyNoRecording();

// Needs Linux on x64 and a C compiler. With CI=true their absence is a failure.
describe.skipIf(why !== undefined && process.env.CI !== 'true')(`a power cut (POWER_SEED=${SEED})`, () => {
  let root = '';
  let recorded: Recorded;

  beforeAll(async () => {
    expect(why).toBeUndefined();
    root = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'power-loss-test-'));
    recorded = await recordEngine({ seed: SEED, runs: 8, lives: 2, commitsIn: 'thread' }, path.join(root, 'engine'));
  });

  afterAll(() => {
    if (root !== '') rmSync(root, { recursive: true, force: true });
  });

  const explored = ({ operations, reference }: Recorded, states: number, name: string) =>
    explore({
      operations,
      reference,
      scratch: path.join(root, name),
      seed: SEED,
      states,
      continueEvery: CONTINUE_EVERY,
      storeEvery: 4,
    });

  test('[E2E-20, E2E-21, E2E-22, E2E-23] loses nothing that was promised', async () => {
    expect(recorded.reference.failures).toEqual([]);
    const { failures, distinct, continued } = await explored(recorded, STATES, 'states');
    expect(failures.map(({ files: _, ...failure }) => failure)).toEqual([]);
    expect(distinct).toBe(STATES);
    expect(continued).toBe(STATES / CONTINUE_EVERY);
  });

  test('[E2E-24] is tried on a record of all that the product writes', () => {
    const written = new Set(recorded.operations.flatMap((operation) => ('path' in operation ? [operation.path] : [])));
    for (const file of ['data', 'data/nebula.db-wal', 'data/blobs', 'data/engine.lock', 'data/secrets.lock']) {
      expect(written).toContain(file);
    }
    expect(recorded.reference.completeAt.length).toBeGreaterThan(50);
    const kinds = new Set([...recorded.reference.factCommit.keys()].map((fact) => fact.split(' ')[0]));
    expect([...kinds].sort()).toEqual(
      [
        'cached',
        'deleted',
        'frame',
        'lease',
        'line',
        'message',
        'record',
        'run',
        'signal',
        'snapshot',
        'workflow',
      ].sort(),
    );
  });

  test.each<[Sabotage, RegExp]>([
    ['folder-syncs-lost', /missing|no key/],
    ['blob-folder-syncs-lost', /the blob .* is missing/],
    ['blob-syncs-lost', /does not have its content/],
    ['secret-syncs-lost', /secret/],
  ])('[E2E-25] is found out where the record lacks syncs: %s', async (sabotage, message) => {
    const operations = withSabotage(recorded.operations, sabotage);
    const { failures } = await explored({ ...recorded, operations }, 200, sabotage);
    expect(failures.flatMap((failure) => failure.failures).join()).toMatch(message);
  });

  test.each<Sabotage>(['sync-off', 'sync-normal', 'early-acknowledgement'])(
    '[E2E-25, E2E-26] is found out where commits are promised too early: %s',
    async (sabotage) => {
      const scratch = path.join(root, `engine-${sabotage}`);
      const broken = await recordEngine({ seed: SEED, runs: 2, lives: 1, commitsIn: 'main', sabotage }, scratch);
      const { failures } = await explored(broken, 200, sabotage);
      expect(failures.flatMap((failure) => failure.failures).join()).toMatch(/lost after it was promised/);
      const kept = path.join(scratch, 'kept');
      for (const failure of failures)
        keepFailure(kept, failure, { ...broken, recordedFolder: broken.folder, sabotage });
      const again = await checkKept(kept, path.join(scratch, 'again'));
      expect(again.failures.map((failure) => failure.failures)).toEqual(failures.map((failure) => failure.failures));
    },
  );

  test.each(['blobs', 'blobs-again'])('[BLO-10] leaves the folders of blobs: %s', (name) => losesNothing(name));

  test('[STO-95] leaves the name of a data folder that another process has made', () => losesNothing('store'));

  test('[E2E-22] leaves the data folder of the first secret', () => losesNothing('secrets'));

  async function losesNothing(name: string): Promise<void> {
    const alone = await recordBeside('drivers-alone.ts', name, path.join(root, `alone-${name}`));
    const { failures, distinct } = await explored(alone, 100, `states-${name}`);
    expect(failures.map(({ files: _, ...failure }) => failure)).toEqual([]);
    expect(distinct).toBeGreaterThan(2);
  }
});
