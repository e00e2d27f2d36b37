import { expect, test } from 'vitest';
import { creating, tempStore } from './opened.ts';

const ADA = { kind: 'user', id: 'ada', body: '{}' };

test('records are closed with their store, and looked at where nothing may be written', async () => {
  const { open } = await tempStore();
  const store = await open();
  await store.records.commit([ADA]);
  await store.close();
  for (const refused of [
    store.records.get('user', 'ada'),
    store.records.list('user', { limit: 5 }),
    store.records.commit([ADA]),
    store.records.purge(5, 5),
  ]) {
    await expect(refused).rejects.toMatchObject({ code: 'STORE_CLOSED' });
  }
  const looking = await open({ engine: false, readonly: true });
  expect(await looking.records.get('user', 'ada')).toMatchObject({ body: '{}' });
  await expect(looking.records.commit([ADA])).rejects.toMatchObject({ code: 'STORE_READONLY' });
});

test('a commit of records that another process made does not confuse the engine’s own positions', async () => {
  const { open } = await tempStore();
  const engine = await open();
  const executions = await open({ engine: false });
  expect(await engine.append([creating('a')])).toEqual([{ ok: true }]);
  expect(await engine.lastPosition()).toBe('1');
  expect((await executions.records.commit([ADA])).ok).toBe(true);
  expect(await engine.append([creating('b')])).toEqual([{ ok: true }]);
  expect(await engine.lastPosition()).toBe('2');
  expect(await engine.records.commit([{ ...ADA, expected: 0 }])).toMatchObject({ ok: false });
});
