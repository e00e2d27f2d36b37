import { NebulaError } from '@nebula/core';
import type { LoadRange, Write } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import { altered, BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });
const one = { nodes: { a: hand() } };

describe('a store that fails', () => {
  it('[ENG-281] a read shows no state before its frame is durable', async () => {
    const top = new BenchTop();
    let durable: Promise<void> | undefined;
    await top.open({
      wrapStore: altered((store) => ({
        append: async (writes: readonly Write[]) => {
          await durable;
          return store.append(writes);
        },
      })),
    });
    const { workflowId, version } = await top.register(one);
    const seen = async () => [top.engine.peek('exe_1')?.status, (await top.engine.document('exe_1'))?.status];
    const hold = () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      durable = promise;
      return async () => {
        resolve();
        await top.clock.advance(1);
      };
    };
    let release = hold();
    const starting = top.engine.start(workflowId, version, { executionId: 'exe_1' });
    await top.clock.advance(1);
    expect(await seen()).toEqual([undefined, undefined]);
    await release();
    await starting;
    expect(await seen()).toEqual(['running', 'running']);
    release = hold();
    await top.complete('a');
    expect(await seen()).toEqual([undefined, 'running']);
    // The run is read while its last frame is written.
    const ended = top.engine.waitFor('exe_1');
    await top.clock.advance(1);
    await release();
    expect(await ended).toMatchObject({ document: { status: 'completed' } });
    expect(await seen()).toEqual([undefined, 'completed']);
  });

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

  it('[ENG-57] stimuli are kept while the store can be neither written nor read', async () => {
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

  it('[ENG-57] a frame that the store cannot accept is written alone, and blocks no other run', async () => {
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
    await expect(top.engine.waitFor(executionId)).rejects.toMatchObject({ code: 'ENGINE_CLOSED' });
  });
});

describe('data that is gone', () => {
  it('[ENG-111] stops the engine, and rejects waiters and starts', async () => {
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
    const waiting = top.engine.waitFor(executionId);
    const refused = expect(waiting).rejects.toMatchObject({ code: 'STORE_GONE' });
    isGone = true;
    await top.clock.advance(11_000);
    await refused;
    expect(top.call('a').signal.aborted).toBe(true);
    await expect(top.engine.start('test', 1)).rejects.toMatchObject({ code: 'STORE_GONE' });
    const before = top.events.filter(({ type }) => type === 'trouble').length;
    await top.clock.advance(60_000);
    expect(top.events.filter(({ type }) => type === 'trouble')).toHaveLength(before);
    const closed = top.engine.close();
    await top.clock.advance(1_000);
    await closed;
  });
});
