import { describe, expect, it } from 'vitest';
import { encodeMessage } from '../src/turn/messages.ts';
import { BenchTop, changed } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });

describe('starts with a key', () => {
  const flow = (start: object) => ({ config: { start }, nodes: { a: hand({ with: { n: '{{ $input.n }}' } }) } });

  it('[ENG-97] a singleton is started once as long as it runs', async () => {
    const top = new BenchTop();
    await top.open();
    const definition = flow({ key: '{{ $input.who }}', policy: 'singleton' });
    const first = await top.start(definition, { who: 'ann', n: 1 });
    expect(await top.start(definition, { who: 'ann', n: 2 })).toBe(first);
    expect(await top.start(definition, { who: 'bob', n: 3 })).not.toBe(first);
    top.calls[0]?.complete();
    await top.untilIdle();
    expect(await top.start(definition, { who: 'ann', n: 4 })).not.toBe(first);
  });

  it('[ENG-98] [ENG-283] debounced starts become one run, with the last input, after a quiet time', async () => {
    const top = new BenchTop();
    await top.open();
    const definition = flow({ key: "'k'", policy: 'debounce', window: '10s' });
    const first = await top.start(definition, { n: 1 });
    await top.clock.advance(9_000);
    expect(await top.start(definition, { n: 2 })).toBe(first);
    await top.clock.advance(9_000);
    expect(top.ran).toEqual([]);
    const statuses = async () => [await top.status(first), (await top.engine.list({ limit: 1 })).rows[0]?.status];
    expect(await statuses()).toEqual(['pending', 'pending']);
    await top.open();
    await top.clock.advance(1_001);
    expect(await statuses()).toEqual(['running', 'running']);
    expect(top.call('a').input).toEqual({ n: 2 });
    expect(await top.start(definition, { n: 3 })).not.toBe(first);
  });

  it('[ENG-99] the same idempotency key is the same execution', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId, version } = await top.register({ nodes: { a: hand() } });
    const ids = ['x', 'x', 'y'].map((idempotencyKey) => top.engine.start(workflowId, version, { idempotencyKey }));
    await top.untilIdle();
    const [one, two, three] = await Promise.all(ids);
    expect(one).toBe(two);
    expect(three).not.toBe(one);
    expect(top.ran).toHaveLength(2);
  });

  it('[ENG-98] a debounced start that comes when the run has just begun is a run of its own', async () => {
    const top = new BenchTop();
    let isSlow = false;
    await top.open({
      wrapStore: (store) =>
        changed(store, {
          permits: async (key) => {
            const rows = await store.permits(key);
            if (isSlow) await top.clock.advance(1_000);
            isSlow = false;
            return rows;
          },
        }),
    });
    const flow = {
      config: { start: { key: "{{ 'one' }}", policy: 'debounce', window: '1s' } },
      nodes: { a: hand({ with: { n: '{{ $input.n }}' } }) },
    };
    await top.start(flow, { n: 1 });
    isSlow = true;
    await top.start(flow, { n: 2 });
    await top.clock.advance(2_000);
    expect(top.calls.map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('[ENG-105] a debounced start that is decided on after the wake-up that begins the run is not lost', async () => {
    const top = new BenchTop();
    const delayed: (() => void)[] = [];
    let isSlow = false;
    await top.open({
      wrapStore: (store) =>
        changed(store, {
          append: async (writes) => {
            if (isSlow) await new Promise<void>((resolve) => delayed.push(resolve));
            return store.append(writes);
          },
        }),
    });
    const flow = {
      config: { start: { key: "'k'", policy: 'debounce', window: '10s' } },
      nodes: { a: hand({ with: { n: '{{ $input.n }}' } }) },
    };
    const first = await top.start(flow, { n: 1 });
    // The store is busy with another run while the time of the first one comes, and another start.
    isSlow = true;
    const other = top.start({ id: 'other', nodes: { b: hand() } });
    await top.clock.advance(9_999);
    await top.clock.advance(2);
    const second = top.start(flow, { n: 2 });
    await top.clock.advance(100);
    isSlow = false;
    for (const release of delayed.splice(0)) release();
    await other;
    await second;
    await top.clock.advance(60_000);
    expect(top.calls.filter(({ node }) => node === 'a').map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await second).toBe(first);
    expect(await top.store.inbox(first)).toEqual([]);
  });

  it.each(['kept', 'deleted'] as const)(
    '[ENG-382] a start by a message is made once, if its run is %s when the message is found again',
    async (fate) => {
      const top = new BenchTop();
      await top.open();
      const definition = {
        config: { start: { key: "'k'", policy: 'debounce', window: '10s' } },
        nodes: { a: { action: 'echo@1' }, b: { needs: ['a'], when: '$input.n == 1', wait: { signal: 'go' } } },
      };
      const first = await top.start(definition, { n: 1 });
      await top.clock.advance(20_000);
      const body = encodeMessage({ type: 'restart', input: { n: 2 }, until: top.clock.now() });
      const find = async (): Promise<void> => {
        await top.store.send({ messageId: 'msg_1', executionId: first, body }, top.clock.now());
        await top.clock.advance(60_000);
      };
      await find();
      const [, second = ''] = top.data.runs.keys();
      expect(top.data.runs.get(second)?.row.status).toBe('completed');
      if (fate !== 'kept') expect(await top.engine.delete(second)).toBe(true);
      // The process died before it took the message.
      await top.open();
      await find();
      expect(top.ran).toEqual(['a', 'a']);
      expect([...top.data.runs.keys()]).toEqual(fate === 'kept' ? [first, second] : [first]);
    },
  );

  it('[ENG-382] a start by a message is made, if the run that had the message is deleted meanwhile', async () => {
    const top = new BenchTop();
    let origin: string | undefined;
    await top.open({
      wrapStore: (store) =>
        changed(store, {
          append: async (writes) => {
            if (writes.some(({ create }) => create?.parent === origin && origin !== undefined)) {
              expect(await store.deleteExecution(origin as string)).toBe(true);
              origin = undefined;
            }
            return store.append(writes);
          },
        }),
    });
    const definition = {
      config: { start: { key: "'k'", policy: 'debounce', window: '10s' } },
      nodes: { a: { action: 'echo@1' } },
    };
    const first = await top.start(definition, { n: 1 });
    await top.clock.advance(20_000);
    origin = first;
    const body = encodeMessage({ type: 'restart', input: { n: 2 }, until: top.clock.now() });
    await top.store.send({ messageId: 'msg_1', executionId: first, body }, top.clock.now());
    await top.clock.advance(60_000);
    expect(origin).toBeUndefined();
    expect(top.ran).toEqual(['a', 'a']);
  });

  it('[ENG-273] a debounced start while the frame that begins the run is being stored is one message', async () => {
    const top = new BenchTop();
    const delayed: (() => void)[] = [];
    let isSlow = false;
    let sent = 0;
    await top.open({
      wrapStore: (store) =>
        changed(store, {
          append: async (writes) => {
            if (isSlow) await new Promise<void>((resolve) => delayed.push(resolve));
            return store.append(writes);
          },
          send: (row, wakeAt) => {
            sent++;
            if (sent > 100) throw new Error('the start is sent again and again');
            return store.send(row, wakeAt);
          },
        }),
    });
    const flow = {
      config: { start: { key: "'k'", policy: 'debounce', window: '10s' } },
      nodes: { a: hand({ with: { n: '{{ $input.n }}' } }) },
    };
    const first = await top.start(flow, { n: 1 });
    isSlow = true;
    await top.clock.advance(10_001);
    const second = top.start(flow, { n: 2 });
    await top.clock.advance(30_000);
    expect(sent).toBe(1);
    isSlow = false;
    for (const release of delayed.splice(0)) release();
    expect(await second).toBe(first);
    await top.clock.advance(60_000);
    expect(top.calls.filter(({ node }) => node === 'a').map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await top.store.inbox(first)).toEqual([]);
  });
});
