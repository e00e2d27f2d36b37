/** Messages and wake times. */
import { expect } from 'vitest';
import { accepted, creating, framed, put, type StoreTest } from './store-subject.ts';

export function inboxTests(test: StoreTest): void {
  test('[STO-21] messages wait in order of arrival', async ({ store }) => {
    await put(store, 'a');
    await put(store, 'b');
    for (const messageId of ['z', 'a', 'm']) {
      expect(await store.send({ messageId, executionId: 'a', body: `of ${messageId}` }, 5)).toBe(true);
    }
    expect(await store.inbox('a')).toEqual([
      { messageId: 'z', executionId: 'a', body: 'of z' },
      { messageId: 'a', executionId: 'a', body: 'of a' },
      { messageId: 'm', executionId: 'a', body: 'of m' },
    ]);
    expect(await store.inbox('b')).toEqual([]);
    expect(await store.inbox('ghost')).toEqual([]);
  });

  test('[STO-21] the same message sent again is one message', async ({ store }) => {
    await put(store, 'a');
    await put(store, 'b');
    const message = { messageId: 'm', executionId: 'a', body: 'first' };
    const answers = await Promise.all([
      store.send(message, 5),
      store.send({ ...message, body: 'second' }, 5),
      store.send({ ...message, executionId: 'b' }, 5),
    ]);
    expect(answers).toEqual([true, true, true]);
    expect(await store.inbox('a')).toEqual([message]);
    expect(await store.inbox('b')).toEqual([{ ...message, executionId: 'b' }]);
  });

  test('[STO-21] a message to nobody is refused', async ({ store }) => {
    expect(await store.send({ messageId: 'm', executionId: 'ghost', body: 'x' }, 5)).toBe(false);
    await put(store, 'ghost');
    expect(await store.inbox('ghost')).toEqual([]);
  });

  test('[STO-22] a message makes the run due, and an earlier wake time stays', async ({ store }) => {
    await put(store, 'parked');
    await put(store, 'soon', { wakeAt: 3 });
    await put(store, 'later', { wakeAt: 50 });
    await put(store, 'finished', { status: 'completed' });
    for (const executionId of ['parked', 'soon', 'later', 'finished']) {
      await store.send({ messageId: 'm', executionId, body: 'x' }, 10);
    }
    expect((await store.execution('parked'))?.wakeAt).toBe(10);
    expect((await store.execution('soon'))?.wakeAt).toBe(3);
    expect((await store.execution('later'))?.wakeAt).toBe(10);
    const claim = await store.claimDue(10, 99, 'w', 10);
    expect([...claim.executionIds].sort()).toEqual(['finished', 'later', 'parked', 'soon']);
  });

  test('[STO-22] a repeated message wakes the run again', async ({ store }) => {
    await put(store, 'a');
    await store.send({ messageId: 'm', executionId: 'a', body: 'x' }, 10);
    await store.claimDue(10, 99, 'w', 10);
    await store.send({ messageId: 'm', executionId: 'a', body: 'x' }, 20);
    expect((await store.execution('a'))?.wakeAt).toBe(20);
  });

  test('[STO-33] a write puts its messages into other inboxes, if it is accepted', async ({ store }) => {
    await put(store, 'child');
    await put(store, 'parent');
    const sends = (executionId: string) => [{ messageId: 'm', executionId, body: 'done', wakeAt: 7 }];
    const frame = { seq: 2, at: 1, entries: '[]' };
    expect(await store.append([{ executionId: 'child', frame: { ...frame, seq: 9 }, sends: sends('parent') }])).toEqual(
      [{ ok: false }],
    );
    expect(await store.inbox('parent')).toEqual([]);
    await store.append([{ executionId: 'child', frame, sends: [...sends('parent'), ...sends('nobody')] }]);
    expect(await store.inbox('parent')).toEqual([{ messageId: 'm', executionId: 'parent', body: 'done' }]);
    expect((await store.execution('parent'))?.wakeAt).toBe(7);
    await store.append([{ executionId: 'child', frame: { ...frame, seq: 3 }, sends: sends('parent') }]);
    expect(await store.inbox('parent')).toHaveLength(1);
  });

  test('[STO-23] taken messages go with the accepted write only', async ({ store }) => {
    await put(store, 'a');
    await put(store, 'b');
    for (const messageId of ['m', 'n']) {
      await store.send({ messageId, executionId: 'a', body: 'x' }, 5);
      await store.send({ messageId, executionId: 'b', body: 'x' }, 5);
    }
    const refused = framed('a', 7, { taken: ['m'] });
    expect(accepted(await store.append([refused]))).toEqual([false]);
    expect(await store.inbox('a')).toHaveLength(2);
    expect(accepted(await store.append([framed('a', 2, { taken: ['m', 'unknown'] })]))).toEqual([true]);
    expect((await store.inbox('a')).map((message) => message.messageId)).toEqual(['n']);
    expect(await store.inbox('b')).toHaveLength(2);
    await store.append([{ executionId: 'b', taken: ['m', 'n'] }]);
    expect(await store.inbox('b')).toEqual([]);
  });

  test('[STO-24] a write decided before the message does not lose its wake-up', async ({ store }) => {
    await put(store, 'a', { wakeAt: 100 });
    await store.send({ messageId: 'm', executionId: 'a', body: 'x' }, 10);
    await store.append([framed('a', 2, { wakeAt: null })]);
    expect((await store.execution('a'))?.wakeAt).toBe(10);
    await store.append([framed('a', 3, { wakeAt: 500, status: 'completed' })]);
    expect((await store.execution('a'))?.wakeAt).toBe(10);
    await store.append([framed('a', 4, { wakeAt: 4 })]);
    expect((await store.execution('a'))?.wakeAt).toBe(4);
    await store.append([framed('a', 5, { wakeAt: null, taken: ['m'] })]);
    expect((await store.execution('a'))?.wakeAt).toBe(null);
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

  test('[STO-6] a store beside this one does not get what is claimed', async ({ store, beside }) => {
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
}
