/** Rows of executions: deletion, retention and claims. Lists have a suite of their own. */

import { FEED_START, type Store, type Write } from '@nebula/ports';
import { expect } from 'vitest';
import { accepted, creating, framed, listed, type Parts, portSuite, put, seqs } from './store-subject.ts';

export const executionsSuite = portSuite('executions', (test) => {
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
      expect((await look.load('a'))?.snapshot).toBeUndefined();
      expect(await look.inbox('a')).toEqual([]);
      expect(await listed(look, { limit: 5 })).toEqual(['b']);
      expect(await look.expired(100, 10)).toEqual([]);
      expect((await look.claimDue(100, 200, 'w', 10)).executionIds).toEqual([]);
      expect((await look.feed({ after: FEED_START, limit: 10 })).map((frame) => frame.executionId)).toEqual(['b', 'b']);
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
    expect((await store.load('a'))?.snapshot).toBeUndefined();
    expect(await store.inbox('a')).toEqual([]);
    expect((await store.execution('a'))?.wakeAt).toBe(null);
  });

  test('[STO-18] a run of many frames is deleted like a small one', async ({ store, reopen }) => {
    await put(store, 'long');
    const batch = Array.from({ length: 6_000 }, (_, index) => framed('long', index + 2));
    await store.append([...batch, framed('long', 6_002, { status: 'completed' }), creating('other')]);
    expect(await store.deleteExecution('long')).toBe(true);
    expect((await store.feed({ after: FEED_START, limit: 10 })).map((frame) => frame.executionId)).toEqual(['other']);
    await put(store, 'long');
    expect(await seqs(store, 'long')).toEqual([1]);
    await reclaim(store);
    const again = reopen === undefined ? store : await reopen();
    await reclaim(again);
    expect((await again.feed({ after: FEED_START, limit: 10 })).map((frame) => frame.executionId)).toEqual([
      'other',
      'long',
    ]);
  });

  test('[STO-18] an unknown or unfinished execution is not deleted', async ({ store }) => {
    expect(await store.deleteExecution('ghost')).toBe(false);
    for (const status of ['pending', 'running', 'paused', 'compensating'] as const) {
      await put(store, status, { status });
      expect(await store.deleteExecution(status)).toBe(false);
      expect(await seqs(store, status)).toEqual([1]);
    }
  });

  test('[STO-18] an execution that another process deleted is not written to', async ({ store, beside }) => {
    await put(store, 'a', { status: 'completed' });
    if (beside === undefined) return;
    const other = await beside();
    expect(await other.deleteExecution('a')).toBe(true);
    await other.close();
    expect(accepted(await store.append([framed('a', 2), { executionId: 'a', wakeAt: 5 }]))).toEqual([false, false]);
    expect(await store.feed({ after: FEED_START, limit: 10 })).toEqual([]);
    expect(accepted(await store.append([creating('a')]))).toEqual([true]);
  });

  test('[STO-141] a deleted child is not created again while its parent exists', async ({ store, reopen }) => {
    await put(store, 'parent');
    await put(store, 'other');
    expect(await store.append([childOf('parent', 'child')])).toEqual([{ ok: true }]);
    expect(await store.append([childOf('parent', 'child')])).toEqual([{ ok: false }]);
    expect(await store.deleteExecution('child')).toBe(true);
    const batch = [childOf('parent', 'child'), framed('child', 2), childOf('parent', 'sibling')];
    expect(await store.append(batch)).toEqual([{ ok: false, isGone: true }, { ok: false }, { ok: true }]);
    await store.append([framed('parent', 2, { status: 'completed' })]);
    const again = reopen === undefined ? store : await reopen();
    const permits = { at: 1, requests: [{ key: 'k', node: '', limit: 1, messageId: 'm', body: '' }] };
    const sends = [{ messageId: 'm', executionId: 'other', body: 'x', wakeAt: 5 }];
    const refused = { ...childOf('parent', 'child'), permits, sends };
    expect(await again.append([refused])).toEqual([{ ok: false, isGone: true }]);
    expect(await again.known(['child'])).toEqual(new Set());
    expect(await seqs(again, 'child')).toEqual([]);
    expect(await again.permits('k')).toEqual([]);
    expect(await again.inbox('other')).toEqual([]);
    expect(await listed(again, { limit: 5 })).toEqual(['sibling', 'other', 'parent']);
  });

  test('[STO-141] a child that another process deleted is not created again', async ({ store, beside }) => {
    await store.append([creating('parent'), childOf('parent', 'child')]);
    if (beside === undefined) return;
    const other = await beside();
    expect(await other.deleteExecution('child')).toBe(true);
    await other.close();
    expect(await store.append([childOf('parent', 'child')])).toEqual([{ ok: false, isGone: true }]);
  });

  test('[STO-141] a child whose parent does not exist is not created', async ({ store }) => {
    expect(await store.append([childOf('parent', 'child')])).toEqual([{ ok: false, isGone: true }]);
    const batch = [creating('parent', { status: 'failed' }), childOf('parent', 'child')];
    expect(accepted(await store.append(batch))).toEqual([true, true]);
    expect(await store.deleteExecution('parent')).toBe(true);
    expect(await store.append([childOf('parent', 'late')])).toEqual([{ ok: false, isGone: true }]);
    // The child that exists is independent of its parent.
    expect(await store.append([framed('child', 2)])).toEqual([{ ok: true }]);
    expect(await store.deleteExecution('child')).toBe(true);
  });

  test('[STO-142] the ids of deleted children go with their parent', async ({ store }) => {
    const parent = (): Promise<void> => put(store, 'parent', { status: 'completed' });
    await parent();
    await store.append([childOf('parent', 'child'), childOf('parent', 'late')]);
    await store.deleteExecution('child');
    await store.deleteExecution('parent');
    // Its parent is gone already, and another execution has the id of the parent.
    await parent();
    await store.deleteExecution('late');
    expect(accepted(await store.append([childOf('parent', 'child'), childOf('parent', 'late')]))).toEqual([true, true]);
  });

  test('[STO-142] the id of a deleted child is free for an execution that is no child of that parent', async ({
    store,
  }) => {
    await store.append([creating('parent'), creating('other'), childOf('parent', 'a'), childOf('parent', 'b')]);
    for (const id of ['a', 'b']) expect(await store.deleteExecution(id)).toBe(true);
    expect(accepted(await store.append([creating('a'), childOf('other', 'b')]))).toEqual([true, true]);
  });

  test('[STO-19] expired executions, oldest first', async ({ store }) => {
    const rows: [string, Parts][] = [
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

  test('[SRV-877] stalled executions: due, unfinished, not paused, and without a frame for some time', async ({
    store,
  }) => {
    const frame = (at: number) => ({ seq: 1, at, entries: '[]' });
    const rows: [string, Parts][] = [
      ['later', { status: 'running', wakeAt: 90, frame: frame(10) }],
      ['sooner', { status: 'compensating', wakeAt: 20, frame: frame(10) }],
      ['moved', { status: 'running', wakeAt: 20, frame: frame(50) }],
      ['not-due', { status: 'running', wakeAt: 101, frame: frame(10) }],
      ['paused', { status: 'paused', wakeAt: 20, frame: frame(10) }],
      ['finished', { status: 'failed', wakeAt: 20, frame: frame(10) }],
      ['waiting', { status: 'running', wakeAt: null, frame: frame(10) }],
    ];
    for (const [id, more] of rows) await put(store, id, more);
    const found = await store.stalled({ dueBy: 100, movedBefore: 50, limit: 10 });
    expect(found.map(({ executionId, movedAt }) => [executionId, movedAt])).toEqual([
      ['sooner', 10],
      ['later', 10],
    ]);
    expect(found[0]).toEqual({ ...(await store.execution('sooner')), movedAt: 10 });
    expect(await store.stalled({ dueBy: 100, movedBefore: 50, limit: 1 })).toHaveLength(1);
  });

  test('[STO-20] reclaiming space ends and loses nothing', async ({ store }) => {
    for (let run = 0; run < 60; run++) {
      const entries = 'x'.repeat(20_000);
      await put(store, `run-${run}`, { status: 'completed', frame: { seq: 1, at: 1, entries } });
    }
    for (let run = 0; run < 60; run++) if (run % 10 !== 0) await store.deleteExecution(`run-${run}`);
    await reclaim(store);
    expect(await store.reclaimSpace()).toBe(false);
    const left = await store.feed({ after: FEED_START, limit: 100 });
    expect(left.map((frame) => frame.executionId)).toEqual(['run-0', 'run-10', 'run-20', 'run-30', 'run-40', 'run-50']);
    expect(left.every((frame) => frame.entries.length === 20_000)).toBe(true);
  });

  test('[STO-6] of many callers one gets the due execution', async ({ store }) => {
    for (let run = 0; run < 10; run++) await put(store, `run-${run}`, { wakeAt: run });
    const claims = await Promise.all(
      Array.from({ length: 25 }, (_, caller) => store.claimDue(100, 1_000, `worker-${caller}`, 3)),
    );
    const claimed = claims.flatMap((claim) => claim.executionIds);
    expect(claimed).toHaveLength(10);
    expect(new Set(claimed).size).toBe(10);
    for (const [caller, claim] of claims.entries()) {
      for (const id of claim.executionIds) expect((await store.execution(id))?.owner).toBe(`worker-${caller}`);
    }
  });

  test('[STO-6] a claimed execution is due again when its claim has passed', async ({ store }) => {
    await put(store, 'a', { wakeAt: 10 });
    expect((await store.claimDue(10, 20, 'w1', 5)).executionIds).toEqual(['a']);
    expect((await store.claimDue(19, 30, 'w2', 5)).executionIds).toEqual([]);
    expect((await store.claimDue(20, 40, 'w2', 5)).executionIds).toEqual(['a']);
    expect(await store.execution('a')).toMatchObject({ owner: 'w2', wakeAt: 40 });
  });

  test('[STO-6] a store beside this one does not get claimed executions', async ({ store, beside }) => {
    await put(store, 'a', { wakeAt: 10 });
    if (beside === undefined) return;
    const other = await beside();
    expect((await store.claimDue(10, 20, 'w1', 5)).executionIds).toEqual(['a']);
    expect((await other.claimDue(10, 20, 'w2', 5)).executionIds).toEqual([]);
    await other.close();
  });

  test('[STO-25] due executions come earliest first, up to the limit', async ({ store }) => {
    await store.append([
      creating('late', { wakeAt: 30 }),
      creating('early', { wakeAt: 10 }),
      creating('middle', { wakeAt: 20 }),
      creating('future', { wakeAt: 31 }),
      creating('parked'),
    ]);
    expect(await store.claimDue(30, 100, 'w', 2)).toEqual({
      executionIds: ['early', 'middle'],
      nextWakeAt: 30,
      dueSince: 10,
    });
    expect(await store.claimDue(30, 100, 'w', 2)).toEqual({ executionIds: ['late'], nextWakeAt: 31, dueSince: 30 });
    expect(await store.claimDue(31, 100, 'w', 2)).toEqual({ executionIds: ['future'], nextWakeAt: 100, dueSince: 31 });
    expect(await store.claimDue(32, 100, 'w', 2)).toEqual({ executionIds: [], nextWakeAt: 100, dueSince: null });
    await store.append([{ executionId: 'parked', wakeAt: 50 }]);
    expect((await store.claimDue(32, 100, 'w', 2)).nextWakeAt).toBe(50);
  });

  test('[STO-25] with names, only the named executions are looked at', async ({ store }) => {
    await store.append([creating('a', { wakeAt: 10 }), creating('b', { wakeAt: 20 }), creating('c', { wakeAt: 30 })]);
    const only = ['b', 'c', 'nobody'];
    expect(await store.claimDue(25, 100, 'w', 5, only)).toEqual({ executionIds: ['b'], nextWakeAt: 30, dueSince: 20 });
    expect((await store.execution('a'))?.wakeAt).toBe(10);
    expect(await store.claimDue(25, 100, 'w', 5, [])).toEqual({ executionIds: [], nextWakeAt: null, dueSince: null });
  });

  test('[STO-25] without wake times there is nothing to wait for', async ({ store }) => {
    await put(store, 'parked');
    expect(await store.claimDue(1_000, 2_000, 'w', 5)).toEqual({ executionIds: [], nextWakeAt: null, dueSince: null });
  });
});

async function reclaim(store: Store): Promise<void> {
  for (let piece = 0; await store.reclaimSpace(); piece++) expect(piece).toBeLessThan(10_000);
}

/** Creates a child, which has ended at once. */
function childOf(parent: string, executionId: string): Write {
  const write = creating(executionId, { status: 'completed' });
  return { ...write, create: { workflowId: 'orders', version: 1, createdAt: 1_000, owner: null, parent } };
}
