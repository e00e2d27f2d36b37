/** Leases of workers. */

import type { Store } from '@nebula/ports';
import { expect } from 'vitest';
import { type Parts, portSuite, put } from './store-subject.ts';

export const workersSuite = portSuite('workers', (test) => {
  test('[STO-26] a worker lives as long as its lease', async ({ store }) => {
    await store.heartbeat([{ worker: 'w1', expiresAt: 100 }]);
    await store.heartbeat([{ worker: 'w2', expiresAt: 50 }]);
    await store.heartbeat([{ worker: 'w2', expiresAt: 200 }]);
    expect(await store.liveWorkers(['w1', 'w2', 'w3'], 99)).toEqual(new Set(['w1', 'w2']));
    expect(await store.liveWorkers(['w1', 'w2', 'w3'], 100)).toEqual(new Set(['w2']));
    expect(await store.liveWorkers(['w1'], 1)).toEqual(new Set(['w1']));
    expect(await store.liveWorkers([], 1)).toEqual(new Set());
  });

  test('[STO-27] reaping makes the runs of dead workers due', async ({ store }) => {
    await store.heartbeat([{ worker: 'dead', expiresAt: 10 }]);
    await store.heartbeat([{ worker: 'alive', expiresAt: 100 }]);
    await store.heartbeat([{ worker: 'me', expiresAt: 5 }]);
    await putOwned(store, 'of-dead', 'dead');
    await putOwned(store, 'of-dead-soon', 'dead', { wakeAt: 3 });
    await putOwned(store, 'of-dead-finished', 'dead', { status: 'completed' });
    await putOwned(store, 'of-alive', 'alive');
    await putOwned(store, 'of-me', 'me');
    await putOwned(store, 'of-nobody', null);
    expect(await store.reapWorkers(50, 'me', 60)).toBe(1);
    const wakeAt = async (id: string) => (await store.execution(id))?.wakeAt;
    expect(await wakeAt('of-dead')).toBe(60);
    expect(await wakeAt('of-dead-soon')).toBe(3);
    for (const id of ['of-dead-finished', 'of-alive', 'of-me', 'of-nobody']) expect(await wakeAt(id)).toBe(null);
    expect(await store.reapWorkers(50, 'me', 60)).toBe(0);
    expect(await store.liveWorkers(['dead', 'alive'], 1)).toEqual(new Set(['alive']));
  });

  test('[STO-27] for one that is alone every other process is reaped, known or not', async ({ store }) => {
    const lasting = ['lease-1', 'w1', 'w2', 'me'].map((worker) => ({ worker, expiresAt: 1_000 }));
    await store.heartbeat([...lasting, { worker: 'lease-2', expiresAt: 10 }]);
    await putOwned(store, 'of-w1', 'w1', { wakeAt: 500 });
    await putOwned(store, 'of-forgotten', 'never-said-a-word');
    await putOwned(store, 'of-me', 'me');
    expect(await store.reapWorkers(50, 'me', 60, 'w')).toBe(3);
    expect((await store.execution('of-w1'))?.wakeAt).toBe(60);
    expect((await store.execution('of-forgotten'))?.wakeAt).toBe(60);
    expect((await store.execution('of-me'))?.wakeAt).toBe(null);
    const all = ['w1', 'w2', 'me', 'lease-1', 'lease-2'];
    expect(await store.liveWorkers(all, 1)).toEqual(new Set(['me', 'lease-1']));
  });
});

function putOwned(store: Store, id: string, owner: string | null, more: Parts = {}): Promise<void> {
  return put(store, id, { create: { workflowId: 'orders', version: 1, createdAt: 1, owner }, ...more });
}
