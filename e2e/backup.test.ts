import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createClient, type NebulaClient } from '@nebula/client';
import { afterAll, expect, test } from 'vitest';
import { type AtBackup, readAtBackup } from './backup-audit.ts';
import { CONFIG, outputOf, readWorld, WORKFLOWS } from './backup-world.ts';
import { chanceFrom } from './kill-plan.ts';

/** `E2E_BACKUPS=20 E2E_SEED=… npm test -- e2e/backup` makes more, with the same moments of the kills. */
const BACKUPS = Number(process.env.E2E_BACKUPS ?? 2);
const SEED = Number(process.env.E2E_SEED ?? Math.floor(Math.random() * 2 ** 32));
const LANES = 6;
const BIN = fileURLToPath(new URL('../apps/cli/bin/nebula.js', import.meta.url));
const root = mkdtempSync(path.join(tmpdir(), 'nebula-e2e-backup-'));
const world = path.join(root, 'world.log');
const dataDir = path.join(root, 'data');
const living = new Set<ChildProcess>();
afterAll(async () => {
  for (const child of living) await ended(child, 'SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

function nebula(args: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, [BIN, ...args], { cwd: root, env: { ...process.env, ...env }, stdio: 'pipe' });
  living.add(child);
  child.on('close', () => living.delete(child));
  return child;
}

async function ended(child: ChildProcess, signal?: NodeJS.Signals): Promise<number | null> {
  const closed = child.exitCode === null && child.signalCode === null ? once(child, 'close') : undefined;
  if (signal !== undefined) child.kill(signal);
  await closed;
  return child.exitCode;
}

interface Life {
  readonly child: ChildProcess;
  readonly client: NebulaClient;
}

async function serve(folder: string, life: string): Promise<Life> {
  const child = nebula(['serve', '--port', '0', '--json', '--data-dir', folder], { WORLD: world, LIFE: life });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data: Buffer) => (text += data.toString()));
  const note = path.join(folder, 'server.json');
  const { url } = await expect
    .poll(
      () => {
        if (child.exitCode !== null) throw new Error(`the server ended: ${text}`);
        const found = existsSync(note)
          ? (JSON.parse(readFileSync(note, 'utf8')) as { url: string; pid: number })
          : undefined;
        return found?.pid === child.pid ? found : undefined;
      },
      { timeout: 60_000 },
    )
    .toBeDefined()
    .then(() => JSON.parse(readFileSync(note, 'utf8')) as { url: string });
  const token = readFileSync(path.join(folder, 'token'), 'utf8').trim();
  const client = createClient({ url, token, retries: 0 });
  await expect
    .poll(
      async () =>
        (await client.call('listWorkflows')).items.filter(({ activeVersion }) => activeVersion !== null).length,
      {
        timeout: 60_000,
      },
    )
    .toBe(2);
  return { child, client };
}

/** Starts runs and sends the signals of some, until the server is gone. */
async function lane({ client }: Life, next: () => number, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const n = next();
    try {
      const workflowId = n % 3 === 0 ? 'tree' : 'chain';
      await client.call('startExecution', { body: { workflowId, input: { n } }, query: { wait: '300ms' } });
      if (workflowId === 'tree' && n % 2 === 0) {
        await client.call('publishSignal', { body: { signal: 'go', key: String(n), keep: '1h' } });
      }
    } catch {
      return;
    }
  }
}

test(`[E2E-10] backups under load, killed at random moments, are restored and every run ends (E2E_SEED=${SEED})`, async () => {
  const chance = chanceFrom(SEED);
  mkdirSync(path.join(root, 'workflows'));
  writeFileSync(path.join(root, 'package.json'), '{}');
  writeFileSync(path.join(root, 'nebula.config.mjs'), CONFIG);
  for (const [name, text] of Object.entries(WORKFLOWS)) writeFileSync(path.join(root, name), text);
  const files: string[] = [];
  let [number, lives, killed] = [1, 0, 0];
  const next = (): number => number++;
  let life = await serve(dataDir, `first-${++lives}`);
  let isOver = false;
  let lanes: Promise<void>[] = [];
  const load = (): void => {
    lanes = Array.from({ length: LANES }, () => lane(life, next, () => isOver));
  };
  load();
  await expect.poll(() => number, { timeout: 60_000 }).toBeGreaterThan(40);
  for (let turn = 0; files.length < BACKUPS || killed < BACKUPS - 1; turn++) {
    const file = path.join(root, `${turn}.tar`);
    const isKilled = chance() < 0.45;
    const killMs = chance() * 1_200;
    if (turn % 2 === 0) {
      // Beside the server, by a process of its own.
      const child = nebula(['backup', file, '--data-dir', dataDir, '--no-verify']);
      const timer = isKilled ? setTimeout(() => child.kill('SIGKILL'), killMs) : undefined;
      const code = await ended(child);
      clearTimeout(timer);
      expect([0, null]).toContain(code);
    } else {
      // By the server; killed together with it.
      const timer = isKilled ? setTimeout(() => life.child.kill('SIGKILL'), killMs / 4) : undefined;
      await download(life.client, file).catch((error: unknown) => {
        if (!isKilled) throw error;
      });
      clearTimeout(timer);
      if (isKilled) {
        await ended(life.child, 'SIGKILL');
        await Promise.all(lanes);
        life = await serve(dataDir, `first-${++lives}`);
        load();
      }
    }
    const code = existsSync(file) ? await ended(nebula(['backup', 'verify', file])) : 2;
    // An interrupted backup is recognised; a whole one is restored below.
    if (code === 0) files.push(file);
    else killed++;
    if (!isKilled) expect(code).toBe(0);
  }
  isOver = true;
  await Promise.all(lanes);
  await ended(life.child, 'SIGKILL');
  let harmed = 0;
  for (const [index, file] of files.entries()) harmed += await restored(file, `copy-${index}`);
  // The backups were made in the middle of something.
  expect(harmed).toBeGreaterThan(BACKUPS);
}, 900_000);

async function download(client: NebulaClient, file: string): Promise<void> {
  await pipeline(Readable.from(await client.backup()), createWriteStream(file));
}

/** Restores a backup, continues everything in it, and returns how many attempts were open in it. */
async function restored(file: string, life: string): Promise<number> {
  const folder = path.join(root, life);
  expect(await ended(nebula(['restore', file, '--data-dir', folder]))).toBe(0);
  const before = await readAtBackup(folder);
  const linesBefore = readWorld(world).length;
  const { child, client } = await serve(folder, life);
  await help(client, before);
  for (const executionId of before.executions) {
    const run = await client.call('getExecution', { params: { executionId } });
    const { n } = run.input as { n: number };
    expect(run, executionId).toMatchObject({ status: 'completed', output: outputOf(run.workflowId, n) });
  }
  await ended(child, 'SIGTERM');
  expectEffects(before, life, linesBefore);
  rmSync(folder, { recursive: true, force: true });
  return [...before.started].filter((node) => !before.ended.has(node)).length;
}

/** Sends the signals that runs still wait for, and settles unknown outcomes as a person would: by looking at the world. */
async function help(client: NebulaClient, { executions }: AtBackup): Promise<void> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const { counts } = await client.call('countExecutions');
    if ((counts.running ?? 0) + (counts.pending ?? 0) === 0) break;
    if (Date.now() > deadline) throw new Error(`runs are stuck: ${JSON.stringify(counts)}`);
    for await (const row of client.all('listExecutions', { query: { status: 'running' } as never })) {
      const { executionId, workflowId } = row as { executionId: string; workflowId: string };
      if (workflowId !== 'tree') continue;
      const run = await client.call('getExecution', { params: { executionId } });
      const nodes = run.nodes as unknown as Record<string, { status: string }>;
      const { n } = run.input as { n: number };
      if (nodes['go']?.status !== 'completed') {
        await client.call('publishSignal', { body: { signal: 'go', key: String(n), keep: '1h' } });
      }
      if (nodes['pay']?.status === 'unknown') {
        const isDone = readWorld(world).some(
          (line) => line.what === 'done' && line.key.startsWith(`${executionId}:pay`),
        );
        const body = isDone
          ? { node: 'pay', happened: true, output: { value: n, padding: '' } }
          : { node: 'pay', happened: false, then: 'retry' as const };
        await client.call('settleNode', { params: { executionId }, body }).catch(() => undefined);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(executions.length).toBeGreaterThan(0);
}

/** Effects as declared: nothing that had ended runs again, a repeated attempt has the same key, `once` is not guessed. */
function expectEffects(before: AtBackup, life: string, from: number): void {
  const all = readWorld(world);
  const lines = all.slice(from).filter((line) => line.life === life);
  const first = new Map(all.slice(0, from).map((line) => [`${line.executionId}/${line.node}`, line]));
  const begun = new Map<string, number>();
  for (const line of lines) {
    const node = `${line.executionId}/${line.node}`;
    expect(before.ended.has(node), `${node} had ended`).toBe(false);
    const earlier = first.get(node);
    if (earlier !== undefined) expect(line.key).toBe(earlier.key);
    if (line.what !== 'begin') continue;
    begun.set(node, (begun.get(node) ?? 0) + 1);
    const isOnce = line.node === 'pay' || line.node === 'b';
    const wasDone = all.slice(0, from).some((other) => other.what === 'done' && other.key === line.key);
    // An attempt that was open in the backup is repeated only if it had not taken effect.
    if (isOnce && before.started.has(node)) expect(wasDone, `${node} took effect already`).toBe(false);
  }
  for (const [node, count] of begun) expect(count, node).toBe(1);
}
