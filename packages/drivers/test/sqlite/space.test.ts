import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { changed, creating, framed, tempStore } from './opened.ts';

test('the file shrinks when executions are deleted, a piece at a time', { timeout: 60_000 }, async () => {
  const { open, path } = await tempStore();
  const store = await open({ durability: 'relaxed' });
  for (let run = 0; run < 100; run++) {
    await store.append([creating(`run-${run}`)]);
    const frames = Array.from({ length: 40 }, (_, index) => framed(`run-${run}`, index + 2, 'x'.repeat(5_000)));
    await store.append([...frames, { executionId: `run-${run}`, status: changed('completed') }]);
  }
  await store.close();
  const full = statSync(path).size;
  expect(full).toBeGreaterThan(20_000_000);
  const again = await open();
  for (let run = 0; run < 100; run++) if (run !== 50) expect(await again.deleteExecution(`run-${run}`)).toBe(true);
  let pieces = 0;
  for (let more = true; more; pieces++) more = await again.reclaimSpace();
  expect(pieces).toBeGreaterThan(5);
  expect(await again.frames('run-50', 0)).toHaveLength(41);
  await again.close();
  expect(statSync(path).size).toBeLessThan(full / 10);
});

test('frames of a long run that was deleted go piece by piece, also after a restart', async () => {
  const { open, path } = await tempStore();
  const store = await open({ durability: 'relaxed' });
  await store.append([creating('long')]);
  await store.append(Array.from({ length: 9_000 }, (_, index) => framed('long', index + 2)));
  await store.append([{ executionId: 'long', status: changed('completed') }]);
  expect(await store.deleteExecution('long')).toBe(true);
  await store.close();
  const count = () => {
    const database = new Database(path, { readonly: true });
    const { frames, doomed } = database
      .prepare('SELECT (SELECT count(*) FROM frames) AS frames, (SELECT count(*) FROM doomed) AS doomed')
      .get() as { frames: number; doomed: number };
    database.close();
    return { frames, doomed };
  };
  expect(count()).toEqual({ frames: 7_001, doomed: 1 });
  const again = await open();
  while (await again.reclaimSpace());
  await again.close();
  expect(count()).toEqual({ frames: 0, doomed: 0 });
});

test('[STO-142] the ids of many deleted children go piece by piece with their parent', async () => {
  const { open, path } = await tempStore();
  const store = await open({ durability: 'relaxed' });
  const create = { workflowId: 'orders', version: 1, createdAt: 1, owner: null, parent: 'parent' };
  const ids = Array.from({ length: 4_500 }, (_, index) => `child-${index}`);
  await store.append([creating('parent', { status: changed('completed') })]);
  await store.append(ids.map((id) => creating(id, { create, status: changed('completed') })));
  for (const id of ids) await store.deleteExecution(id);
  const kept = (): number => {
    const database = new Database(path, { readonly: true });
    const count = database.prepare('SELECT count(*) FROM deleted_children').pluck().get() as number;
    database.close();
    return count;
  };
  expect(kept()).toBe(4_500);
  expect(await store.deleteExecution('parent')).toBe(true);
  expect(kept()).toBe(2_500);
  while (await store.reclaimSpace());
  expect(kept()).toBe(0);
});
