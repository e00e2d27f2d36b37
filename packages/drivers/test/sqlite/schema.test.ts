import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEED_START } from '@nebula/ports';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/sqlite/migrations/index.ts';
import { migrate } from '../../src/sqlite/schema.ts';
import { temporaryFolder } from '../temporary.ts';
import { changed, creating, framed, tempStore } from './opened.ts';

const FIXTURE = new URL('./fixtures/version-1.sql', import.meta.url);

test('a database of version 1 opens, with everything that is in it', async () => {
  const { open, folder, path } = await tempStore();
  mkdirSync(folder);
  const old = new Database(path);
  old.exec(readFileSync(FIXTURE, 'utf8'));
  old.close();
  const store = await open();
  expect(await store.execution('exe_done')).toEqual({
    executionId: 'exe_done',
    project: 'default',
    workflowId: 'orders',
    version: 2,
    status: 'completed',
    createdAt: 1_790_000_000_000,
    finishedAt: 1_790_000_005_000,
    wakeAt: null,
    owner: 'wrk_1',
    expiresAt: 1_792_000_000_000,
    trigger: null,
    startedAt: null,
    parent: null,
    errorCode: null,
    errorNode: null,
    errorMessage: null,
  });
  expect((await store.list({ isRoot: true, search: 'exe_d', limit: 5 })).rows).toHaveLength(1);
  // Unfinished runs may wait for a person: their journals are still to be read.
  expect(await store.untaskedExecutions(5)).toEqual(['exe_open']);
  expect(await store.saveHumanTasks('exe_open', 2, [])).toBe(true);
  expect(await store.untaskedExecutions(5)).toEqual([]);
  expect((await store.list({ project: 'default', limit: 5 })).rows.map((row) => row.executionId)).toContain('exe_done');
  expect(await store.frames('exe_open', 0)).toEqual([
    { executionId: 'exe_open', seq: 1, at: 1_790_000_001_000, position: '3', entries: '[{"type":"started"}]' },
    {
      executionId: 'exe_open',
      seq: 2,
      at: 1_790_000_002_000,
      position: '4',
      entries: '[{"type":"waiting","text":"😀"}]',
    },
  ]);
  expect((await store.feed({ after: FEED_START, limit: 10 })).map((frame) => frame.position)).toEqual([
    '1',
    '2',
    '3',
    '4',
  ]);
  expect(await store.inbox('exe_open')).toEqual([
    { messageId: 'm1', executionId: 'exe_open', body: '{"cancel":true}' },
  ]);
  expect((await store.load('exe_open'))?.snapshot).toEqual({ seq: 1, state: '{"nodes":{}}' });
  expect(await store.workflowVersion('orders')).toMatchObject({ version: 2, hash: 'h2' });
  expect(await store.liveWorkers(['wrk_1'], 1)).toEqual(new Set(['wrk_1']));
  expect(await store.logs.read({ executionId: 'exe_done', limit: 5 })).toMatchObject([
    { message: 'hello', level: 'warn', fields: { n: 1 } },
  ]);
  const child = creating('exe_child', {
    create: { workflowId: 'orders', version: 1, createdAt: 1, owner: null, parent: 'exe_open' },
    status: changed('completed'),
  });
  expect(await store.deleteExecution('exe_done')).toBe(true);
  // The last position of all belonged to a deleted run, and is not given again.
  expect(await store.append([framed('exe_open', 3)])).toEqual([{ ok: true }]);
  expect(await store.lastPosition()).toBe('10');
  expect(await store.append([child])).toEqual([{ ok: true }]);
  expect(await store.deleteExecution('exe_child')).toBe(true);
  expect(await store.append([child])).toEqual([{ ok: false, isGone: true }]);
});

test('the fixture has version 1, and the migrations give the current schema', async () => {
  const fixture = new Database(':memory:');
  fixture.exec(readFileSync(FIXTURE, 'utf8'));
  expect(fixture.pragma('user_version', { simple: true })).toBe(1);
  migrate(fixture, ':memory:');
  const fresh = new Database(':memory:');
  migrate(fresh, ':memory:');
  const schemaOf = (database: Database.Database) =>
    database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();
  expect(schemaOf(fixture)).toEqual(schemaOf(fresh));
  expect(fresh.pragma('user_version', { simple: true })).toBe(MIGRATIONS.at(-1)?.version);
  const versions = MIGRATIONS.map((migration) => migration.version);
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
});

test('steps run in order, all or none', async () => {
  const folder = await temporaryFolder();
  const path = join(folder.path, 'steps.db');
  const database = new Database(path);
  const first = { version: 1, sql: 'CREATE TABLE a (x); INSERT INTO a VALUES (1)' };
  const second = { version: 2, sql: 'ALTER TABLE a ADD COLUMN y; UPDATE a SET y = 2' };
  const broken = { version: 3, sql: 'CREATE TABLE b (x); SELECT no_such_function()' };
  migrate(database, path, [first]);
  expect(() => migrate(database, path, [first, second, broken])).toThrow(/no_such_function/);
  expect(database.prepare('SELECT * FROM a').all()).toEqual([{ x: 1 }]);
  expect(database.pragma('user_version', { simple: true })).toBe(1);
  migrate(database, path, [first, second]);
  migrate(database, path, [first, second]);
  expect(database.prepare('SELECT * FROM a').all()).toEqual([{ x: 1, y: 2 }]);
  expect(database.pragma('auto_vacuum', { simple: true })).toBe(2);
  expect(database.pragma('journal_mode', { simple: true })).toBe('wal');
  database.close();
  await folder.remove();
});

test('data of a newer Nebula is left alone; of an older one, looked at after an engine has migrated it', async () => {
  const { open, path } = await tempStore();
  const store = await open();
  await store.append([creating('a')]);
  await store.close();
  const tool = new Database(path);
  tool.pragma('user_version = 99');
  for (const engine of [true, false]) {
    await expect(open({ engine })).rejects.toMatchObject({
      code: 'STORE_TOO_NEW',
      hint: expect.stringContaining('newer'),
    });
  }
  tool.pragma('user_version = 0');
  await expect(open({ engine: false })).rejects.toMatchObject({ code: 'STORE_TOO_OLD' });
  tool.close();
});
