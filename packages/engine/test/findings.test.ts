/** One test for each suspicion that reading the engine as an enemy gave rise to. */
import type { Action, Json } from '@nebula/core';
import { memoryQueue, memoryStore } from '@nebula/drivers/memory';
import type { InboxRow, LoadRange, Store, Write } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../src/index.ts';
import { BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });
const one = { nodes: { a: hand() } };

/** A store whose methods can be replaced one by one. */
function altered(change: (store: Store) => Partial<Store>) {
  return (store: Store): Store => {
    const changed = change(store);
    return new Proxy(store, {
      get(target, key) {
        const own = Reflect.get(changed, key) as unknown;
        if (own !== undefined) return own;
        const value = Reflect.get(target, key) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
}

function inboxOf(top: BenchTop, executionId: string): number {
  return top.data.runs.get(executionId)?.inbox.size ?? 0;
}

function typeOf(entry: Json): Json | undefined {
  return (entry as { type?: Json }).type;
}

async function cached(top: BenchTop): Promise<number | undefined> {
  return (await top.engine.metrics()).gauges['engine.cached_runs'];
}

describe('slots', () => {
  it('[ENG-50] an attempt that the journal has given up gives its slot back', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 1 });
    const stuck = await top.start({ nodes: { stuck: { action: 'hang@1' } } });
    await top.engine.requestCancel(stuck, 'enough');
    await top.clock.advance(6_000);
    expect(await top.status(stuck)).toBe('cancelled');
    await top.start({ id: 'next', nodes: { next: hand() } });
    expect(top.ran).toEqual(['next']);
    expect((await top.engine.metrics()).gauges['workflow.parallel_tasks']).toBe(1);
  });
});

describe('slots that come in the middle of a turn', () => {
  it('[ENG-65] are given to those who wait, without anything else happening', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 1 });
    const stuck = await top.start({ nodes: { stuck: { action: 'hang@1' } } });
    await top.start({ id: 'next', nodes: { next: hand() } });
    expect(top.ran).toEqual([]);
    await top.engine.requestCancel(stuck, 'enough');
    await top.clock.advance(5_001);
    expect(top.ran).toEqual(['next']);
  });
});

describe('requests', () => {
  it('[ENG-51] what cannot be understood is consumed, and what stands behind it is heard', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start(one);
    const bodies = [
      '{ not json',
      'null',
      '[]',
      '{"type":"settle","node":"a"}',
      '{"type":"cancel"}',
      '{"type":"dance"}',
    ];
    for (const [index, body] of bodies.entries()) {
      await top.store.send({ messageId: `msg_${index}`, executionId, body }, top.clock.now());
    }
    await top.engine.requestCancel(executionId, 'enough');
    await top.clock.advance(100);
    expect(await top.status(executionId)).toBe('cancelled');
    expect(inboxOf(top, executionId)).toBe(0);
    expect(top.events.filter((event) => event.type === 'fault')).toEqual([]);
  });

  it('[ENG-51] a request to a finished run is consumed, changes nothing, and leaves nothing in memory', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start(one);
    await top.complete('a');
    await top.engine.requestCancel(executionId, 'too late');
    await top.engine.requestRetry(executionId);
    const body = JSON.stringify({ type: 'settle', node: 'a', settlement: { happened: true, output: 1 } });
    await top.store.send({ messageId: 'msg_late', executionId, body }, top.clock.now());
    await top.clock.advance(100);
    expect(top.data.runs.get(executionId)).toMatchObject({ row: { status: 'completed', wakeAt: null } });
    expect(top.data.runs.get(executionId)?.frames).toHaveLength(2);
    expect(inboxOf(top, executionId)).toBe(0);
    expect(await cached(top)).toBe(0);
    expect(top.events.filter((event) => event.type === 'finished')).toHaveLength(1);
  });

  it('[ENG-51] of two settlements the first counts, and a retry of a run that is not loaded works', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    await top.open();
    await top.settle();
    const asked = [
      top.engine.requestSettle(executionId, 'pay', { happened: false, then: 'fail' }),
      top.engine.requestSettle(executionId, 'pay', { happened: true, output: 1 }),
    ];
    await Promise.all(asked);
    await top.settle();
    expect(await top.engine.document(executionId)).toMatchObject({ status: 'failed', nodes: { pay: { attempts: 1 } } });
    expect(await cached(top)).toBe(0);
    await top.engine.requestRetry(executionId);
    await top.settle();
    expect(top.call('pay').attempt).toBe(2);
  });

  it('[ENG-51] a request whose frame the store refuses is acted on once, and then gone', async () => {
    const top = new BenchTop();
    let refusals = 0;
    const wrapStore = altered((store) => ({
      append: async (writes: readonly Write[]) => {
        if (refusals-- > 0) throw new Error('disk on fire');
        return store.append(writes);
      },
    }));
    await top.open({ wrapStore });
    const executionId = await top.start(one);
    await top.fail('a');
    refusals = 2;
    await top.engine.requestRetry(executionId);
    await top.clock.advance(1_000);
    expect(top.call('a').attempt).toBe(2);
    expect(inboxOf(top, executionId)).toBe(0);
    await top.fail('a');
    await top.clock.advance(60_000);
    const journal = await top.engine.journal(executionId);
    const reopened = journal.flatMap(({ entries }) => entries).filter((entry) => typeOf(entry) === 'run.reopened');
    expect(reopened).toHaveLength(1);
  });

  it('[ENG-51] a request whose frame was written although its answer was lost is not acted on again', async () => {
    const top = new BenchTop();
    let isLost = false;
    const wrapStore = altered((store) => ({
      append: async (writes: readonly Write[]) => {
        const outcomes = await store.append(writes);
        if (isLost) {
          isLost = false;
          throw new Error('the connection broke');
        }
        return outcomes;
      },
    }));
    await top.open({ wrapStore });
    // A retry of it fails in the very frame that begins it.
    const executionId = await top.start({ nodes: { a: hand({ with: { x: '{{ $input.nothing.here }}' } }) } });
    isLost = true;
    await top.engine.requestRetry(executionId);
    await top.clock.advance(10_000);
    const journal = await top.engine.journal(executionId);
    const reopened = journal.flatMap(({ entries }) => entries).filter((entry) => typeOf(entry) === 'run.reopened');
    expect(reopened).toHaveLength(1);
    expect(await cached(top)).toBe(0);
  });

  it('[ENG-51] a request that a late reading of the inbox shows again is not acted on again', async () => {
    const top = new BenchTop();
    const seen: InboxRow[] = [];
    const wrapStore = altered((store) => ({
      inbox: async (executionId) => {
        seen.push(...(await store.inbox(executionId)));
        return seen;
      },
    }));
    await top.open({ wrapStore, concurrency: 2 });
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1', timeout: '1s' }, long: hand() } });
    await top.clock.advance(1_000);
    await top.engine.requestSettle(executionId, 'pay', { happened: false, then: 'retry' });
    await top.clock.advance(1_000);
    expect(await top.engine.document(executionId)).toMatchObject({
      nodes: { pay: { status: 'unknown', attempts: 2 } },
    });
    await top.engine.requestRetry(executionId);
    await top.clock.advance(1_000);
    expect(top.ran.filter((node) => node === 'pay')).toHaveLength(2);
  });

  it('[ENG-51] cancel reaches a run that is not in memory', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: hand({ retry: { attempts: 2, delay: '1d' } }) } });
    await top.fail('a');
    expect(await cached(top)).toBe(0);
    await top.engine.requestCancel(executionId, 'enough');
    await top.settle();
    expect(await top.status(executionId)).toBe('cancelled');
    expect(await cached(top)).toBe(0);
  });

  it('[ENG-52] retry leaves an unknown outcome to people: once is not run twice', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' }, b: hand({ needs: ['pay'] }) } });
    await top.open();
    await top.settle();
    await top.engine.requestCancel(executionId, 'enough');
    await top.settle();
    expect(await top.statuses(executionId)).toEqual({ pay: 'unknown', b: 'cancelled' });
    await top.engine.requestRetry(executionId);
    await top.settle();
    expect(await top.statuses(executionId)).toEqual({ pay: 'unknown', b: 'pending' });
    expect(top.ran).toEqual(['pay']);
    expect(await top.engine.settled(executionId)).toMatchObject({ parked: true });
    await top.engine.requestSettle(executionId, 'pay', { happened: true, output: 7 });
    await top.settle();
    expect(top.ran).toEqual(['pay', 'b']);
  });
});

describe('verify', () => {
  /** `pay` with a verify that the test answers by hand. */
  function verifying(top: BenchTop) {
    const asked: ((verdict: unknown) => void)[] = [];
    const verify = () => new Promise<never>((resolve) => asked.push(resolve as (verdict: unknown) => void));
    const actions: Action[] = top.actions.map((action) => (action.id === 'pay' ? { ...action, verify } : action));
    return { asked, actions };
  }

  it('[ENG-52] what was found out about one attempt is not used for a later one', async () => {
    const top = new BenchTop();
    const { asked, actions } = verifying(top);
    await top.open({ actions });
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1', timeout: '1s' } } });
    await top.clock.advance(1_000);
    expect(asked).toHaveLength(1);
    await top.engine.requestSettle(executionId, 'pay', { happened: false, then: 'retry' });
    await top.settle();
    expect(top.call('pay').attempt).toBe(2);
    await top.clock.advance(1_000);
    expect(asked).toHaveLength(2);
    // The first answer comes late: it knows nothing of the second attempt.
    asked[0]?.({ happened: false });
    await top.settle();
    expect(top.ran).toEqual(['pay', 'pay']);
    asked[1]?.({ happened: true, output: 'paid' });
    await top.settle();
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'completed',
      nodes: { pay: { output: 'paid' } },
    });
  });

  it('[ENG-66] a verify that never answers is given up, and a person is asked', async () => {
    const top = new BenchTop();
    const { asked, actions } = verifying(top);
    await top.open({ actions });
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    await top.open({ actions });
    await top.settle();
    expect(asked).toHaveLength(1);
    const settled = top.engine.settled(executionId);
    await top.clock.advance(61_000);
    expect(await settled).toMatchObject({ parked: true, waitingFor: [{ node: 'pay', status: 'unknown' }] });
    expect(await cached(top)).toBe(0);
    asked[0]?.({ happened: true, output: null });
    await top.settle();
    expect(await top.statuses(executionId)).toEqual({ pay: 'unknown' });
  });

  it('[ENG-53] a finished run is not verified, and a late answer does not bring it back into memory', async () => {
    const top = new BenchTop();
    const { asked, actions } = verifying(top);
    await top.open({ actions });
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1', timeout: '1s' } } });
    await top.clock.advance(1_000);
    await top.engine.requestCancel(executionId, 'enough');
    await top.settle();
    expect(await top.status(executionId)).toBe('cancelled');
    asked[0]?.({ happened: false });
    await top.settle();
    expect(asked).toHaveLength(1);
    expect(await top.statuses(executionId)).toEqual({ pay: 'unknown' });
    expect(await cached(top)).toBe(0);
  });
});

describe('starting', () => {
  it('[ENG-1] a start that cannot be written is refused, not forgotten', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId, version } = await top.register(one);
    const refused = top.engine.start(workflowId, version, { input: { n: 10n } as unknown as Json });
    const outcome = expect(refused).rejects.toThrow('BigInt');
    await top.settle();
    await outcome;
    expect(await cached(top)).toBe(0);
  });

  it('[ENG-20] the second of two starts with one id is durable, too, when it resolves', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId, version } = await top.register(one);
    const durable: boolean[] = [];
    const start = async (): Promise<void> => {
      await top.engine.start(workflowId, version, { executionId: 'exe_mine' });
      durable.push(top.data.runs.has('exe_mine'));
    };
    const both = Promise.all([start(), start()]);
    await top.settle();
    await both;
    expect(durable).toEqual([true, true]);
  });

  it('[ENG-64] a start whose answer was lost goes on, although its caller was told of the trouble', async () => {
    const top = new BenchTop();
    let isLost = true;
    const wrapStore = altered((store) => ({
      append: async (writes: readonly Write[]) => {
        const outcomes = await store.append(writes);
        if (isLost) throw new Error('the connection broke');
        return outcomes;
      },
    }));
    await top.open({ wrapStore });
    const { workflowId, version } = await top.register(one);
    const start = () => top.engine.start(workflowId, version, { executionId: 'exe_mine' });
    const refused = expect(start()).rejects.toThrow('the connection broke');
    await top.settle();
    await refused;
    isLost = false;
    await top.clock.advance(200);
    expect(top.call('a').attempt).toBe(2);
    expect(await start()).toBe('exe_mine');
    await top.complete('a');
    expect(await top.status('exe_mine')).toBe('completed');
  });

  it('[ENG-54] an execution id is a plain word', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId, version } = await top.register(one);
    for (const executionId of ['', '../../etc', 'a b', 'a:b', 'ä', 'x'.repeat(201), '\ud800']) {
      const refused = top.engine.start(workflowId, version, { executionId });
      await expect(refused).rejects.toMatchObject({ code: 'EXECUTION_ID_INVALID' });
    }
    expect(top.data.runs.size).toBe(0);
  });
});

describe('memory', () => {
  it('[ENG-53] waiting for a parked run does not keep it in memory', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    await top.open();
    await top.settle();
    expect(await cached(top)).toBe(0);
    expect(await top.engine.settled(executionId)).toMatchObject({ parked: true });
    expect(await cached(top)).toBe(0);
  });

  it('[ENG-55] a full memory does not keep the runs in it from their timers and requests', async () => {
    const top = new BenchTop();
    await top.open({ maxCachedRuns: 2, concurrency: 10 });
    const retry = { attempts: 2, delay: '500ms' };
    const { workflowId, version } = await top.register({ nodes: { a: hand({ retry }) } });
    const started = Promise.all(
      [1, 2, 3].map((n) => top.engine.start(workflowId, version, { executionId: `exe_${n}` })),
    );
    await top.settle();
    await started;
    for (const call of [...top.calls]) call.fail();
    await top.clock.advance(1_000);
    expect(top.calls.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 2, 2, 2]);
    await top.engine.requestCancel('exe_2', 'enough');
    await top.clock.advance(200);
    expect(await top.status('exe_2')).toBe('cancelled');
  });

  it('[ENG-55] runs that found no room are gone on with when there is some', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 10 });
    const { workflowId, version } = await top.register(one);
    const ids = [1, 2, 3, 4, 5].map((n) => `exe_${n}`);
    const started = Promise.all(ids.map((executionId) => top.engine.start(workflowId, version, { executionId })));
    await top.settle();
    await started;
    await top.open({ maxCachedRuns: 2, concurrency: 10 });
    for (let round = 0; round < 20; round++) {
      expect(await cached(top)).toBeLessThanOrEqual(2);
      for (const call of top.calls) call.complete();
      await top.clock.advance(500);
    }
    expect(await Promise.all(ids.map((id) => top.status(id)))).toEqual(ids.map(() => 'completed'));
  });

  it('[ENG-56] a run that leaves memory while it is being woken is loaded again', async () => {
    const top = new BenchTop();
    let isSlow = false;
    const wrapStore = altered((store) => ({
      inbox: async (executionId) => {
        const messages = await store.inbox(executionId);
        if (isSlow) await new Promise<void>((resolve) => top.clock.timer(20, resolve));
        return messages;
      },
    }));
    await top.open({ wrapStore });
    const executionId = await top.start(one);
    isSlow = true;
    await top.engine.requestRetry(executionId);
    await top.clock.advance(10);
    // While its inbox is read it fails, ends, and leaves memory; the retry in the inbox is acted on all the same.
    await top.fail('a');
    expect(await top.status(executionId)).toBe('failed');
    await top.clock.advance(100);
    expect(top.call('a').attempt).toBe(2);
    expect(inboxOf(top, executionId)).toBe(0);
    await top.complete('a');
    expect(await cached(top)).toBe(0);
  });
});

describe('trouble', () => {
  it('[ENG-57] a value that cannot be stored holds up its own run only', async () => {
    const top = new BenchTop();
    const { put } = top.blobs;
    let isFull = true;
    top.blobs.put = async (executionId, sha256, data) => {
      if (isFull && executionId === 'exe_big') throw new Error('no space for blobs');
      return put.call(top.blobs, executionId, sha256, data);
    };
    await top.open({ inlineLimitBytes: 1_000, concurrency: 10 });
    const big = { text: '{{ "x".repeat(2000) }}' };
    const { workflowId, version } = await top.register({
      nodes: { first: hand(), large: { action: 'echo@1', needs: ['first'], with: big } },
    });
    const starting = top.engine.start(workflowId, version, { executionId: 'exe_big' });
    const other = await top.start({ id: 'other', nodes: { a: hand(), b: hand({ needs: ['a'] }) } });
    await starting;
    top.call('first').complete();
    top.call('a').complete();
    await top.clock.advance(10);
    expect(await top.statuses(other)).toEqual({ a: 'completed', b: 'running' });
    isFull = false;
    await top.clock.advance(10_000);
    expect(await top.status('exe_big')).toBe('completed');
  });

  it('[ENG-57] what happened is kept while the store can be neither written nor read', async () => {
    const top = new BenchTop();
    let isDown = false;
    const fails =
      <A extends unknown[], R>(method: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        if (isDown) throw new Error('the database is away');
        return method(...args);
      };
    const wrapStore = altered((store) => ({
      append: fails((writes: readonly Write[]) => store.append(writes)),
      load: fails((executionId: string, range?: LoadRange) => store.load(executionId, range)),
      execution: fails((executionId: string) => store.execution(executionId)),
    }));
    await top.open({ wrapStore });
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    isDown = true;
    await top.complete('pay', 'paid');
    await top.clock.advance(120_000);
    isDown = false;
    await top.clock.advance(10_000);
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'completed',
      nodes: { pay: { output: 'paid', attempts: 1 } },
    });
    expect(top.events.filter((event) => event.type === 'fault')).toEqual([]);
  });

  it('[ENG-57] a frame that the store cannot take is written alone, and holds up nobody else', async () => {
    const top = new BenchTop();
    let isPoisonous = true;
    let isSlow = false;
    const together: number[] = [];
    const wrapStore = altered((store) => ({
      append: async (writes: readonly Write[]) => {
        if (writes.some(({ frame }) => frame?.entries.includes('POISON'))) {
          together.push(writes.length);
          if (isPoisonous) throw new Error('cannot take this');
        }
        // Slow, so that mail of both runs gathers meanwhile.
        if (isSlow) await new Promise<void>((resolve) => top.clock.timer(60, resolve));
        return store.append(writes);
      },
    }));
    await top.open({ wrapStore, concurrency: 10 });
    const poisonous = await top.start({ nodes: { p: hand(), q: hand({ needs: ['p'] }) } });
    const nodes = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`n${n}`, hand(n === 0 ? {} : { needs: [`n${n - 1}`] })]),
    );
    const other = await top.start({ id: 'other', nodes });
    const third = await top.start({ id: 'third', nodes: { busy: hand({ retry: { attempts: 1_000, delay: '0s' } }) } });
    isSlow = true;
    top.call('p').complete('POISON');
    for (let round = 0; round < 150; round++) {
      for (const call of top.calls) call.node === 'busy' ? call.fail() : call.node.startsWith('n') && call.complete();
      await top.clock.advance(35);
    }
    expect(await top.status(other)).toBe('completed');
    expect(await top.status(third)).toBe('running');
    expect(together[0]).toBeGreaterThan(1);
    expect(together.length).toBeGreaterThan(3);
    expect(new Set(together.slice(1))).toEqual(new Set([1]));
    isPoisonous = false;
    await top.clock.advance(10_000);
    expect(await top.statuses(poisonous)).toMatchObject({ p: 'completed', q: 'running' });
    expect(top.call('p').attempt).toBe(1);
  });

  it('[ENG-58] a closed engine does nothing more, whatever the store does', async () => {
    const top = new BenchTop();
    let appends = 0;
    let isBroken = false;
    const wrapStore = altered((store) => ({
      append: async (writes: readonly Write[]) => {
        appends++;
        if (isBroken) throw new Error('disk on fire');
        return store.append(writes);
      },
    }));
    await top.open({ wrapStore });
    const executionId = await top.start(one);
    isBroken = true;
    await top.complete('a');
    const closed = top.engine.close({ graceMs: 500 });
    await top.clock.advance(2_000);
    await closed;
    const before = appends;
    await top.clock.advance(600_000);
    expect(appends).toBe(before);
    await expect(top.engine.settled(executionId)).rejects.toMatchObject({ code: 'ENGINE_CLOSED' });
  });

  it('[ENG-59] a workflow whose action is gone is told, does not spin, and goes on when the action is back', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start(one);
    const without = top.actions.filter(({ id }) => id !== 'hand');
    await top.open({ actions: without });
    await top.clock.advance(90_000);
    const faults = top.events.filter((event) => event.type === 'fault');
    expect(faults.length).toBeGreaterThanOrEqual(3);
    expect(faults.length).toBeLessThanOrEqual(5);
    expect(faults[0]).toMatchObject({ executionId, error: { code: 'PLAN_INVALID' } });
    expect(await cached(top)).toBe(0);
    await expect(top.engine.document(executionId)).rejects.toMatchObject({ code: 'PLAN_INVALID' });
    await top.open();
    await top.settle();
    expect(top.call('a').attempt).toBe(2);
  });

  it('[ENG-60] a damaged snapshot is passed over', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: hand(), b: hand({ needs: ['a'] }) } });
    await top.complete('a');
    const run = top.data.runs.get(executionId);
    if (run !== undefined) run.snapshot = { seq: run.frames.length, state: '{ damaged' };
    await top.open();
    await top.settle();
    expect(top.call('b').attempt).toBe(2);
  });

  it('[ENG-27] a run that is loaded from a snapshot alone knows the time of its last frame', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 1_000_000 });
    const executionId = await top.start({ nodes: { a: hand(), b: hand({ needs: ['a'] }) } });
    await top.complete('a', 'y'.repeat(300_000));
    const run = top.data.runs.get(executionId);
    expect(run?.snapshot?.seq).toBe(run?.frames.length);
    const real = top.clock.now.bind(top.clock);
    top.clock.now = () => real() - 60_000;
    // Due in the future of a clock that went back; a request wakes it.
    await top.open({ inlineLimitBytes: 1_000_000 });
    await top.engine.requestCancel(executionId, 'enough');
    await top.clock.advance(100);
    const times = (await top.engine.journal(executionId)).map(({ at }) => at);
    expect(times.length).toBeGreaterThan(2);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  it('[VIEW-6] a snapshot is told with the next frame, once', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 1_000_000 });
    const executionId = await top.start({ nodes: { a: hand(), b: hand({ needs: ['a'] }), c: hand({ needs: ['b'] }) } });
    await top.complete('a', 'y'.repeat(300_000));
    const seq = top.data.runs.get(executionId)?.snapshot?.seq;
    const checkpoints = async () =>
      (await top.engine.timeline(executionId)).filter(({ type }) => type === 'StateCheckpointed');
    expect(await checkpoints()).toEqual([]);
    await top.complete('b');
    expect(await checkpoints()).toMatchObject([{ node: null, details: { seq } }]);
    await top.complete('c');
    expect(await checkpoints()).toHaveLength(1);
  });

  it('[ENG-23] the blobs of a run that is just being created are no orphans', async () => {
    const top = new BenchTop();
    const wrapStore = altered((store) => ({
      append: async (writes: readonly Write[]) => {
        await new Promise<void>((resolve) => top.clock.timer(200, resolve));
        return store.append(writes);
      },
    }));
    await top.open({ wrapStore, inlineLimitBytes: 100 });
    const { workflowId, version } = await top.register({
      nodes: { a: hand(), b: { action: 'echo@1', needs: ['a'], with: { x: '{{ $input.t }}' } } },
    });
    await top.clock.advance(59_900);
    const started = top.engine.start(workflowId, version, { input: { t: 'x'.repeat(500) } });
    await top.clock.advance(1_000);
    const executionId = await started;
    await top.open({ inlineLimitBytes: 100 });
    await top.settle();
    await top.complete('a');
    await top.settle();
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'completed',
      output: { b: { x: 'x'.repeat(500) } },
    });
  });
});

describe('an engine for certain runs', () => {
  it('[ENG-30] cares for the runs that it starts itself', async () => {
    const top = new BenchTop();
    await top.open({ only: [] });
    await top.start({ nodes: { a: hand({ retry: { attempts: 2, delay: '90s' } }) } });
    await top.fail('a');
    await top.clock.advance(90_000);
    expect(top.call('a').attempt).toBe(2);
  });
});

describe('large values', () => {
  it('[ENG-61] a large value that nobody foresaw is fetched, and nothing that happened is lost', async () => {
    const top = new BenchTop();
    const options = { inlineLimitBytes: 1_000 };
    await top.open(options);
    const nodes: Record<string, unknown> = {
      big: hand(),
      go: hand({ needs: ['big'] }),
      side: hand({ needs: ['big'] }),
    };
    // A way of passed-over nodes, longer than anybody looks ahead, leads to a condition on the large value.
    for (let n = 0; n < 100; n++) nodes[`off${n}`] = hand({ enabled: false, needs: [n === 0 ? 'go' : `off${n - 1}`] });
    nodes.far = { action: 'echo@1', needs: ['off99'], when: '$nodes.big.output.length == 2000', with: { n: 1 } };
    const executionId = await top.start({ nodes });
    await top.complete('big', 'x'.repeat(2_000));
    await top.open(options);
    await top.settle();
    top.call('go').complete('gone');
    top.call('side').complete('beside');
    await top.clock.advance(1_000);
    expect(top.events.filter((event) => event.type === 'fault')).toEqual([]);
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'completed',
      output: { far: { n: 1 }, side: 'beside' },
      nodes: { go: { output: 'gone', attempts: 2 } },
    });
  });

  it('[ENG-61] parameters that cannot be resolved may lead anywhere that large values are read', async () => {
    const top = new BenchTop();
    const options = { inlineLimitBytes: 1_000 };
    await top.open(options);
    const big = 'x'.repeat(2_000);
    const executionId = await top.start({
      nodes: {
        a: hand(),
        wait: hand({ needs: ['a'] }),
        broken: { action: 'echo@1', needs: ['wait'], onError: 'ignore', with: { x: '{{ $input.nothing.here }}' } },
        then: { action: 'echo@1' },
      },
      edges: [{ from: 'broken', to: 'then', when: '$nodes.a.output.length == 2000' }],
      output: '{{ $nodes.a.output.length }}',
    });
    await top.complete('a', big);
    await top.open(options);
    await top.settle();
    await top.complete('wait');
    await top.clock.advance(1_000);
    expect(top.events.filter((event) => event.type === 'fault')).toEqual([]);
    expect(await top.engine.document(executionId)).toMatchObject({ status: 'completed', output: 2_000 });
  });
});

describe('engines that share a store', () => {
  /** Two engines on the same data; the first one can be kept from looking for what is due. */
  async function two(top: BenchTop, concurrency: number) {
    const shared = () => memoryStore({ data: top.data, exclusive: false });
    const first = { isDeaf: false };
    const wrapStore = altered(() => {
      const store = shared();
      const claimDue: Store['claimDue'] = (...args) =>
        first.isDeaf
          ? Promise.resolve({ executionIds: [], nextWakeAt: null, dueSince: null })
          : store.claimDue(...args);
      return { ...store, exclusive: false, claimDue };
    });
    await top.open({ wrapStore, concurrency });
    const drivers = { ...top.drivers, store: shared(), queue: memoryQueue({ clock: top.clock }), clock: top.clock };
    const second = createEngine(drivers, { actions: top.actions, concurrency });
    return { first, second };
  }

  it('[ENG-63] one that saw a run last long ago reads its journal before it says when to wake it', async () => {
    const top = new BenchTop();
    const { first, second } = await two(top, 1);
    const retry = { attempts: 3, delay: '5s' };
    const executionId = await top.start({ config: { maxParallelism: 1 }, nodes: { a: hand(), b: hand({ retry }) } });
    first.isDeaf = true;
    const opened = second.open();
    await top.clock.advance(31_000);
    await opened;
    // The second engine has looked at the run, and keeps it, since `b` waits for a slot.
    expect(second.peek(executionId)).toMatchObject({ nodes: { a: { status: 'running' }, b: { status: 'queued' } } });
    await top.complete('a');
    await top.fail('b');
    expect(second.peek(executionId)).toMatchObject({ nodes: { a: { status: 'running' } } });
    await top.clock.advance(5_000);
    expect(top.call('b').attempt).toBe(2);
    await top.complete('b');
    await top.clock.advance(60_000);
    expect(await top.status(executionId)).toBe('completed');
    expect(await cached(top)).toBe(0);
    expect((await second.metrics()).gauges['engine.cached_runs']).toBe(0);
  });
});
