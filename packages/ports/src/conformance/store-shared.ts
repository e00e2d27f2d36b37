/** Workers, workflow versions, watching, closing, and what is left after a restart. */
import { expect, vi } from 'vitest';
import type { Store } from '../store.ts';
import { accepted, creating, framed, put, type StoreTest, seqs } from './store-subject.ts';

export function sharedTests(test: StoreTest): void {
  test('[STO-26] a worker lives as long as its lease', async ({ store }) => {
    await store.heartbeat('w1', 100);
    await store.heartbeat('w2', 50);
    await store.heartbeat('w2', 200);
    expect(await store.liveWorkers(['w1', 'w2', 'w3'], 99)).toEqual(new Set(['w1', 'w2']));
    expect(await store.liveWorkers(['w1', 'w2', 'w3'], 100)).toEqual(new Set(['w2']));
    expect(await store.liveWorkers(['w1'], 1)).toEqual(new Set(['w1']));
    expect(await store.liveWorkers([], 1)).toEqual(new Set());
  });

  test('[STO-27] reaping makes the runs of dead workers due', async ({ store }) => {
    await store.heartbeat('dead', 10);
    await store.heartbeat('alive', 100);
    await store.heartbeat('me', 5);
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
    await store.heartbeat('lease-1', 1_000);
    await store.heartbeat('lease-2', 10);
    await store.heartbeat('w1', 1_000);
    await store.heartbeat('w2', 1_000);
    await store.heartbeat('me', 1_000);
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

  test('[STO-28] versions count up; the same content is the same version', async ({ store }) => {
    const row = (hash: string, workflowId = 'orders') => ({
      workflowId,
      hash,
      definition: `{"${hash}":1}`,
      createdAt: 5,
    });
    expect(await store.registerWorkflow(row('h1'))).toEqual({ ok: true, version: 1, created: true });
    expect(await store.registerWorkflow(row('h2'))).toEqual({ ok: true, version: 2, created: true });
    expect(await store.registerWorkflow(row('h1'))).toEqual({ ok: true, version: 1, created: false });
    expect(await store.registerWorkflow(row('h1', 'other'))).toEqual({ ok: true, version: 1, created: true });
    expect(await store.registerWorkflow({ ...row('h7'), version: 7 })).toEqual({ ok: true, version: 7, created: true });
    expect(await store.registerWorkflow(row('h8'))).toEqual({ ok: true, version: 8, created: true });
    expect(await store.registerWorkflow({ ...row('h9'), version: 7 })).toEqual({ ok: false, reason: 'version-taken' });
    expect(await store.registerWorkflow({ ...row('h2'), version: 7 })).toEqual({
      ok: true,
      version: 2,
      created: false,
    });
    expect(await store.registerWorkflow({ ...row('h5'), version: 5 })).toEqual({ ok: true, version: 5, created: true });
  });

  test('[STO-28] of many rivals for the same content one creates it', async ({ store }) => {
    const row = { workflowId: 'orders', hash: 'h', definition: '{}', createdAt: 5 };
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => store.registerWorkflow(row)));
    expect(outcomes.filter((outcome) => outcome.ok && outcome.created)).toHaveLength(1);
    expect(outcomes.every((outcome) => outcome.ok && outcome.version === 1)).toBe(true);
  });

  test('[STO-29] a version, the newest, or none', async ({ store }) => {
    const row = (hash: string) => ({ workflowId: 'orders', hash, definition: `{"${hash}":"😀"}`, createdAt: 5 });
    expect(await store.workflowVersion('orders')).toBeUndefined();
    await store.registerWorkflow({ ...row('h9'), version: 9 });
    await store.registerWorkflow({ ...row('h9'), workflowId: 'others' });
    expect(await store.workflowVersion('orders')).toEqual({ ...row('h9'), version: 9 });
    await store.registerWorkflow({ ...row('h3'), version: 3 });
    expect(await store.workflowVersion('orders')).toEqual({ ...row('h3'), version: 3 });
    for (const [hash, version] of [
      ['h9', 9],
      ['h9', 9],
      ['h3', 3],
      ['h10', 10],
      ['h3', 3],
    ] as const) {
      expect(await store.registerWorkflow(row(hash))).toMatchObject({ ok: true, version });
      expect(await store.workflowVersion('orders')).toEqual({ ...row(hash), version });
    }
    expect(await store.workflowVersion('orders', 3)).toEqual({ ...row('h3'), version: 3 });
    expect(await store.workflowVersion('orders', 4)).toBeUndefined();
    expect(await store.workflowVersion('Orders')).toBeUndefined();
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

  test('[STO-18] what another process deleted is not written on', async ({ store, beside }) => {
    await put(store, 'a', { status: 'completed' });
    if (beside === undefined) return;
    const other = await beside();
    expect(await other.deleteExecution('a')).toBe(true);
    await other.close();
    expect(accepted(await store.append([framed('a', 2), { executionId: 'a', wakeAt: 5 }]))).toEqual([false, false]);
    expect(await store.feed(0, 10)).toEqual([]);
    expect(accepted(await store.append([creating('a')]))).toEqual([true]);
  });

  test('[STO-12] a store beside this one reads the same feed', async ({ store, beside }) => {
    await put(store, 'a');
    if (beside === undefined) return;
    const other = await beside();
    for (let seq = 2; seq < 20; seq++) {
      await store.append([framed('a', seq)]);
      expect(await seqs(other, 'a', seq - 1)).toEqual([seq]);
    }
    expect(await other.feed(0, 100)).toEqual(await store.feed(0, 100));
    await other.close();
  });

  test('[STO-1] everything is there after reopening', async ({ store, reopen }) => {
    if (reopen === undefined) return;
    await put(store, 'a', { wakeAt: 5 });
    await store.append([framed('a', 2, { status: 'paused' })]);
    await store.send({ messageId: 'm', executionId: 'a', body: 'x' }, 3);
    await store.saveSnapshot('a', { seq: 2, state: 's' });
    await store.heartbeat('w', 100);
    await store.registerWorkflow({ workflowId: 'orders', hash: 'h', definition: '{}', createdAt: 5 });
    const before = await everything(store);
    const again = await reopen();
    expect(await everything(again)).toEqual(before);
    expect(accepted(await again.append([framed('a', 2), framed('a', 3)]))).toEqual([false, true]);
  });

  test('[STO-31] closing waits for what is under way', async ({ store, reopen }) => {
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
}

function putOwned(store: Store, id: string, owner: string | null, more: object = {}): Promise<void> {
  return put(store, id, { create: { workflowId: 'orders', version: 1, createdAt: 1, owner }, ...more });
}

async function everything(store: Store): Promise<unknown> {
  return {
    row: await store.execution('a'),
    frames: await store.frames('a', 0),
    feed: await store.feed(0, 100),
    inbox: await store.inbox('a'),
    snapshot: await store.snapshot('a'),
    list: await store.list({ limit: 10 }),
    live: await store.liveWorkers(['w'], 50),
    workflow: await store.workflowVersion('orders'),
  };
}
