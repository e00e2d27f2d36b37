import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient, type NebulaClient } from '@nebula/client';
import Database from 'better-sqlite3';
import { afterAll, expect, test } from 'vitest';
import { databaseIn } from './data-folder.ts';
import { chanceFrom } from './kill-plan.ts';
import { SERVER_TOKEN, startServerProcess } from './server-process.ts';

const KILLS = 5;
/** `E2E_SEED=… npm test -- e2e` draws the same moments again. */
const SEED = Number(process.env.E2E_SEED ?? Math.floor(Math.random() * 2 ** 32));
const LANES = 16;
/** Starts that a life has answered when it is killed, at least; up to twice as many. */
const STARTS = 60;
const folder = mkdtempSync(path.join(tmpdir(), 'nebula-e2e-server-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const definition = {
  id: 'load',
  nodes: { a: { action: 'nap@1' }, b: { needs: ['a'], action: 'nap@1' } },
  output: '{{ $input.n }}',
};

/** Starts one run after the other until the server is gone; what was answered with success is promised. */
async function lane(
  client: NebulaClient,
  promise: (executionId: string, n: number) => void,
  next: () => number,
): Promise<void> {
  for (;;) {
    const n = next();
    try {
      const { executionId } = await client.call('startExecution', { body: { workflowId: 'load', input: { n } } });
      promise(executionId, n);
    } catch {
      return;
    }
  }
}

function openRuns(): number {
  const database = new Database(databaseIn(folder), { readonly: true });
  try {
    return database.prepare('SELECT count(*) FROM executions WHERE finished_at IS NULL').pluck().get() as number;
  } finally {
    database.close();
  }
}

test(`[E2E-9] every start that a server answered exists, and ends, through ${KILLS} × SIGKILL under load (E2E_SEED=${SEED})`, async () => {
  const promised = new Map<string, number>();
  const chance = chanceFrom(SEED);
  let n = 0;
  let unfinished = 0;
  for (let life = 0; life < KILLS; life++) {
    const server = await startServerProcess(folder);
    const client = createClient({ url: server.url, token: SERVER_TOKEN, retries: 0 });
    if (life === 0) await client.call('registerWorkflow', { body: { definition } });
    const enough = promised.size + STARTS * (1 + chance());
    const isEnough = Promise.withResolvers<void>();
    const promise = (executionId: string, number: number): void => {
      promised.set(executionId, number);
      if (promised.size >= enough) isEnough.resolve();
    };
    const lanes = Array.from({ length: LANES }, () => lane(client, promise, () => n++));
    await isEnough.promise;
    await server.end('SIGKILL');
    await Promise.all(lanes);
    unfinished += openRuns();
  }
  // The kills did harm: runs were in the middle of something.
  expect(unfinished).toBeGreaterThan(KILLS);
  const server = await startServerProcess(folder);
  const client = createClient({ url: server.url, token: SERVER_TOKEN });
  for (const [executionId, number] of promised) {
    const result = await client.call('getResult', { params: { executionId }, query: { wait: '60s' } });
    expect(result).toMatchObject({ executionId, status: 'completed', output: number });
  }
  await expect
    .poll(async () => (await client.call('countExecutions')).counts, { timeout: 60_000 })
    .toMatchObject({ pending: 0, running: 0, failed: 0 });
  await server.end('SIGTERM');
  expect(server.stderr()).toBe('');
  const database = new Database(databaseIn(folder), { readonly: true });
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  database.close();
}, 240_000);
