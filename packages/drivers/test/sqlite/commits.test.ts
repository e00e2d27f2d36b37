/** Where commits run, how they share transactions, and how the log is kept short. */
import { existsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { virtualClock } from '../../src/memory/index.ts';
import { Pace } from '../../src/sqlite/pace.ts';
import { SideThread } from '../../src/sqlite/side-thread.ts';
import { creating, framed, tempStore, turn } from './opened.ts';

const COMMIT_THREAD = new URL('../../src/sqlite/commit-thread.ts', import.meta.url);

test('commits move to a thread when their median is slow, and back when it is quick again', () => {
  const pace = new Pace(1);
  const threadAfter = (commitMs: number, count: number) =>
    Array.from({ length: count }, () => pace.note(commitMs)).at(-1);
  expect(threadAfter(0.1, 200)).toBe('main');
  expect(threadAfter(50, 31)).toBe('main');
  expect(threadAfter(0.1, 33 + 64)).toBe('main');
  expect(threadAfter(3, 128)).toBe('thread');
  expect(threadAfter(0.7, 128)).toBe('thread');
  expect(threadAfter(0.3, 128)).toBe('main');
});

test('a store with slow commits moves them while it works, without losing or reordering any', async () => {
  const { open } = await tempStore();
  const store = await open({ slowCommitMs: 0 });
  await store.append([creating('a')]);
  expect(store.commitsIn).toBe('main');
  const appends = Array.from({ length: 300 }, (_, index) => store.append([framed('a', index + 2)]));
  expect((await Promise.all(appends)).flat().every((outcome) => outcome.ok)).toBe(true);
  let seq = 301;
  await vi.waitFor(async () => {
    await store.append([framed('a', ++seq)]);
    expect(store.commitsIn).toBe('thread');
  }, 30_000);
  expect(await store.send({ messageId: 'm', executionId: 'a', body: '' }, 5)).toBe(true);
  expect((await store.frames('a', 0)).map((frame) => frame.seq)).toEqual(Array.from({ length: seq }, (_, i) => i + 1));
});

test('[STO-91] no write waits for a thread that starts: not for that of slow commits', async () => {
  const { open } = await tempStore();
  const letOpen = await holdOpening();
  const store = await open({ slowCommitMs: 0 });
  await store.append([creating('a')]);
  for (let seq = 2; seq <= 200; seq++) expect(await store.append([framed('a', seq)])).toMatchObject([{ ok: true }]);
  expect(store.commitsIn).toBe('main');
  expect(letOpen()).toBeGreaterThan(0);
});

test('[STO-91] no write waits for a thread that starts: not for that of checkpoints', async () => {
  const { open } = await tempStore();
  const letOpen = await holdOpening();
  const clock = virtualClock(1_790_000_000_000);
  const store = await open({ clock, commitsIn: 'main' });
  await store.append([creating('a')]);
  for (let seq = 2; seq < 150; seq++) await store.append([framed('a', seq, 'x'.repeat(20_000))]);
  await clock.advance(5_000);
  await clock.advance(5_000);
  expect(await store.append([framed('a', 150)])).toMatchObject([{ ok: true }]);
  expect(letOpen()).toBeGreaterThan(0);
});

/** Holds back all calls of threads from their `open` on. The returned function makes them, and gives their number. */
async function holdOpening(): Promise<() => number> {
  const { Worker } = await import('node:worker_threads');
  const held: (() => void)[] = [];
  const post = Worker.prototype.postMessage;
  const posting = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (
    this: typeof Worker.prototype,
    call: unknown,
  ) {
    const now = (): void => post.call(this, call);
    if (held.length > 0 || (call as { readonly method: string }).method === 'open') held.push(now);
    else now();
  });
  return () => {
    posting.mockRestore();
    const { length } = held;
    for (const now of held.splice(0)) now();
    return length;
  };
}

test('appends that wait for the thread share a transaction', async () => {
  const { open, path } = await tempStore();
  const store = await open({ commitsIn: 'thread' });
  await store.append([creating('a')]);
  const watcher = new Database(path, { readonly: true });
  onTestFinished(() => void watcher.close());
  const log = () => (watcher.prepare('PRAGMA wal_checkpoint(NOOP)').get() as { log: number }).log;
  const before = log();
  await Promise.all(Array.from({ length: 400 }, (_, index) => store.append([framed('a', index + 2)])));
  // One by one, 400 commits would be at least 800 pages.
  expect(log() - before).toBeLessThan(100);
});

test.each(['main', 'thread'] as const)(
  '[STO-80] a log line that the database refuses is set aside by a note, and frames are written (%s)',
  async (commitsIn) => {
    const { open, path } = await tempStore();
    const store = await open({ commitsIn });
    await store.append([creating('a')]);
    const beside = new Database(path);
    onTestFinished(() => void beside.close());
    beside.exec(`CREATE TRIGGER poison BEFORE INSERT ON logs WHEN new.message = 'poison'
                 BEGIN SELECT RAISE(ABORT, 'never'); END`);
    const say = (message: string) =>
      store.logs.append({ executionId: 'a', node: null, attempt: null, at: 1, level: 'info', message });
    for (const message of ['before', 'poison', 'after']) say(message);
    expect(await store.append([framed('a', 2)])).toMatchObject([{ ok: true }]);
    await store.logs.flush();
    const lines = await store.logs.read({ executionId: 'a', limit: 10 });
    expect(lines.map(({ message }) => message)).toEqual(['before', expect.stringContaining('set aside'), 'after']);
  },
);

test('a lost thread rejects its calls, and writing continues without it', async () => {
  const { path, open } = await tempStore();
  const options = {
    path: `${path}/nowhere/nebula.db`,
    durability: 'strict',
    readonly: false,
    fileMustExist: true,
    lockWaitMs: 0,
  } as const;
  const thread = new SideThread(COMMIT_THREAD, options);
  await expect(thread.call('heartbeat', ['w', 1])).rejects.toThrow(/side thread was lost/);
  expect(thread.isLost).toBe(true);
  await expect(thread.call('heartbeat', ['w', 1])).rejects.toThrow(/side thread was lost/);
  await thread.close();
  const store = await open({ commitsIn: 'thread' });
  await store.append([creating('a')]);
  const terminate = vi.spyOn((await import('node:worker_threads')).Worker.prototype, 'postMessage');
  terminate.mockImplementation(function (this: { terminate(): Promise<number> }) {
    void this.terminate();
  } as never);
  await expect(store.append([framed('a', 2)])).rejects.toMatchObject({ code: 'STORE_FAILED', retryable: true });
  terminate.mockRestore();
  expect(await store.append([framed('a', 2)])).toMatchObject([{ ok: true }]);
  expect(store.commitsIn).toBe('main');
});

test('the log stays short under load, with readers open all the time', { timeout: 60_000 }, async () => {
  const { open, path } = await tempStore();
  const walLimitBytes = 512 * 1024;
  const store = await open({ walLimitBytes });
  const reader = await open({ engine: false, readonly: true });
  await store.append([creating('a')]);
  let longest = 0;
  for (let seq = 2; seq < 1_500; seq++) {
    await store.append([framed('a', seq, 'x'.repeat(20_000))]);
    if (seq % 50 === 0) await reader.frames('a', seq - 5);
    await turn();
    longest = Math.max(longest, statSync(`${path}-wal`).size);
  }
  expect(longest).toBeLessThan(walLimitBytes * 12);
  expect(statSync(path).size).toBeGreaterThan(20_000_000);
  expect((await reader.frames('a', 0)).length).toBe(1_499);
});

test('the log stays short when the caller never lets the event loop turn', { timeout: 60_000 }, async () => {
  const { open, path } = await tempStore();
  const walLimitBytes = 512 * 1024;
  const store = await open({ walLimitBytes });
  await store.append([creating('a')]);
  let longest = 0;
  for (let seq = 2; seq < 1_500; seq++) {
    await store.append([framed('a', seq, 'x'.repeat(20_000))]);
    if (seq % 20 === 0) longest = Math.max(longest, statSync(`${path}-wal`).size);
  }
  expect(longest).toBeLessThan(walLimitBytes * 12);
});

test('a reader in the middle of a transaction holds up the log, not the engine', { timeout: 60_000 }, async () => {
  const { open, path } = await tempStore();
  const store = await open({ walLimitBytes: 128 * 1024 });
  await store.append([creating('a')]);
  const tool = new Database(path, { readonly: true });
  onTestFinished(() => void tool.close());
  tool.exec('BEGIN');
  expect(tool.prepare('SELECT count(*) AS n FROM frames').get()).toEqual({ n: 1 });
  for (let seq = 2; seq < 200; seq++) {
    await store.append([framed('a', seq, 'x'.repeat(20_000))]);
    await turn();
  }
  expect(tool.prepare('SELECT count(*) AS n FROM frames').get()).toEqual({ n: 1 });
  const stretched = statSync(`${path}-wal`).size;
  expect(stretched).toBeGreaterThan(3_000_000);
  tool.exec('COMMIT');
  for (let seq = 200; seq < 600; seq++) {
    await store.append([framed('a', seq, 'x'.repeat(20_000))]);
    await turn();
  }
  expect(statSync(`${path}-wal`).size).toBeLessThan(stretched * 2);
});

test('an idle engine empties its log', async () => {
  const { open, path } = await tempStore();
  const clock = virtualClock(1_790_000_000_000);
  const store = await open({ clock, walLimitBytes: 8 * 1024 * 1024 });
  await store.append([creating('a')]);
  for (let seq = 2; seq < 150; seq++) await store.append([framed('a', seq, 'x'.repeat(20_000))]);
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(2_000_000);
  await clock.advance(5_000);
  await clock.advance(5_000);
  await vi.waitFor(() => expect(statSync(`${path}-wal`).size).toBe(0), { timeout: 5_000 });
  expect(await store.append([framed('a', 150)])).toMatchObject([{ ok: true }]);
});

test('a closed store leaves one database file and no log', async () => {
  const { open, path } = await tempStore();
  const store = await open();
  await store.append([creating('a')]);
  await store.close();
  expect(existsSync(`${path}-wal`)).toBe(false);
  expect(existsSync(path)).toBe(true);
});

test('a closed store leaves its thread to the next one of the process', async () => {
  const { open } = await tempStore();
  const posted = vi.spyOn((await import('node:worker_threads')).Worker.prototype, 'postMessage');
  for (let i = 0; i < 5; i++) {
    const store = await open({ commitsIn: 'thread' });
    await store.append([creating(`run-${i}`)]);
    await store.close();
  }
  expect(posted.mock.calls.length).toBeGreaterThanOrEqual(15);
  expect(new Set(posted.mock.contexts).size).toBe(1);
  posted.mockRestore();
});

test('threads that no store needs end by themselves, and are never terminated', async () => {
  const { Worker } = await import('node:worker_threads');
  const terminated = vi.spyOn(Worker.prototype, 'terminate');
  const posted = vi.spyOn(Worker.prototype, 'postMessage');
  const stores = await Promise.all(
    Array.from({ length: 5 }, async () => (await tempStore()).open({ commitsIn: 'thread', walLimitBytes: 4_096 })),
  );
  for (const [at, store] of stores.entries()) await store.append([creating(`run-${at}`)]);
  await Promise.all(stores.map((store) => store.close()));
  const methods = posted.mock.calls.map(([call]) => (call as { readonly method: string }).method);
  expect(methods.filter((method) => method === 'end').length).toBeGreaterThanOrEqual(3);
  const ended = new Set((posted.mock.contexts as { readonly threadId: number }[]).filter((one) => one.threadId === -1));
  expect(ended.size).toBeGreaterThanOrEqual(3);
  expect(terminated).not.toHaveBeenCalled();
  terminated.mockRestore();
  posted.mockRestore();
});

test('[STO-121] an append that fails in the middle has changed nothing', async () => {
  const { open, path } = await tempStore();
  const store = await open({ commitsIn: 'main' });
  await store.append([creating('a')]);
  const beside = new Database(path);
  onTestFinished(() => void beside.close());
  beside.exec(`CREATE TRIGGER poison BEFORE INSERT ON frames WHEN new.entries = 'poison'
               BEGIN SELECT RAISE(ABORT, 'never'); END`);
  store.logs.append({ executionId: 'a', node: null, attempt: null, at: 1, level: 'info', message: 'before' });
  const poisoned = creating('c', { frame: { seq: 1, at: 1, entries: 'poison' } });
  await expect(store.append([creating('b'), framed('a', 2), poisoned])).rejects.toMatchObject({ code: 'STORE_FAILED' });
  expect(await store.known(['a', 'b', 'c'])).toEqual(new Set(['a']));
  expect(await store.append([creating('b'), framed('a', 2)])).toMatchObject([{ ok: true }, { ok: true }]);
  await store.logs.flush();
  expect(await store.logs.read({ executionId: 'a', limit: 10 })).toMatchObject([{ message: 'before' }]);
  expect((await store.frames('a', 0)).map(({ seq }) => seq)).toEqual([1, 2]);
});

test.each([
  ['strict', 'FULL', 2],
  ['relaxed', 'NORMAL', 1],
] as const)('[STO-120] a connection that is %s syncs as SQLite does with %s', async (durability, _, level) => {
  const { open, path } = await tempStore();
  const opened = vi.spyOn(Database.prototype, 'pragma');
  onTestFinished(() => opened.mockRestore());
  await open(durability === 'strict' ? {} : { durability });
  const connections = new Set((opened.mock.contexts as Database.Database[]).filter(({ name }) => name === path));
  const levels = Array.from(connections, (connection) => connection.pragma('synchronous', { simple: true }));
  expect(levels.length).toBeGreaterThan(0);
  expect(new Set(levels)).toEqual(new Set([level]));
});
