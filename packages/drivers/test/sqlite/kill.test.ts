import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/memory/index.ts';
import { tempStore } from './opened.ts';

const CHILD = new URL('./child-engine.ts', import.meta.url).pathname;
const ROUNDS = 5;
/** `KILL_SEED=… npm test -- packages/drivers/test/sqlite/kill` draws the same moments again. */
const SEED = Number(process.env.KILL_SEED ?? Math.floor(Math.random() * 2 ** 32));

/** Lets an engine append, kills it after `aliveMs` of work, and gives what it had been promised: newest seq by execution. */
async function killedWhileAppending(
  path: string,
  commitsIn: string,
  aliveMs: number,
): Promise<ReadonlyMap<string, number>> {
  const child = spawn(process.execPath, [CHILD, path, 'append', commitsIn], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
  });
  await once(child.stdout, 'data');
  await sleep(aliveMs);
  child.kill('SIGKILL');
  await once(child, 'close');
  const promised = new Map<string, number>();
  for (const line of said.slice(0, said.lastIndexOf('\n')).split('\n')) {
    const [executionId, seq] = line.split(' ') as [string, string];
    promised.set(executionId, Math.max(promised.get(executionId) ?? 0, Number(seq)));
  }
  return promised;
}

for (const commitsIn of ['main', 'thread']) {
  test(`[STO-1] after kill -9 everything promised is there (commits in ${commitsIn}, KILL_SEED=${SEED})`, {
    timeout: 120_000,
  }, async () => {
    const { path, open } = await tempStore();
    const random = seededRandom(SEED, () => 0);
    let frames = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const promised = await killedWhileAppending(path, commitsIn, random.fraction() * 400);
      const store = await open();
      for (const [executionId, seq] of promised) {
        const kept = await store.frames(executionId, 0);
        expect(kept.length).toBeGreaterThanOrEqual(seq);
        expect(kept.map((frame) => frame.seq)).toEqual(kept.map((_, index) => index + 1));
        expect(kept.every((frame) => JSON.parse(frame.entries)[1] === frame.seq)).toBe(true);
        frames += seq;
      }
      await store.close();
      const database = new Database(path);
      expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
      database.close();
    }
    expect(frames).toBeGreaterThan(ROUNDS * 20);
  });
}
