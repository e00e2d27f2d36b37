/** Messages, wake times and signals. */
import { expect } from 'vitest';
import { accepted, bodies, framed, portSuite, put } from './store-subject.ts';

export const inboxSuite = portSuite('inbox', (test) => {
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

  test('[STO-21] a message to an unknown execution is refused', async ({ store }) => {
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

  test('[STO-38] a signal goes to one listener, the oldest, or is kept for the next', async ({ store }) => {
    for (const id of ['a', 'b', 'c']) await put(store, id);
    const listen = (executionId: string, node = 'n', key = 'k') =>
      store.append([{ executionId, subscriptions: { at: 5, add: [{ signal: 's', key, node }] } }]);
    const publish = (messageId: string, key = 'k') =>
      store.publish({ signal: 's', key, messageId, body: messageId, at: 6, expiresAt: 100 });
    await listen('a');
    await listen('b');
    expect(await publish('m1')).toBe('a');
    expect(await publish('m1')).toBeUndefined();
    expect(await publish('m2')).toBe('b');
    expect(await publish('m3')).toBeUndefined();
    expect(await publish('other', 'x')).toBeUndefined();
    await listen('c');
    expect([await bodies(store, 'a'), await bodies(store, 'b'), await bodies(store, 'c')]).toEqual([
      ['m1'],
      ['m2'],
      ['m3'],
    ]);
    expect((await store.execution('c'))?.wakeAt).toBe(5);
    await store.append([
      { executionId: 'c', subscriptions: { at: 7, remove: ['n'], add: [{ signal: 's', key: 'x', node: 'o' }] } },
    ]);
    expect(await bodies(store, 'c')).toEqual(['m3', 'other']);
  });

  test('[STO-90] buffered signals whose names begin with a prefix are forgotten, and no others', async ({ store }) => {
    await put(store, 'a');
    const publish = (signal: string) =>
      store.publish({ signal, key: '', messageId: `m ${signal}`, body: signal, at: 1, expiresAt: 100 });
    for (const signal of ['["p","s"]', '["p2","s"]', 's']) await publish(signal);
    await store.forgetSignals('["p",');
    // A repeated message is still the same one.
    await publish('["p","s"]');
    const add = ['["p","s"]', '["p2","s"]', 's'].map((signal, at) => ({ signal, key: '', node: `n${at}` }));
    await store.append([{ executionId: 'a', subscriptions: { at: 2, add } }]);
    expect(await bodies(store, 'a')).toEqual(['["p2","s"]', 's']);
  });

  test('[STO-38] a removed subscription gets no signal, and a buffered signal expires', async ({ store }) => {
    await put(store, 'a');
    const add = [{ signal: 's', key: '', node: 'n' }];
    await store.append([{ executionId: 'a', subscriptions: { at: 1, add } }]);
    await store.append([{ executionId: 'a', subscriptions: { at: 1, remove: ['n'] } }]);
    await store.publish({ signal: 's', key: '', messageId: 'm', body: 'm', at: 2, expiresAt: 10 });
    await store.append([{ executionId: 'a', subscriptions: { at: 10, add } }]);
    expect(await store.inbox('a')).toEqual([]);
  });
});
