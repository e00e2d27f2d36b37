/** The contract of the store, by the rules of SPEC.md: one suite for each port, and one for the store as a whole. */

import { FEED_START, type Store } from '@nebula/ports';
import { expect, vi } from 'vitest';
import { cacheSuite } from './cache.ts';
import { definitionsSuite } from './definitions.ts';
import { executionListsSuite } from './execution-lists.ts';
import { executionsSuite } from './executions.ts';
import { filteredListsSuite } from './filtered-lists.ts';
import { humanTasksSuite } from './human-tasks.ts';
import { inboxSuite } from './inbox.ts';
import { appendSuite } from './journal-append.ts';
import { journalReadSuite } from './journal-reads.ts';
import { permitsSuite } from './permits.ts';
import { accepted, creating, framed, type OpenStore, portSuite, put } from './store-subject.ts';
import { workersSuite } from './workers.ts';

export function storeSuite(name: string, open: OpenStore): void {
  appendSuite(name, open);
  journalReadSuite(name, open);
  executionsSuite(name, open);
  executionListsSuite(name, open);
  filteredListsSuite(name, open);
  humanTasksSuite(name, open);
  inboxSuite(name, open);
  permitsSuite(name, open);
  workersSuite(name, open);
  cacheSuite(name, open);
  definitionsSuite(name, open);
  wholeStoreSuite(name, open);
}

const wholeStoreSuite = portSuite('store', (test) => {
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

  test('[STO-1] everything is there after reopening', async ({ store, reopen }) => {
    if (reopen === undefined) return;
    await put(store, 'a', { wakeAt: 5 });
    await store.append([framed('a', 2, { status: 'paused' })]);
    await store.send({ messageId: 'm', executionId: 'a', body: 'x' }, 3);
    await store.saveSnapshot('a', { seq: 2, state: 's' });
    await store.heartbeat([{ worker: 'w', expiresAt: 100 }]);
    await store.registerWorkflow({ workflowId: 'orders', hash: 'h', definition: '{}', createdAt: 5 });
    const before = await everything(store);
    const again = await reopen();
    expect(await everything(again)).toEqual(before);
    expect(accepted(await again.append([framed('a', 2), framed('a', 3)]))).toEqual([false, true]);
  });

  test('[STO-30] a write by another process is noticed until watching stops', async ({ store, beside }) => {
    await put(store, 'a', { status: 'completed' });
    const called = vi.fn();
    const stop = store.watch(called);
    if (beside === undefined) return stop();
    const other = await beside();
    await other.send({ messageId: 'm', executionId: 'a', body: 'x' }, 5);
    await vi.waitFor(() => expect(called).toHaveBeenCalled(), { timeout: 5_000 });
    expect(await store.inbox('a')).toHaveLength(1);
    called.mockClear();
    expect(await other.deleteExecution('a')).toBe(true);
    await vi.waitFor(() => expect(called).toHaveBeenCalled(), { timeout: 5_000 });
    stop();
    stop();
    await other.close();
  });

  test('[STO-31] closing waits for calls under way', async ({ store, reopen }) => {
    const appends = Array.from({ length: 50 }, (_, run) => store.append([creating(`run-${run}`)]));
    const again = reopen === undefined ? undefined : await reopen();
    if (again === undefined) await store.close();
    expect((await Promise.all(appends)).flatMap(accepted)).toEqual(Array(50).fill(true));
    if (again !== undefined) expect((await again.list({ limit: 100 })).rows).toHaveLength(50);
  });

  test('[STO-31] a closed store refuses everything, and closes twice', async ({ store }) => {
    await put(store, 'a');
    await store.close();
    await store.close();
    const closed = { code: 'STORE_CLOSED' };
    await expect(store.append([framed('a', 2)])).rejects.toMatchObject(closed);
    await expect(store.frames('a', 0)).rejects.toMatchObject(closed);
    await expect(store.execution('a')).rejects.toMatchObject(closed);
    await expect(store.list({ limit: 1 })).rejects.toMatchObject(closed);
    await expect(store.send({ messageId: 'm', executionId: 'a', body: '' }, 1)).rejects.toMatchObject(closed);
    await expect(store.claimDue(1, 2, 'w', 1)).rejects.toMatchObject(closed);
  });
});

async function everything(store: Store): Promise<unknown> {
  return {
    loaded: await store.load('a'),
    row: await store.execution('a'),
    frames: await store.frames('a', 0),
    feed: await store.feed({ after: FEED_START, limit: 100 }),
    inbox: await store.inbox('a'),
    list: await store.list({ limit: 10 }),
    live: await store.liveWorkers(['w'], 50),
    workflow: await store.workflowVersion('orders'),
  };
}
