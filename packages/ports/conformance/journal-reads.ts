/** Reads of the journal: load, frames, heads, feed, snapshots. */

import { comparePositions, FEED_START, type LoadRange, type Position, type Store } from '@nebula/ports';
import { expect } from 'vitest';
import { accepted, creating, framed, portSuite, put, seqs } from './store-subject.ts';

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

export const journalReadSuite = portSuite('journal reads', (test) => {
  test('[STO-67] an execution is loaded with its journal and its inbox', async ({ store }) => {
    await put(store, 'a', { wakeAt: 5 });
    await put(store, 'b');
    await store.append([framed('a', 2), framed('b', 2), framed('a', 3)]);
    const message = { messageId: 'm', executionId: 'a', body: 'x' };
    await store.send(message, 3);
    const frames = (await store.frames('a', 0)).map(({ seq, at, entries }) => ({ seq, at, entries }));
    const row = await store.execution('a');
    expect(row).toMatchObject({ wakeAt: 3 });
    expect(await store.load('a')).toEqual({ row, snapshot: undefined, frames, inbox: [message] });
    expect((await store.load('b'))?.inbox).toEqual([]);
    expect(await store.load('ghost')).toBeUndefined();
  });

  test('[STO-67] loading begins at the newest snapshot, or at the given position', async ({ store }) => {
    await put(store, 'a');
    await store.append(Array.from({ length: 7 }, (_, index) => framed('a', index + 2)));
    await store.saveSnapshot('a', { seq: 5, state: 'five' });
    const read = async (range?: LoadRange) => {
      const loaded = await store.load('a', range);
      return [loaded?.snapshot?.state, loaded?.frames.map(({ seq }) => seq)];
    };
    expect(await read()).toEqual(['five', [5, 6, 7, 8]]);
    expect(await read({ upTo: 6 })).toEqual(['five', [5, 6]]);
    expect(await read({ upTo: 5 })).toEqual(['five', [5]]);
    expect(await read({ upTo: 4 })).toEqual([undefined, [1, 2, 3, 4]]);
    expect(await read({ upTo: Number.POSITIVE_INFINITY })).toEqual(['five', [5, 6, 7, 8]]);
    expect(await read({ after: 0 })).toEqual([undefined, [1, 2, 3, 4, 5, 6, 7, 8]]);
    expect(await read({ after: 6 })).toEqual([undefined, [7, 8]]);
    expect(await read({ after: 2, upTo: 4 })).toEqual([undefined, [3, 4]]);
    expect(await read({ after: 8 })).toEqual([undefined, []]);
  });

  test('[STO-67] a load is consistent while others write', async ({ store }) => {
    await put(store, 'a', { wakeAt: 1 });
    const appends: Promise<unknown>[] = [];
    for (let seq = 2; seq < 200; seq++) {
      appends.push(store.append([framed('a', seq, { wakeAt: seq })]));
      const loaded = await store.load('a');
      expect(loaded?.row.wakeAt).toBe(loaded?.frames.length);
    }
    await Promise.all(appends);
  });

  test('[STO-68] the newest seqs of many executions', async ({ store }) => {
    await put(store, 'a');
    await put(store, 'b"\'😀');
    const { frame: _, ...bare } = creating('bare');
    await store.append([framed('a', 2), framed('a', 3), bare]);
    const heads = await store.heads(['a', 'ghost', 'b"\'😀', 'bare', 'a']);
    expect([...heads].sort()).toEqual([
      ['a', 3],
      ['b"\'😀', 1],
      ['bare', 0],
    ]);
    expect(await store.heads([])).toEqual(new Map());
  });

  test('[STO-11] frames above a seq, in order', async ({ store }) => {
    await put(store, 'a');
    await store.append([framed('a', 2), creating('b'), framed('a', 3)]);
    expect(await seqs(store, 'a')).toEqual([1, 2, 3]);
    expect(await seqs(store, 'a', 1)).toEqual([2, 3]);
    expect(await seqs(store, 'a', 3)).toEqual([]);
    expect(await seqs(store, 'a', 99)).toEqual([]);
    expect(await seqs(store, 'ghost')).toEqual([]);
    const some = async (after: number, limit: number) =>
      (await store.frames('a', after, limit)).map((frame) => frame.seq);
    expect([await some(0, 2), await some(2, 2), await some(1, 1), await some(0, 0)]).toEqual([[1, 2], [3], [2], []]);
  });

  test('[STO-12] the feed has every frame once, page by page', async ({ store }) => {
    for (let run = 0; run < 5; run++) await put(store, `run-${run}`);
    for (let seq = 2; seq <= 9; seq++) {
      await store.append(Array.from({ length: 5 }, (_, run) => framed(`run-${run}`, seq)));
    }
    const seen = await readFeed(store, 7);
    expect(seen).toHaveLength(45);
    expect(new Set(seen).size).toBe(45);
    expect(await store.feed({ after: '9'.repeat(18) as Position, limit: 10 })).toEqual([]);
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
      let last = FEED_START;
      for (;;) {
        const over = !writing;
        const page = await store.feed({ after: last, limit: 3 });
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

  test('[STO-12] a page may begin with the frame at its position', async ({ store }) => {
    await put(store, 'a');
    await store.append([framed('a', 2), framed('a', 3)]);
    const all = await store.feed({ after: FEED_START, limit: 10 });
    const after = all[1]?.position as Position;
    expect(await store.feed({ after, inclusive: true, limit: 10 })).toEqual(all.slice(1));
    expect(await store.feed({ after, inclusive: true, limit: 1 })).toEqual(all.slice(1, 2));
    expect(await store.feed({ after, limit: 10 })).toEqual(all.slice(2));
    expect(await store.feed({ after: FEED_START, inclusive: true, limit: 10 })).toEqual(all);
  });

  test('[STO-64] the last position is that of the newest frame', async ({ store }) => {
    expect(await store.lastPosition()).toBe(FEED_START);
    await put(store, 'a');
    await store.append([framed('a', 2)]);
    const last = await store.lastPosition();
    expect((await store.feed({ after: FEED_START, limit: 10 })).at(-1)?.position).toBe(last);
    expect(comparePositions(last, FEED_START)).toBeGreaterThan(0);
    expect(await store.feed({ after: last, limit: 10 })).toEqual([]);
  });

  test('[STO-12] a store beside this one reads the same feed', async ({ store, beside }) => {
    await put(store, 'a');
    if (beside === undefined) return;
    const other = await beside();
    for (let seq = 2; seq < 20; seq++) {
      await store.append([framed('a', seq)]);
      expect(await seqs(other, 'a', seq - 1)).toEqual([seq]);
    }
    expect(await other.feed({ after: FEED_START, limit: 100 })).toEqual(
      await store.feed({ after: FEED_START, limit: 100 }),
    );
    await other.close();
  });

  test('[STO-13] hostile text comes back as it was', async ({ store, reopen }) => {
    await put(store, 'a');
    for (const [index, text] of HOSTILE_TEXTS.entries()) {
      await store.append([{ executionId: 'a', frame: { seq: index + 2, at: 1, entries: text } }]);
      await store.send({ messageId: `m${index}${text}`, executionId: 'a', body: text }, 5);
      await store.saveSnapshot('a', { seq: index + 2, state: text });
      expect((await store.load('a'))?.snapshot?.state).toBe(text);
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
    expect((await again.load('a'))?.snapshot?.state === big).toBe(true);
    expect((await again.inbox('a'))[0]?.body === big).toBe(true);
    expect((await again.feed({ after: FEED_START, limit: 10 })).map((frame) => frame.entries.length)).toEqual([
      15,
      big.length,
      5,
    ]);
  });

  test('[STO-15] the snapshot with the highest seq stays', async ({ store }) => {
    await put(store, 'a');
    expect((await store.load('a'))?.snapshot).toBeUndefined();
    await store.saveSnapshot('a', { seq: 5, state: 'five' });
    await store.saveSnapshot('a', { seq: 3, state: 'three' });
    expect((await store.load('a'))?.snapshot).toEqual({ seq: 5, state: 'five' });
    await store.saveSnapshot('a', { seq: 9, state: 'nine' });
    expect((await store.load('a'))?.snapshot).toEqual({ seq: 9, state: 'nine' });
  });

  test('[STO-15] a snapshot of an unknown execution is not kept', async ({ store }) => {
    await store.saveSnapshot('ghost', { seq: 1, state: 'boo' });
    expect((await store.load('ghost'))?.snapshot).toBeUndefined();
    await put(store, 'ghost');
    expect((await store.load('ghost'))?.snapshot).toBeUndefined();
  });
});

async function readFeed(store: Store, limit: number): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let after = FEED_START; ; ) {
    const page = await store.feed({ after, limit });
    const last = page.at(-1);
    if (last === undefined) return seen;
    expect(page.length).toBeLessThanOrEqual(limit);
    seen.push(...page.map((frame) => `${frame.executionId}:${frame.seq}`));
    after = last.position;
  }
}
