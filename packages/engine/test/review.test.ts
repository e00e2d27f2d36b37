/** Cases that a hostile reader thought of: what is lost, leaked or stuck between runs and processes. */
import { NebulaError } from '@nebula/core';
import type { Store, Write } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });

/** A store of which some methods are changed. */
function changed(store: Store, changes: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, key) {
      const own = Reflect.get(changes, key) as unknown;
      if (own !== undefined) return own;
      const value = Reflect.get(target, key) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('the cache', () => {
  const one = { nodes: { a: hand({ cache: { version: 1, ttl: '1h' }, with: { n: '{{ $input.n }}' } }) } };

  it('[ENG-94] has the outputs of nodes in bodies, item by item', async () => {
    const top = new BenchTop();
    await top.open();
    const flow = {
      nodes: {
        each: {
          forEach: { in: [1, 2] },
          do: { nodes: { a: hand({ cache: { version: 1 }, with: { n: '{{ $item }}' } }) } },
        },
      },
    };
    await top.start(flow);
    await top.complete('each/0/a', 'one');
    await top.complete('each/1/a', 'two');
    const second = await top.start(flow);
    await top.clock.advance(10);
    expect(await top.engine.document(second)).toMatchObject({ status: 'completed', output: { each: ['one', 'two'] } });
    expect(top.ran).toHaveLength(2);
  });

  it('[ENG-96] keeps its large outputs when orphans are swept, and no longer than their time', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 100 });
    const first = await top.start(one, { n: 1 });
    await top.complete('a', 'x'.repeat(500));
    await top.engine.delete(first);
    await top.clock.advance(300_000);
    await top.open({ inlineLimitBytes: 100 });
    const second = await top.start(one, { n: 1 });
    await top.clock.advance(10);
    expect(await top.engine.document(second)).toMatchObject({ output: { a: 'x'.repeat(500) } });
    await top.engine.delete(second);
    await top.clock.advance(4_000_000);
    const left: string[] = [];
    for await (const name of top.blobs.executions()) left.push(name);
    expect(left).toEqual([]);
    expect(top.data.permits.cache.size).toBe(0);
  });

  it('[ENG-94] is asked again when it could not be read, and its run has left memory', async () => {
    const top = new BenchTop();
    let isBroken = true;
    await top.open({
      wrapStore: (store) =>
        changed(store, {
          newestCached: (family, limit) =>
            isBroken ? Promise.reject(new Error('disk')) : store.newestCached(family, limit),
        }),
    });
    await top.start(one, { n: 1 });
    isBroken = false;
    await top.clock.advance(5_000);
    expect(top.ran).toEqual(['a']);
  });

  it('[ENG-57] is asked again when the answer of the store was lost', async () => {
    const top = new BenchTop();
    let isLost = false;
    await top.open({
      wrapStore: (store) =>
        changed(store, {
          append: async (writes: readonly Write[]) => {
            const outcomes = await store.append(writes);
            if (isLost || !writes.some(({ frame }) => frame?.entries.includes('node.gated'))) return outcomes;
            isLost = true;
            throw new Error('connection lost');
          },
        }),
    });
    await top.start(
      { nodes: { first: hand(), a: { needs: ['first'], ...hand({ cache: { version: 1 } }) } } },
      { n: 1 },
    );
    await top.complete('first');
    await top.clock.advance(10_000);
    expect(isLost).toBe(true);
    expect(top.ran).toEqual(['first', 'a']);
  });
});

describe('places', () => {
  it('[ENG-92] are not kept by runs that ended with an outcome that nobody knows', async () => {
    const top = new BenchTop();
    await top.open();
    const flow = { nodes: { a: { action: 'pay@1', concurrency: { key: 'k', limit: 1 } } } };
    const first = await top.start(flow);
    const second = await top.start(flow);
    await top.engine.requestCancel(first, 'no');
    await top.clock.advance(1_000);
    expect(await top.status(first)).toBe('cancelled');
    expect(await top.statuses(second)).toEqual({ a: 'running' });
  });
});

describe('children', () => {
  const parent = { id: 'main', nodes: { call: { workflow: { id: 'sub', mode: 'child' } } } };

  it('[ENG-81] [ENG-216] of a workflow that debounces its starts are executions of their own all the same', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register({
      id: 'sub',
      config: { start: { key: "{{ 'one' }}", policy: 'debounce', window: '1h' } },
      nodes: { work: hand() },
    });
    const ids = [await top.start(parent), await top.start(parent)];
    await top.clock.advance(1_000);
    for (const call of top.calls) call.complete();
    await top.clock.advance(1_000);
    expect(await Promise.all(ids.map((id) => top.status(id)))).toEqual(['completed', 'completed']);
  });

  it('[ENG-30] go on with the runs that the engine was opened for', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register({ id: 'sub', nodes: { work: hand(), more: hand({ needs: ['work'] }) } });
    const executionId = await top.start(parent);
    await top.complete('work');
    await top.open({ only: [executionId] });
    await top.clock.advance(60_000);
    await top.complete('more');
    await top.clock.advance(1_000);
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-83] whose output is gone have failed', async () => {
    const top = new BenchTop();
    let isOff = false;
    await top.open({
      inlineLimitBytes: 100,
      wrapStore: (store) =>
        changed(store, {
          claimDue: (...args) =>
            isOff ? Promise.resolve({ executionIds: [], nextWakeAt: null, dueSince: null }) : store.claimDue(...args),
        }),
    });
    await top.register({ id: 'sub', nodes: { work: hand() } });
    const executionId = await top.start(parent);
    isOff = true;
    await top.complete('work', 'x'.repeat(500));
    const { rows } = await top.engine.list({ limit: 10 });
    await top.engine.delete(rows.find(({ workflowId }) => workflowId === 'sub')?.executionId as string);
    isOff = false;
    await top.open({ inlineLimitBytes: 100 });
    await top.clock.advance(60_000);
    expect(await top.engine.document(executionId)).toMatchObject({ status: 'failed', error: { code: 'BLOB_MISSING' } });
  });
});

describe('published signals', () => {
  it('[ENG-103] a wait that refused one gets the next', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({
      nodes: { w: { wait: { signal: 'go', schema: { type: 'object', required: ['n'] } } } },
    });
    await top.engine.publishSignal({ signal: 'go', payload: 'wrong' });
    await top.settle();
    expect(await top.statuses(executionId)).toEqual({ w: 'waiting' });
    await top.engine.publishSignal({ signal: 'go', payload: { n: 1 } });
    await top.settle();
    expect(await top.status(executionId)).toBe('completed');
  });
});

describe('forks', () => {
  it('[ENG-100] are there with what they were made for, or not at all', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: hand(), b: hand({ needs: ['a'] }) } });
    await top.complete('a', 1);
    await top.complete('b', 2);
    await top.open({ wrapStore: (store) => changed(store, { send: () => Promise.reject(new Error('crash')) }) });
    await top.engine.fork(executionId, 'b').catch(() => undefined);
    await top.open();
    await top.clock.advance(1_000);
    expect(top.ran).toEqual(['a', 'b', 'b']);
  });
});

describe('starts', () => {
  it('[ENG-98] one that comes when the run has just begun is a run of its own', async () => {
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
});

describe('data that is gone', () => {
  it('[ENG-111] stops the engine, and is told to whoever waits or starts', async () => {
    const top = new BenchTop();
    let isGone = false;
    const gone = () => new NebulaError('STORE_GONE', 'The data was deleted.');
    await top.open({
      wrapStore: (store) =>
        new Proxy(store, {
          get(target, key) {
            const value = Reflect.get(target, key) as unknown;
            if (typeof value !== 'function') return value;
            return (...args: unknown[]) => (isGone ? Promise.reject(gone()) : value.apply(target, args));
          },
        }),
    });
    const flow = { nodes: { a: hand(), b: hand({ needs: ['a'] }) } };
    const executionId = await top.start(flow);
    const waiting = top.engine.settled(executionId);
    const refused = expect(waiting).rejects.toMatchObject({ code: 'STORE_GONE' });
    isGone = true;
    await top.clock.advance(11_000);
    await refused;
    expect(top.call('a').signal.aborted).toBe(true);
    await expect(top.engine.start('test', 1)).rejects.toMatchObject({ code: 'STORE_GONE' });
    const told = top.events.filter(({ type }) => type === 'trouble').length;
    await top.clock.advance(60_000);
    expect(top.events.filter(({ type }) => type === 'trouble')).toHaveLength(told);
    const closed = top.engine.close();
    await top.clock.advance(1_000);
    await closed;
  });
});

describe('what comes too late, or twice', () => {
  it('[ENG-105] a start that is decided on after the wake-up that begins the run is not lost', async () => {
    const top = new BenchTop();
    const held: (() => void)[] = [];
    let isSlow = false;
    await top.open({
      wrapStore: (store) =>
        changed(store, {
          append: async (writes) => {
            if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
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
    for (const release of held.splice(0)) release();
    await other;
    await second;
    await top.clock.advance(60_000);
    expect(top.calls.filter(({ node }) => node === 'a').map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await second).toBe(first);
    expect(await top.store.inbox(first)).toEqual([]);
  });

  it('[ENG-110] a fork that is being copied, and a cached output, keep their blobs while others are swept', async () => {
    const top = new BenchTop();
    let release: (() => void) | undefined;
    let isSlow = false;
    await top.open({
      inlineLimitBytes: 100,
      wrapStore: (store) =>
        changed(store, {
          append: async (writes) => {
            if (isSlow) await new Promise<void>((resolve) => (release = resolve));
            return store.append(writes);
          },
        }),
    });
    const cache = { version: 1, ttl: '1d' };
    const old = await top.start({ nodes: { a: hand({ cache }), b: hand({ needs: ['a'] }) } });
    isSlow = true;
    const large = 'x'.repeat(500);
    await top.complete('a', large);
    await top.clock.advance(120_000);
    isSlow = false;
    release?.();
    await top.settle();
    await top.complete('b', 1);
    isSlow = true;
    const forking = top.engine.fork(old, 'b');
    await top.clock.advance(120_000);
    isSlow = false;
    release?.();
    const fork = await forking;
    expect(await top.engine.delete(old)).toBe(true);
    await top.clock.advance(120_000);
    expect(await top.engine.document(fork)).toMatchObject({ nodes: { a: { output: large } } });
    const third = await top.start({ nodes: { a: hand({ cache }) } });
    await top.clock.advance(10);
    expect(await top.engine.document(third)).toMatchObject({ status: 'completed', output: { a: large } });
  });

  it('[ENG-106] a moment whose answer was lost is given again', async () => {
    const top = new BenchTop();
    let losses = 2;
    await top.open({
      concurrency: 50,
      wrapStore: (store) =>
        changed(store, {
          append: async (writes) => {
            const outcomes = await store.append(writes);
            const isAsked = writes.some(({ permits }) => (permits?.rates?.length ?? 0) > 0);
            if (isAsked && losses-- > 0) throw new Error('the connection broke');
            return outcomes;
          },
        }),
    });
    const rateLimit = { key: 'api', limit: 1, per: '1h' };
    const flow = { nodes: { a: hand(), b: hand({ needs: ['a'], rateLimit }) } };
    const first = await top.start(flow);
    await top.complete('a');
    await top.clock.advance(60_000);
    expect(top.ran).toEqual(['a', 'b']);
    expect(await top.statuses(first)).toEqual({ a: 'completed', b: 'running' });
    await top.start(flow);
    await top.complete('a');
    await top.clock.advance(3_600_000 - 70_000);
    expect(top.ran).toEqual(['a', 'b', 'a']);
    await top.clock.advance(70_000);
    expect(top.ran).toEqual(['a', 'b', 'a', 'b']);
  });
});

describe('how long nodes take', () => {
  const diamond = (more: object = {}) => ({
    config: { maxParallelism: 1 },
    nodes: {
      begin: { action: 'echo@1' },
      short: hand({ needs: ['begin'] }),
      long: hand({ needs: ['begin'], ...more }),
      end: { action: 'echo@1', needs: ['short', 'long'] },
    },
  });

  async function run(top: BenchTop, definition: Record<string, unknown>): Promise<unknown> {
    const from = top.ran.length;
    const executionId = await top.start(definition);
    for (let n = 0; n < 2; n++) {
      const { node } = top.calls.at(-1) as { node: string };
      await top.clock.advance(node === 'long' ? 5_000 : 10);
      await top.complete(node);
    }
    expect(await top.status(executionId)).toBe('completed');
    const [first] = await top.engine.journal(executionId);
    const started = first?.entries[0] as { estimates?: unknown } | undefined;
    return { order: top.ran.slice(from), estimates: started?.estimates };
  }

  it('[ENG-113] the long branch is started first on the second run, and by the next process', async () => {
    const top = new BenchTop();
    await top.open();
    expect(await run(top, diamond())).toEqual({ order: ['begin', 'short', 'long', 'end'], estimates: undefined });
    const after = { order: ['begin', 'long', 'short', 'end'], estimates: { long: 5_000 } };
    expect(await run(top, diamond())).toEqual(after);
    await top.open();
    expect(await run(top, diamond())).toEqual(after);
    expect([...(await top.store.durations('test'))]).toEqual([['long', 5_000]]);
  });

  it('[ENG-113] what the definition says counts', async () => {
    const top = new BenchTop();
    await top.open();
    const estimated = diamond({ estimate: '1ms' });
    for (let n = 0; n < 2; n++) expect(await run(top, estimated)).toMatchObject({ estimates: undefined });
    expect([...(await top.store.durations('test'))]).toEqual([]);
  });

  it('[ENG-113] an average that moves by a good factor is written anew', async () => {
    const top = new BenchTop();
    await top.open();
    const flow = { nodes: { a: hand() } };
    const kept: unknown[] = [];
    for (const ms of [1_000, 1_100, 10_000, 9_000]) {
      await top.start(flow);
      await top.clock.advance(ms);
      await top.complete('a');
      kept.push((await top.store.durations('test')).get('a'));
    }
    expect(kept).toEqual([1_000, 1_000, 3_721, 3_721]);
  });
});
