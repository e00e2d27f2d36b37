/** Reading: frames, the feed, snapshots, lists, text, deletion. */
import { expect } from 'vitest';
import type { ExecutionFilter, ExecutionStatus, Store, Write } from '../store.ts';
import { accepted, creating, framed, put, type StoreTest, seqs } from './store-subject.ts';

const FIVE_MB = 5 * 1024 * 1024;

const HOSTILE_TEXTS = [
  '',
  '\u0000',
  'a\u0000b\u0000',
  "'; DROP TABLE frames; --",
  '😀 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \u{10ffff}',
  'e\u0301 is not \u00e9',
  '\u202etxt.exe\u2028\u2029\ufeff',
  JSON.stringify(['\ud800', '\udfff', 'x\ud83d', '\ud83d\ude00', '\u0000', '\\', '"']),
  '%_*?[]{}',
];

export function readTests(test: StoreTest): void {
  test('[STO-11] frames above a seq, in order', async ({ store }) => {
    await put(store, 'a');
    await store.append([framed('a', 2), creating('b'), framed('a', 3)]);
    expect(await seqs(store, 'a')).toEqual([1, 2, 3]);
    expect(await seqs(store, 'a', 1)).toEqual([2, 3]);
    expect(await seqs(store, 'a', 3)).toEqual([]);
    expect(await seqs(store, 'a', 99)).toEqual([]);
    expect(await seqs(store, 'ghost')).toEqual([]);
  });

  test('[STO-41] of many executions, those that exist', async ({ store }) => {
    await put(store, 'a');
    await put(store, 'b"\'😀');
    await put(store, 'done', { status: 'completed' });
    await store.deleteExecution('done');
    const known = await store.known(['b"\'😀', 'ghost', 'a', 'a', 'done', '']);
    expect([...known].sort()).toEqual(['a', 'b"\'😀']);
    expect(await store.known([])).toEqual(new Set());
    const ghosts = Array.from({ length: 20_000 }, (_, n) => `ghost ${n}`);
    expect(await store.known([...ghosts, 'a'])).toEqual(new Set(['a']));
  });

  test('[STO-12] the feed has every frame once, page by page', async ({ store }) => {
    for (let run = 0; run < 5; run++) await put(store, `run-${run}`);
    for (let seq = 2; seq <= 9; seq++) {
      await store.append(Array.from({ length: 5 }, (_, run) => framed(`run-${run}`, seq)));
    }
    const seen = await readFeed(store, 7);
    expect(seen).toHaveLength(45);
    expect(new Set(seen).size).toBe(45);
    expect(await store.feed(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
  });

  test('[STO-12] a follower misses nothing while others write', async ({ store }) => {
    const runs = 8;
    const frames = 40;
    let writing = true;
    const writers = Array.from({ length: runs }, async (_, run) => {
      await put(store, `run-${run}`);
      for (let seq = 2; seq <= frames; seq++) {
        await store.append([framed(`run-${run}`, seq)]);
        if (seq % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const follower = (async () => {
      const seen: string[] = [];
      let last = 0;
      for (;;) {
        const over = !writing;
        const page = await store.feed(last, 3);
        for (const frame of page) seen.push(`${frame.executionId}:${frame.seq}`);
        last = page.at(-1)?.position ?? last;
        if (page.length === 0 && over) return seen;
        if (page.length === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    await Promise.all(writers);
    writing = false;
    const seen = await follower;
    expect(seen).toHaveLength(runs * frames);
    expect(new Set(seen).size).toBe(runs * frames);
  });

  test('[STO-64] the last position is that of the newest frame', async ({ store }) => {
    expect(await store.lastPosition()).toBe(0);
    await put(store, 'a');
    await store.append([framed('a', 2)]);
    expect(await store.lastPosition()).toBe((await store.feed(0, 10)).at(-1)?.position);
  });

  test('[STO-13] hostile text comes back as it was', async ({ store, reopen }) => {
    await put(store, 'a');
    for (const [index, text] of HOSTILE_TEXTS.entries()) {
      await store.append([{ executionId: 'a', frame: { seq: index + 2, at: 1, entries: text } }]);
      await store.send({ messageId: `m${index}${text}`, executionId: 'a', body: text }, 5);
      await store.saveSnapshot('a', { seq: index + 2, state: text });
      expect((await store.snapshot('a'))?.state).toBe(text);
    }
    const again = reopen === undefined ? store : await reopen();
    expect((await again.frames('a', 1)).map((frame) => frame.entries)).toEqual(HOSTILE_TEXTS);
    expect((await again.inbox('a')).map((message) => message.body)).toEqual(HOSTILE_TEXTS);
    const taken = (await again.inbox('a')).map((message) => message.messageId);
    await again.append([{ executionId: 'a', taken }]);
    expect(await again.inbox('a')).toEqual([]);
  });

  test('[STO-13] ids are compared by their exact characters', async ({ store }) => {
    const ids = [
      'a',
      'A',
      'a ',
      'a\u0000',
      '\u00e9',
      'e\u0301',
      '😀',
      '%',
      '../a',
      '__proto__',
      'constructor',
      '1',
      '01',
    ];
    for (const id of ids) await put(store, id, { frame: { seq: 1, at: 1, entries: `of ${id}` } });
    for (const id of ids) {
      expect((await store.frames(id, 0)).map((frame) => frame.entries)).toEqual([`of ${id}`]);
      expect((await store.execution(id))?.executionId).toBe(id);
    }
  });

  test('[STO-14] five megabytes are no problem', async ({ store, reopen }) => {
    const big = 'ä'.repeat(FIVE_MB / 2);
    const batch = [creating('small'), creating('a', { frame: { seq: 1, at: 1, entries: big } }), framed('a', 2)];
    expect(accepted(await store.append(batch))).toEqual([true, true, true]);
    await store.saveSnapshot('a', { seq: 1, state: big });
    expect(await store.send({ messageId: 'm', executionId: 'a', body: big }, 1)).toBe(true);
    const again = reopen === undefined ? store : await reopen();
    expect((await again.frames('a', 0))[0]?.entries === big).toBe(true);
    expect((await again.snapshot('a'))?.state === big).toBe(true);
    expect((await again.inbox('a'))[0]?.body === big).toBe(true);
    expect((await again.feed(0, 10)).map((frame) => frame.entries.length)).toEqual([15, big.length, 5]);
  });

  test('[STO-15] the snapshot with the highest seq stays', async ({ store }) => {
    await put(store, 'a');
    expect(await store.snapshot('a')).toBeUndefined();
    await store.saveSnapshot('a', { seq: 5, state: 'five' });
    await store.saveSnapshot('a', { seq: 3, state: 'three' });
    expect(await store.snapshot('a')).toEqual({ seq: 5, state: 'five' });
    await store.saveSnapshot('a', { seq: 9, state: 'nine' });
    expect(await store.snapshot('a')).toEqual({ seq: 9, state: 'nine' });
  });

  test('[STO-15] a snapshot of an unknown execution is not kept', async ({ store }) => {
    await store.saveSnapshot('ghost', { seq: 1, state: 'boo' });
    expect(await store.snapshot('ghost')).toBeUndefined();
    await put(store, 'ghost');
    expect(await store.snapshot('ghost')).toBeUndefined();
  });

  test('[STO-16] the newest first, also of one millisecond', async ({ store }) => {
    for (const id of ['m', 'z', 'a']) await put(store, id);
    expect(await pages(store, { limit: 10 })).toEqual(['a', 'z', 'm']);
    expect(await pages(store, { limit: 1 })).toEqual(['a', 'z', 'm']);
    expect(await store.list({ limit: 3 })).toMatchObject({ next: null });
    expect((await store.list({ limit: 2 })).rows).toHaveLength(2);
    expect((await store.list({ limit: Number.POSITIVE_INFINITY })).rows).toHaveLength(3);
    expect((await store.feed(0, Number.POSITIVE_INFINITY)).length).toBe(3);
  });

  test('[STO-16] filters by status and workflow', async ({ store }) => {
    const statuses: ExecutionStatus[] = [
      'completed',
      'failed',
      'running',
      'paused',
      'cancelled',
      'timed-out',
      'pending',
    ];
    for (const [index, status] of statuses.entries()) {
      const workflowId = index % 2 === 0 ? 'even' : 'odd';
      const create = { workflowId, version: 1, createdAt: 1, owner: null };
      await put(store, `${workflowId}-${status}`, { status, create });
    }
    expect(await pages(store, { status: ['failed'], limit: 10 })).toEqual(['odd-failed']);
    expect(await pages(store, { status: ['completed', 'running'], limit: 1 })).toEqual([
      'even-running',
      'even-completed',
    ]);
    expect(await pages(store, { status: ['paused', 'failed', 'pending'], limit: 1 })).toEqual([
      'even-pending',
      'odd-paused',
      'odd-failed',
    ]);
    expect(await pages(store, { workflowId: 'odd', limit: 2 })).toEqual(['odd-timed-out', 'odd-paused', 'odd-failed']);
    expect(await pages(store, { workflowId: 'odd', status: ['failed', 'completed'], limit: 2 })).toEqual([
      'odd-failed',
    ]);
    expect(await pages(store, { workflowId: 'none', limit: 2 })).toEqual([]);
    expect(await pages(store, { status: [], limit: 2 })).toEqual([]);
    await store.append([framed('odd-failed', 2, { status: 'completed' })]);
    expect(await pages(store, { status: ['failed'], limit: 10 })).toEqual([]);
  });

  test('[STO-16] a cursor that no page gave is refused', async ({ store }) => {
    await put(store, 'a');
    for (const cursor of ['nonsense', "1' OR 1=1", 'NaN', '', '7', 'at_zzzzzzzzzzz_1', 'at_1_1 ']) {
      await expect(store.list({ cursor, limit: 5 })).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
    }
    const create = { workflowId: 'orders', version: 1, owner: null };
    await put(store, 'before', { create: { ...create, createdAt: -5 } });
    await put(store, 'later', { create: { ...create, createdAt: 5_000 } });
    expect(await pages(store, { limit: 1 })).toEqual(['later', 'a', 'before']);
  });

  test('[STO-17] pages stay stable while executions are added, changed and deleted', async ({ store }) => {
    for (let run = 0; run < 30; run++) await put(store, `old-${run}`, { status: 'completed' });
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; ; page++) {
      const { rows, next } = await store.list({ limit: 4, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...rows.map((row) => row.executionId));
      await put(store, `new-${page}`);
      await store.append([framed(`old-${29 - page}`, 2, { status: 'failed' })]);
      if (page === 1) await store.deleteExecution('old-0');
      if (page === 2) await store.deleteExecution(seen.at(-1) as string);
      if (next === null) break;
      cursor = next;
    }
    expect(seen).toEqual(Array.from({ length: 29 }, (_, index) => `old-${29 - index}`));
  });

  test('[STO-18] deleting a finished execution removes everything of it', async ({ store, reopen }) => {
    await put(store, 'a');
    await put(store, 'b');
    await store.append([framed('a', 2, { status: 'completed', wakeAt: 9, expiresAt: 9 }), framed('b', 2)]);
    await store.saveSnapshot('a', { seq: 2, state: 'old' });
    await store.send({ messageId: 'm', executionId: 'a', body: 'old' }, 5);
    expect(await store.deleteExecution('a')).toBe(true);
    const again = reopen === undefined ? store : await reopen();
    for (const look of [store, again].slice(reopen === undefined ? 0 : 1)) {
      expect(await look.execution('a')).toBeUndefined();
      expect(await look.frames('a', 0)).toEqual([]);
      expect(await look.snapshot('a')).toBeUndefined();
      expect(await look.inbox('a')).toEqual([]);
      expect(await pages(look, { limit: 5 })).toEqual(['b']);
      expect(await look.expired(100, 10)).toEqual([]);
      expect((await look.claimDue(100, 200, 'w', 10)).executionIds).toEqual([]);
      expect((await look.feed(0, 10)).map((frame) => frame.executionId)).toEqual(['b', 'b']);
      expect(await look.deleteExecution('a')).toBe(false);
    }
  });

  test('[STO-18] the id of a deleted execution is free, and its old frames are gone', async ({ store }) => {
    await put(store, 'a', { status: 'failed' });
    await store.append([framed('a', 2)]);
    await store.saveSnapshot('a', { seq: 2, state: 'old' });
    await store.send({ messageId: 'm', executionId: 'a', body: 'old' }, 5);
    expect(await store.deleteExecution('a')).toBe(true);
    expect(accepted(await store.append([framed('a', 3), framed('a', 1)]))).toEqual([false, false]);
    expect(accepted(await store.append([creating('a'), framed('a', 2)]))).toEqual([true, true]);
    expect(await seqs(store, 'a')).toEqual([1, 2]);
    expect(await store.snapshot('a')).toBeUndefined();
    expect(await store.inbox('a')).toEqual([]);
    expect((await store.execution('a'))?.wakeAt).toBe(null);
  });

  test('[STO-18] a run of many frames is deleted like a small one', async ({ store, reopen }) => {
    await put(store, 'long');
    const batch = Array.from({ length: 6_000 }, (_, index) => framed('long', index + 2));
    await store.append([...batch, framed('long', 6_002, { status: 'completed' }), creating('other')]);
    expect(await store.deleteExecution('long')).toBe(true);
    expect((await store.feed(0, 10)).map((frame) => frame.executionId)).toEqual(['other']);
    await put(store, 'long');
    expect(await seqs(store, 'long')).toEqual([1]);
    await reclaim(store);
    const again = reopen === undefined ? store : await reopen();
    await reclaim(again);
    expect((await again.feed(0, 10)).map((frame) => frame.executionId)).toEqual(['other', 'long']);
  });

  test('[STO-18] an unknown or unfinished execution is not deleted', async ({ store }) => {
    expect(await store.deleteExecution('ghost')).toBe(false);
    for (const status of ['pending', 'running', 'paused', 'compensating'] as const) {
      await put(store, status, { status });
      expect(await store.deleteExecution(status)).toBe(false);
      expect(await seqs(store, status)).toEqual([1]);
    }
  });

  test('[STO-19] expired executions, oldest first', async ({ store }) => {
    const rows: [string, Partial<Write>][] = [
      ['late', { status: 'completed', expiresAt: 30 }],
      ['early', { status: 'failed', expiresAt: 10 }],
      ['middle', { status: 'timed-out', expiresAt: 20 }],
      ['future', { status: 'cancelled', expiresAt: 31 }],
      ['kept', { status: 'completed' }],
      ['unfinished', { status: 'running', expiresAt: 1 }],
    ];
    for (const [id, more] of rows) await put(store, id, more);
    expect(await store.expired(30, 10)).toEqual(['early', 'middle', 'late']);
    expect(await store.expired(30, 2)).toEqual(['early', 'middle']);
    expect(await store.expired(5, 10)).toEqual([]);
  });

  test('[STO-20] reclaiming space ends and loses nothing', async ({ store }) => {
    for (let run = 0; run < 60; run++) {
      const entries = 'x'.repeat(20_000);
      await put(store, `run-${run}`, { status: 'completed', frame: { seq: 1, at: 1, entries } });
    }
    for (let run = 0; run < 60; run++) if (run % 10 !== 0) await store.deleteExecution(`run-${run}`);
    await reclaim(store);
    expect(await store.reclaimSpace()).toBe(false);
    const left = await store.feed(0, 100);
    expect(left.map((frame) => frame.executionId)).toEqual(['run-0', 'run-10', 'run-20', 'run-30', 'run-40', 'run-50']);
    expect(left.every((frame) => frame.entries.length === 20_000)).toBe(true);
  });

  test('[STO-32] rows that were given do not change afterwards', async ({ store }) => {
    await put(store, 'a');
    await store.send({ messageId: 'm', executionId: 'a', body: 'x' }, 5);
    const row = await store.execution('a');
    const frames = await store.frames('a', 0);
    const inbox = await store.inbox('a');
    const copies = structuredClone([row, frames, inbox]);
    await store.append([framed('a', 2, { status: 'failed', wakeAt: 99, taken: ['m'] })]);
    await store.send({ messageId: 'n', executionId: 'a', body: 'y' }, 1);
    expect([row, frames, inbox]).toEqual(copies);
  });
}

async function readFeed(store: Store, limit: number): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let last = 0; ; ) {
    const page = await store.feed(last, limit);
    if (page.length === 0) return seen;
    expect(page.length).toBeLessThanOrEqual(limit);
    seen.push(...page.map((frame) => `${frame.executionId}:${frame.seq}`));
    last = page.at(-1)?.position as number;
  }
}

async function pages(store: Store, filter: ExecutionFilter): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { rows, next } = await store.list({ ...filter, ...(cursor === undefined ? {} : { cursor }) });
    seen.push(...rows.map((row) => row.executionId));
    if (next === null) return seen;
    cursor = next;
  }
}

async function reclaim(store: Store): Promise<void> {
  for (let piece = 0; await store.reclaimSpace(); piece++) expect(piece).toBeLessThan(10_000);
}
