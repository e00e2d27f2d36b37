/** Problems with disks, files and permissions, and their error messages. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open as openFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { NebulaError } from '@nebula/core';
import { FEED_START } from '@nebula/ports';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { creating, framed, tempStore } from './opened.ts';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

async function refusal(promise: Promise<unknown>): Promise<NebulaError> {
  const error = await promise.then(
    () => expect.fail('was not refused'),
    (reason) => reason,
  );
  expect(error).toMatchObject({ name: 'NebulaError' });
  expect(error.hint).toMatch(/\w/);
  return error;
}

test('looking where there is nothing', async () => {
  const { open, folder } = await tempStore();
  const error = await refusal(open({ engine: false }));
  expect(error).toMatchObject({ code: 'DATA_DIR_MISSING' });
  expect(error.message).toContain(folder);
  mkdirSync(folder);
  expect(await refusal(open({ engine: false, readonly: true }))).toMatchObject({ code: 'DATA_DIR_MISSING' });
});

test('an engine makes the directory, deep down too, and for its user only', async () => {
  const { open, folder } = await tempStore();
  const path = join(folder, 'deep', 'down', 'nebula.db');
  const store = await open({ path });
  expect(await store.append([creating('a')])).toMatchObject([{ ok: true }]);
  expect(readdirSync(dirname(path)).filter((name) => name.endsWith('.new'))).toEqual([]);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
});

test('[STO-81] an empty database file is refused, and nothing beside it is touched', async () => {
  const { open, folder, path } = await tempStore();
  mkdirSync(folder);
  writeFileSync(path, '');
  writeFileSync(`${path}-wal`, 'what may be recovered');
  for (const options of [{ engine: true }, { engine: false }, { engine: false, readonly: true }]) {
    const error = await refusal(open(options));
    expect(error).toMatchObject({ code: 'STORE_EMPTY', retryable: false });
    expect(error.message).toContain(path);
    expect(error.hint).toContain('backup');
    expect(error.hint).toContain(`remove ${path}, ${path}-wal and ${path}-shm`);
  }
  expect(statSync(path).size).toBe(0);
  expect(await readFile(`${path}-wal`, 'utf8')).toBe('what may be recovered');
});

test('[STO-81] a log whose database is missing is refused, and never played into a new database', async () => {
  const { open, path } = await tempStore();
  const store = await open();
  await store.append([creating('a')]);
  const log = await readFile(`${path}-wal`);
  expect(log.length).toBeGreaterThan(0);
  await store.close();
  rmSync(path);
  writeFileSync(`${path}-wal`, log);
  for (const engine of [true, false]) {
    const error = await refusal(open({ engine }));
    expect(error).toMatchObject({ code: 'STORE_EMPTY' });
    expect(error.message).toContain('is missing, but its write-ahead log exists');
  }
  expect((await readFile(`${path}-wal`)).equals(log)).toBe(true);
});

test('[STO-82] a database without a table is refused as empty', async () => {
  const { open, folder, path } = await tempStore();
  mkdirSync(folder);
  const other = new Database(path);
  other.pragma('user_version = 0');
  other.exec('CREATE TABLE a (b); DROP TABLE a; VACUUM');
  other.close();
  expect(statSync(path).size).toBeGreaterThan(0);
  for (const engine of [true, false]) {
    expect(await refusal(open({ engine }))).toMatchObject({ code: 'STORE_EMPTY' });
  }
});

test('[STO-83] once the empty file is removed, the engine makes a new database', async () => {
  const { open, folder, path } = await tempStore();
  mkdirSync(folder);
  writeFileSync(path, '');
  await refusal(open());
  rmSync(path);
  const store = await open();
  expect(await store.append([creating('a')])).toMatchObject([{ ok: true }]);
});

test('[STO-84] a creation that was interrupted leaves no database under its name, and is begun again', async () => {
  const { open, folder, path } = await tempStore();
  mkdirSync(folder);
  for (const ending of ['', '-wal', '-journal']) writeFileSync(`${path}.new${ending}`, '');
  const store = await open();
  expect(await store.append([creating('a')])).toMatchObject([{ ok: true }]);
  expect(readdirSync(folder).filter((name) => name.includes('.new'))).toEqual([]);
});

test('a directory that cannot be made', async () => {
  const { open, folder } = await tempStore();
  mkdirSync(folder);
  writeFileSync(join(folder, 'file'), '');
  const error = await refusal(open({ path: join(folder, 'file', 'data', 'nebula.db') }));
  expect(error).toMatchObject({ code: 'DATA_DIR_UNWRITABLE' });
  expect(error.message).toContain(join(folder, 'file', 'data'));
});

// Only Linux has /proc, where a folder cannot be made although its parent is there.
test.skipIf(process.platform !== 'linux')('a parent that refuses folders is reported, not waited for', async () => {
  const { open } = await tempStore();
  expect(await refusal(open({ path: '/proc/nebula/data/nebula.db' }))).toMatchObject({ code: 'DATA_DIR_UNWRITABLE' });
});

test('a file that is no database', async () => {
  const { open, folder, path } = await tempStore();
  mkdirSync(folder);
  writeFileSync(path, 'Dear diary, today I had a very long walk. '.repeat(100));
  expect(await refusal(open())).toMatchObject({ code: 'STORE_NOT_A_DATABASE' });
  expect(await refusal(open({ engine: false }))).toMatchObject({ code: 'STORE_NOT_A_DATABASE' });
  expect(await readFile(path, 'utf8')).toContain('Dear diary');
});

test('the database of another program is not touched', async () => {
  const { open, folder, path } = await tempStore();
  mkdirSync(folder);
  const other = new Database(path);
  other.exec('CREATE TABLE photos (name TEXT)');
  other.close();
  const before = await readFile(path);
  expect(await refusal(open())).toMatchObject({ code: 'STORE_NOT_A_DATABASE' });
  expect((await readFile(path)).equals(before)).toBe(true);
});

test('a damaged database', async () => {
  const { open, path } = await tempStore();
  const store = await open();
  await store.append(
    Array.from({ length: 400 }, (_, run) =>
      creating(`run-${run}`, { frame: { seq: 1, at: 1, entries: 'x'.repeat(500) } }),
    ),
  );
  await store.close();
  const file = await openFile(path, 'r+');
  // The later half has only rows: the schema is at the beginning.
  const pages = (await file.stat()).size / 4_096;
  for (let page = pages / 2; page < pages; page++) {
    await file.write(Buffer.alloc(4_000, 0xa5), 0, 4_000, Math.floor(page) * 4_096);
  }
  await file.close();
  const again = await open();
  const error = await refusal(again.feed({ after: FEED_START, limit: 1_000 }));
  expect(error).toMatchObject({ code: 'STORE_CORRUPT', retryable: false });
  expect(error.message).toContain(path);
  await again.close();
  await truncate(path, 10_000);
  expect((await refusal(open())).code).toMatch(/STORE_CORRUPT|STORE_NOT_A_DATABASE/);
});

test('while another program locks the database, calls wait without blocking, then fail, then succeed', async () => {
  const { open, path } = await tempStore();
  const store = await open({ busyTimeoutMs: 400 });
  await store.append([creating('a')]);
  const tool = new Database(path);
  onTestFinished(() => void tool.close());
  tool.exec('BEGIN IMMEDIATE');
  let turns = 0;
  const ticking = setInterval(() => turns++, 5);
  const refused = [store.append([framed('a', 2)]), store.send({ messageId: 'm', executionId: 'a', body: '' }, 1)].map(
    refusal,
  );
  const [first] = await Promise.all(refused);
  expect(first).toMatchObject({ code: 'STORE_BUSY', retryable: true });
  expect(turns).toBeGreaterThan(5);
  const patient = [store.append([framed('a', 2)]), store.append([framed('a', 3)])];
  const before = turns;
  await expect.poll(() => turns - before).toBeGreaterThan(5);
  tool.exec('ROLLBACK');
  expect((await Promise.all(patient)).flat()).toMatchObject([{ ok: true }, { ok: true }]);
  clearInterval(ticking);
  expect((await store.frames('a', 0)).map((frame) => frame.seq)).toEqual([1, 2, 3]);
});

const MOUNT = '/bin/mount';
const UNMOUNT = '/bin/umount';
const canMount = isRoot && mounts();

function mounts(): boolean {
  const folder = '/tmp/nebula-mount-probe';
  try {
    mkdirSync(folder, { recursive: true });
    execFileSync(MOUNT, ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync(UNMOUNT, [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const commitsIn of ['main', 'thread'] as const) {
  // Only root may mount the small disk that gets full.
  test.skipIf(!canMount)(
    `a full disk loses nothing, and work continues when there is space (${commitsIn})`,
    async () => {
      const { open, folder, path } = await tempStore();
      mkdirSync(folder, { recursive: true });
      execFileSync(MOUNT, ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder]);
      const store = await open({ commitsIn });
      onTestFinished(async () => {
        await store.close();
        execFileSync(UNMOUNT, [folder]);
      });
      await writeFile(join(folder, 'filler'), Buffer.alloc(3_000_000));
      await store.append([creating('a')]);
      let seq = 1;
      let refused: NebulaError | undefined;
      while (refused === undefined && seq < 10_000) {
        try {
          expect(await store.append([framed('a', seq + 1, 'x'.repeat(20_000))])).toMatchObject([{ ok: true }]);
          seq++;
        } catch (error) {
          refused = error as NebulaError;
        }
      }
      expect(refused).toMatchObject({ code: 'DISK_FULL', retryable: true });
      expect(refused?.message).toContain(path);
      expect((await store.frames('a', 0)).at(-1)?.seq).toBe(seq);
      await expect(store.append([framed('a', seq + 1, 'x'.repeat(20_000))])).rejects.toMatchObject({
        code: 'DISK_FULL',
      });
      rmSync(join(folder, 'filler'));
      expect(await store.append([framed('a', seq + 1, 'x'.repeat(20_000))])).toMatchObject([{ ok: true }]);
      expect((await store.frames('a', 0)).map((frame) => frame.seq)).toHaveLength(seq + 1);
    },
  );
}

const KILLED_ENGINE = new URL('./child-engine.ts', import.meta.url).pathname;
const AS_NOBODY = new URL('./child-reader.ts', import.meta.url).pathname;

async function asNobody(path: string, mode: 'engine' | 'reader'): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [AS_NOBODY, path, mode], { uid: NOBODY, gid: NOBODY });
  return stdout.trim();
}

// Only root can act as another user.
test.skipIf(!isRoot)('a user who may only read can look, beside an engine and without one', async () => {
  const { open, folder, path } = await tempStore();
  const store = await open();
  await store.append([creating('a'), creating('b')]);
  chmodSync(dirname(folder), 0o755);
  chmodSync(folder, 0o755);
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
  expect(await asNobody(path, 'reader')).toBe('2 executions');
  await store.append([creating('c')]);
  expect(await asNobody(path, 'reader')).toBe('3 executions');
  expect(await asNobody(path, 'engine')).toBe('STORE_LOCKED');
  await store.close();
  expect(readdirSync(folder)).not.toContain('nebula.db-wal');
  expect(await asNobody(path, 'reader')).toBe('3 executions');
  expect(await asNobody(path, 'engine')).toBe('DATA_DIR_UNWRITABLE');
  expect(await asNobody(join(folder, 'new', 'nebula.db'), 'engine')).toBe('DATA_DIR_UNWRITABLE');
});

// Only root can act as another user.
test.skipIf(!isRoot)('a user with read permission sees the finished work of a killed engine', async () => {
  const { folder, path, open } = await tempStore();
  const child = spawn(process.execPath, [KILLED_ENGINE, path, 'idle'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(readdirSync(folder)).toContain('nebula.db-wal');
  chmodSync(dirname(folder), 0o755);
  chmodSync(folder, 0o755);
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
  expect(await asNobody(path, 'reader')).toBe('1 executions');
  const engine = await open();
  expect((await engine.list({ limit: 5 })).rows).toHaveLength(1);
});

for (const [how, spoil] of [
  ['deleted', (folder: string) => rmSync(folder, { recursive: true })],
  ['replaced', (folder: string) => renameSync(join(folder, 'other.db'), join(folder, 'nebula.db'))],
] as const) {
  test(`[STO-43] data that is ${how} under a running engine`, async () => {
    const { open, folder, path } = await tempStore();
    const store = await open();
    await store.append([creating('a')]);
    writeFileSync(join(folder, 'other.db'), '');
    const notified = new Promise<void>((resolve) => store.watch(resolve));
    spoil(folder);
    await notified;
    for (const call of [
      store.append([framed('a', 2)]),
      store.execution('a'),
      store.heartbeat([{ worker: 'w', expiresAt: 1 }]),
    ]) {
      const error = await refusal(call);
      expect(error).toMatchObject({ code: 'STORE_GONE', retryable: false });
      expect(error.message).toContain(path);
    }
    await store.close();
  });
}

test('[STO-43] without a watcher, the lease shows it', async () => {
  const { open, folder } = await tempStore();
  const store = await open();
  await store.heartbeat([{ worker: 'w', expiresAt: 1 }]);
  rmSync(folder, { recursive: true });
  expect(await refusal(store.heartbeat([{ worker: 'w', expiresAt: 2 }]))).toMatchObject({ code: 'STORE_GONE' });
});
