/** `append`: compare-and-set, batches, order, atomicity. */

import { comparePositions, FEED_START, type FrameRow, type Position } from '@nebula/ports';
import { expect } from 'vitest';
import { accepted, changing, creating, framed, portSuite, positions, put, seqs } from './store-subject.ts';

export const appendSuite = portSuite('journal append', (test) => {
  test('[STO-1] appended frames can be read', async ({ store }) => {
    expect(accepted(await store.append([creating('a'), creating('b')]))).toEqual([true, true]);
    const frame = { seq: 1, at: 1_000, entries: '["a began"]' };
    const [{ position }] = (await store.feed({ after: FEED_START, limit: 1 })) as [FrameRow];
    expect(await store.frames('a', 0)).toEqual([{ executionId: 'a', position, ...frame }]);
  });

  test('[STO-1] an empty append is nothing', async ({ store }) => {
    expect(await store.append([])).toEqual([]);
    expect(await store.feed({ after: FEED_START, limit: 10 })).toEqual([]);
  });

  test('[STO-2] the second frame with the same seq is a conflict', async ({ store }) => {
    await put(store, 'a');
    expect(accepted(await store.append([framed('a', 2)]))).toEqual([true]);
    const rival = framed('a', 2, { frame: { seq: 2, at: 9, entries: '["rival"]' } });
    expect(accepted(await store.append([rival]))).toEqual([false]);
    expect((await store.frames('a', 1)).map((frame) => frame.entries)).toEqual(['["2"]']);
  });

  test('[STO-2] a conflict in the middle of a batch fails only its own write', async ({ store }) => {
    await put(store, 'a');
    await put(store, 'b');
    await put(store, 'c');
    await store.append([framed('b', 2)]);
    const batch = [framed('a', 2), framed('b', 2), framed('c', 2), creating('a'), creating('d')];
    expect(accepted(await store.append(batch))).toEqual([true, false, true, false, true]);
    expect(await seqs(store, 'a')).toEqual([1, 2]);
    expect(await seqs(store, 'b')).toEqual([1, 2]);
    expect(await seqs(store, 'c')).toEqual([1, 2]);
    expect(await seqs(store, 'd')).toEqual([1]);
  });

  test('[STO-2] of many rivals for one seq exactly one wins', async ({ store }) => {
    await put(store, 'a');
    const rivals = Array.from({ length: 20 }, (_, rival) =>
      store.append([framed('a', 2, { frame: { seq: 2, at: 1, entries: `["rival ${rival}"]` } })]),
    );
    const outcomes = (await Promise.all(rivals)).flat();
    expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
    const winner = outcomes.findIndex((outcome) => outcome.ok);
    expect((await store.frames('a', 1))[0]?.entries).toBe(`["rival ${winner}"]`);
  });

  test('[STO-3] a seq without its predecessor is a conflict', async ({ store }) => {
    await put(store, 'a');
    for (const seq of [3, 7, 0, -1, 1]) {
      expect([seq, ...accepted(await store.append([framed('a', seq)]))]).toEqual([seq, false]);
    }
    expect(await seqs(store, 'a')).toEqual([1]);
    expect(accepted(await store.append([framed('a', 2)]))).toEqual([true]);
  });

  test('[STO-3] the first frame has seq 1, or nothing is created', async ({ store }) => {
    const late = creating('a', { frame: { seq: 2, at: 1, entries: '[]' } });
    expect(accepted(await store.append([late]))).toEqual([false]);
    expect(await store.execution('a')).toBeUndefined();
    expect(accepted(await store.append([creating('a')]))).toEqual([true]);
  });

  test('[STO-3] an execution may be created without a frame; its first frame is still 1', async ({ store }) => {
    const { frame: _, ...bare } = creating('a');
    expect(accepted(await store.append([bare]))).toEqual([true]);
    expect(await seqs(store, 'a')).toEqual([]);
    expect(accepted(await store.append([framed('a', 2), framed('a', 1), creating('b')]))).toEqual([false, true, true]);
    expect(await seqs(store, 'a')).toEqual([1]);
  });

  test('[STO-4] positions grow from write to write and from batch to batch', async ({ store }) => {
    await store.append([creating('a'), creating('b')]);
    await store.append([framed('b', 2), framed('a', 2)]);
    const [a, b] = [await positions(store, 'a'), await positions(store, 'b')];
    const all = [a[0], b[0], b[1], a[1]] as Position[];
    expect(all).toEqual([...all].sort(comparePositions));
    expect(new Set([FEED_START, ...all]).size).toBe(5);
    expect((await store.feed({ after: FEED_START, limit: 10 })).map((frame) => frame.position)).toEqual(all);
  });

  test('[STO-4] a position is not given again after its execution was deleted', async ({ store, reopen }) => {
    await put(store, 'a');
    await put(store, 'b', { status: 'completed' });
    const [last] = (await positions(store, 'b')) as [Position];
    expect(await store.deleteExecution('b')).toBe(true);
    await put(store, 'c', { status: 'failed' });
    const [next] = (await positions(store, 'c')) as [Position];
    expect(comparePositions(next, last)).toBeGreaterThan(0);
    if (reopen === undefined) return;
    expect(await store.deleteExecution('c')).toBe(true);
    const again = await reopen();
    await put(again, 'd');
    const [afterwards] = (await positions(again, 'd')) as [Position];
    expect(comparePositions(afterwards, next)).toBeGreaterThan(0);
  });

  test('[STO-5] a refused write changes nothing at all', async ({ store }) => {
    await put(store, 'a', { wakeAt: 500, expiresAt: 900 });
    await store.send({ messageId: 'm', executionId: 'a', body: 'cancel' }, 500);
    const before = await store.execution('a');
    const refused = framed('a', 5, { status: 'failed', finishedAt: 7, expiresAt: 8, wakeAt: null, taken: ['m'] });
    expect(accepted(await store.append([refused]))).toEqual([false]);
    expect(await store.execution('a')).toEqual(before);
    expect(await store.inbox('a')).toHaveLength(1);
  });

  test('[STO-5] an accepted write changes everything that it names', async ({ store }) => {
    await put(store, 'a', { wakeAt: 500 });
    await store.send({ messageId: 'm', executionId: 'a', body: 'cancel' }, 400);
    const end = framed('a', 2, { status: 'cancelled', finishedAt: 7, expiresAt: 8, wakeAt: null, taken: ['m'] });
    expect(accepted(await store.append([end]))).toEqual([true]);
    expect(await store.execution('a')).toMatchObject({
      status: 'cancelled',
      finishedAt: 7,
      expiresAt: 8,
      wakeAt: null,
    });
    expect(await store.inbox('a')).toEqual([]);
    expect(await seqs(store, 'a')).toEqual([1, 2]);
  });

  test('[STO-7] the same execution may continue within a batch', async ({ store }) => {
    const batch = [creating('a'), framed('a', 2), framed('b', 2), creating('b'), framed('b', 2), framed('a', 3)];
    expect(accepted(await store.append(batch))).toEqual([true, true, false, true, true, true]);
    expect(await seqs(store, 'a')).toEqual([1, 2, 3]);
    expect(await seqs(store, 'b')).toEqual([1, 2]);
  });

  test('[STO-7] writes that build on a refused one are refused too', async ({ store }) => {
    await put(store, 'a');
    await store.append([framed('a', 2)]);
    const batch = [framed('a', 4), framed('a', 5), framed('a', 3), framed('a', 4)];
    expect(accepted(await store.append(batch))).toEqual([false, false, true, true]);
  });

  test('[STO-7] within a batch the last write to the row wins', async ({ store }) => {
    await store.append([creating('a', { wakeAt: 1 }), framed('a', 2, { wakeAt: 2 }), framed('a', 3, { wakeAt: 3 })]);
    expect((await store.execution('a'))?.wakeAt).toBe(3);
  });

  test('[STO-7] appends that do not wait for each other keep their order', async ({ store }) => {
    await put(store, 'a');
    const calls = Array.from({ length: 300 }, (_, index) => store.append([framed('a', index + 2)]));
    expect((await Promise.all(calls)).flatMap(accepted)).toEqual(Array(300).fill(true));
    expect(await seqs(store, 'a')).toEqual(Array.from({ length: 301 }, (_, index) => index + 1));
  });

  test('[STO-7] a read that follows an append without waiting for it sees a whole frame or none', async ({ store }) => {
    await put(store, 'a');
    const append = store.append([framed('a', 2, { status: 'completed' })]);
    const [frames, row] = await Promise.all([store.frames('a', 0), store.execution('a')]);
    expect([1, 2]).toContain(frames.length);
    expect(['running', 'completed']).toContain(row?.status);
    await append;
    expect(await seqs(store, 'a')).toEqual([1, 2]);
  });

  test('[STO-8] the row of a new execution', async ({ store }) => {
    await store.append([creating('a', { wakeAt: 77 })]);
    expect(await store.execution('a')).toEqual({
      executionId: 'a',
      project: 'default',
      workflowId: 'orders',
      version: 1,
      status: 'running',
      createdAt: 1_000,
      finishedAt: null,
      wakeAt: 77,
      owner: 'worker-1',
      expiresAt: null,
      trigger: null,
      startedAt: null,
      parent: null,
      errorCode: null,
      errorNode: null,
      errorMessage: null,
    });
    const { status: _, ...silent } = creating('b');
    await store.append([silent]);
    expect((await store.execution('b'))?.status).toBe('pending');
    expect(await store.execution('c')).toBeUndefined();
  });

  test('[STO-8] creating the same id again is a conflict, also within a batch', async ({ store }) => {
    const rival = creating('a', { create: { workflowId: 'rival', version: 9, createdAt: 5, owner: null } });
    expect(accepted(await store.append([creating('a'), rival]))).toEqual([true, false]);
    expect(accepted(await store.append([rival]))).toEqual([false]);
    const { frame: _, ...bare } = rival;
    expect(accepted(await store.append([bare]))).toEqual([false]);
    expect((await store.execution('a'))?.workflowId).toBe('orders');
    expect(await seqs(store, 'a')).toEqual([1]);
  });

  test('[STO-8] a write to an unknown execution is a conflict', async ({ store }) => {
    expect(accepted(await store.append([framed('ghost', 1), { executionId: 'ghost', wakeAt: 5 }]))).toEqual([
      false,
      false,
    ]);
    expect(await store.execution('ghost')).toBeUndefined();
    expect(await store.feed({ after: FEED_START, limit: 10 })).toEqual([]);
  });

  test('[STO-9] parts that are left out stay, null clears', async ({ store }) => {
    await put(store, 'a', { wakeAt: 5, status: 'failed', finishedAt: 6, expiresAt: 7 });
    await store.append([framed('a', 2)]);
    expect(await store.execution('a')).toMatchObject({ status: 'failed', wakeAt: 5, finishedAt: 6, expiresAt: 7 });
    await store.append([framed('a', 3, { wakeAt: null })]);
    expect(await store.execution('a')).toMatchObject({ status: 'failed', wakeAt: null, finishedAt: 6, expiresAt: 7 });
    await store.append([framed('a', 4, { wakeAt: 8 }), changing('a', 'paused')]);
    expect(await store.execution('a')).toMatchObject({
      status: 'paused',
      wakeAt: 8,
      finishedAt: null,
      expiresAt: null,
    });
    await store.append([framed('a', 5, { status: 'completed', finishedAt: 9, wakeAt: null })]);
    expect(await store.execution('a')).toMatchObject({ status: 'completed', finishedAt: 9, wakeAt: null });
    expect(await store.execution('a')).toMatchObject({ owner: 'worker-1', workflowId: 'orders' });
  });

  test('[STO-140] a write changes the version of the workflow', async ({ store }) => {
    await put(store, 'a', { wakeAt: 5 });
    await store.append([{ ...framed('a', 2), version: 7 }]);
    expect(await store.execution('a')).toMatchObject({ version: 7, wakeAt: 5, workflowId: 'orders' });
    await store.append([framed('a', 3), { ...framed('a', 9), version: 8 }]);
    expect(await store.execution('a')).toMatchObject({ version: 7 });
  });

  test('[STO-10] a write without a frame changes the row only', async ({ store }) => {
    await put(store, 'a');
    const before = await store.feed({ after: FEED_START, limit: 10 });
    expect(accepted(await store.append([{ executionId: 'a', wakeAt: 42 }, { executionId: 'a' }]))).toEqual([
      true,
      true,
    ]);
    expect((await store.execution('a'))?.wakeAt).toBe(42);
    expect(await store.feed({ after: FEED_START, limit: 10 })).toEqual(before);
    expect(accepted(await store.append([framed('a', 2)]))).toEqual([true]);
  });
});
