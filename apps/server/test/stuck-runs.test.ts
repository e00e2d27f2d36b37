/** Notifications of runs that do not move. */
import { defineAction } from '@nebula/sdk';
import { describe, expect, it } from 'vitest';
import { type Booted, memoryKeeping } from './support/boot.ts';
import { arrived, booting, open, put, received, register, withReceiver } from './support/notified.ts';
import { Time } from './support/time.ts';

withReceiver();

describe('stuck runs', () => {
  const minutes = async (time: Time, count: number, each?: () => Promise<unknown>): Promise<void> => {
    for (let minute = 0; minute < count; minute++) {
      await each?.();
      await time.advance(60_000);
    }
  };
  const stuckOf = async ({ keeping }: Booted): Promise<readonly { readonly isTold: boolean }[]> => {
    const [row] = await keeping.records.list('notification', { limit: 1 });
    return JSON.parse(row?.body ?? '{}').stuck ?? [];
  };
  const announced = { workerId: 'w1', labels: ['far'], actions: [{ id: 'far.work' }] };

  it('[SRV-878, SRV-880] a task that no live worker serves is told of once, also after a restart, until it moves', async () => {
    const time = new Time();
    const keeping = memoryKeeping(time.clock);
    const first = await booting({ time, keeping });
    const { client } = first;
    await client.call('registerWorker', { body: announced });
    await register(first, { id: 'far', nodes: { work: { action: 'far.work', labels: ['far'] } } });
    await put(first, {});
    const { executionId } = await client.call('startExecution', { body: { workflowId: 'far' } });
    // A live worker that is busy with other things is no reason.
    await minutes(time, 20, () => client.call('beatWorker', { params: { workerId: 'w1' } }));
    expect([received, await stuckOf(first)]).toEqual([[], []]);
    await arrived(time, 1);
    expect(received[0]?.message).toMatchObject({
      counts: { failed: 0, stuck: 1 },
      first: [{ kind: 'stuck', executionId, workflowId: 'far', node: 'work', code: 'STUCK_NO_WORKER' }],
    });
    expect(received[0]?.message.text).toContain('1 run is stuck in project default');
    expect(received[0]?.message.text).toContain('waits for a remote worker with far.work@1');
    await expect.poll(async () => (await stuckOf(first))[0]?.isTold).toBe(true);
    await minutes(time, 30);
    open.delete(first);
    await first.close();
    const second = await booting({ time, keeping });
    await minutes(time, 30);
    expect(received).toHaveLength(1);
    await second.client.call('registerWorker', { body: announced });
    await second.client.call('claimWork', { params: { workerId: 'w1' }, body: {} });
    await expect
      .poll(async () => {
        await time.advance(60_000);
        return await stuckOf(second);
      })
      .toEqual([]);
  });

  it('[SRV-880] of many stuck runs a hundred are remembered, and told once', async () => {
    const time = new Time();
    const keeping = memoryKeeping(time.clock);
    const first = await booting({ time, keeping });
    const { client } = first;
    await client.call('registerWorker', { body: announced });
    await register(first, { id: 'far', nodes: { work: { action: 'far.work', labels: ['far'] } } });
    for (let count = 0; count < 150; count++) {
      await client.call('startExecution', { body: { workflowId: 'far' } });
      // The order of their wake times changes from search to search.
      await time.advance(700);
    }
    await put(first, {});
    await minutes(time, 16);
    await arrived(time, 1);
    await expect.poll(async () => (await stuckOf(first)).filter(({ isTold }) => isTold).length).toBe(100);
    expect(received[0]?.message.counts.stuck).toBe(100);
    await minutes(time, 20);
    open.delete(first);
    await first.close();
    await booting({ time, keeping });
    await minutes(time, 20);
    expect(received).toHaveLength(1);
  });

  it('[SRV-878] a run that cannot be loaded, as its action is gone, is stuck', async () => {
    const time = new Time();
    const keeping = memoryKeeping(time.clock);
    const own = defineAction({ id: 'own.act', version: '1', effect: 'pure', run: async () => null });
    const first = await booting({ time, keeping, actions: [own] });
    const nodes = { pause: { wait: { for: '10m' } }, act: { action: 'own.act' } };
    await register(first, { id: 'mine', nodes, edges: [{ from: 'pause', to: 'act' }] });
    await put(first, {});
    const { executionId } = await first.client.call('startExecution', { body: { workflowId: 'mine' } });
    await expect.poll(async () => (await first.parts.store.execution(executionId))?.wakeAt).not.toBe(null);
    open.delete(first);
    await first.close();
    await booting({ time, keeping });
    await minutes(time, 12);
    expect(received).toEqual([]);
    await arrived(time, 1);
    const [event] = received[0]?.message.first ?? [];
    expect(event).toMatchObject({ kind: 'stuck', executionId, code: 'STUCK_FAULT' });
    expect(event?.message).toContain('own.act');
    await minutes(time, 60);
    expect(received).toHaveLength(1);
  });

  it('[SRV-878] a run that no engine takes at its wake time is stuck', async () => {
    const time = new Time();
    const keeping = memoryKeeping(time.clock);
    const nothing = { executionIds: [], nextWakeAt: null, dueSince: null };
    const store = Object.assign(Object.create(keeping.store), { claimDue: async () => nothing });
    const booted = await booting({ time, keeping: { ...keeping, store } });
    await register(booted, { id: 'sleeps', nodes: { pause: { wait: { for: '10m' } } } });
    await put(booted, {});
    const { executionId } = await booted.client.call('startExecution', { body: { workflowId: 'sleeps' } });
    await minutes(time, 20);
    expect(received).toEqual([]);
    await arrived(time, 1);
    expect(received[0]?.message.first).toMatchObject([{ kind: 'stuck', executionId, code: 'STUCK_OVERDUE' }]);
  });

  it('[SRV-879] long attempts, waits, pauses and other events are not stuck', async () => {
    const time = new Time();
    const long = defineAction({
      id: 'own.long',
      version: '1',
      effect: 'pure',
      run: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(null))),
    });
    const booted = await booting({ time, actions: [long] });
    const { client } = booted;
    await client.call('registerWorker', { body: announced });
    const work = { action: 'far.work', labels: ['far'] };
    await register(booted, { id: 'long', nodes: { run: { action: 'own.long' } } });
    await register(booted, { id: 'waits', nodes: { hold: { wait: { signal: 'go' } } } });
    await register(booted, { id: 'pauses', nodes: { work } });
    await put(booted, {});
    await put(booted, { on: ['unknown'] }, 'others');
    for (const workflowId of ['long', 'waits']) await client.call('startExecution', { body: { workflowId } });
    const { executionId } = await client.call('startExecution', { body: { workflowId: 'pauses' } });
    await client.call('pauseExecution', { params: { executionId } });
    await minutes(time, 60);
    expect(received).toEqual([]);
    await client.call('resumeExecution', { params: { executionId } });
    await arrived(time, 1);
    await minutes(time, 5);
    expect(
      received.map(({ message }) => [message.notificationId, message.first.map((one) => one.executionId)]),
    ).toEqual([['ops', [executionId]]]);
  });
});
