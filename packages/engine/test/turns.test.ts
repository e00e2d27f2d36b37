import type { Action } from '@nebula/core';
import type { Store, Write } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import { altered, BenchTop } from './bench-top.ts';

const chain = (action: string, length: number) => ({
  nodes: Object.fromEntries(
    Array.from({ length }, (_, index) => [
      `n${index}`,
      { action, ...(index === 0 ? {} : { needs: [`n${index - 1}`] }) },
    ]),
  ),
});

/** A store that writes down what it is asked to append, and may be told to fail. */
function spying(log: (readonly Write[])[], fault: { next?: Error | undefined } = {}) {
  return (store: Store): Store =>
    new Proxy(store, {
      get(target, key) {
        if (key !== 'append') return Reflect.get(target, key).bind?.(target) ?? Reflect.get(target, key);
        return async (writes: readonly Write[]) => {
          if (fault.next !== undefined) throw fault.next;
          log.push(writes);
          return target.append(writes);
        };
      },
    });
}

describe('messages and effects', () => {
  it('[ENG-324] a message that is being written is not acted on again by the next wake-up', async () => {
    const top = new BenchTop();
    const held: (() => void)[] = [];
    let isSlow = false;
    const wrapStore = altered((store) => ({
      append: async (writes: readonly Write[]) => {
        if (isSlow) await new Promise<void>((resolve) => held.push(resolve));
        return store.append(writes);
      },
    }));
    await top.open({ wrapStore });
    const executionId = await top.start({ nodes: { a: { action: 'hand@1' } } });
    isSlow = true;
    for (const payload of [1, 2]) {
      await top.engine.requestSignal(executionId, { signal: 's', key: '', payload });
      await top.untilIdle();
    }
    expect(held).toHaveLength(1);
    isSlow = false;
    held[0]?.();
    await top.untilIdle();
    const entries = (await top.engine.journal(executionId)).flatMap((frame) => frame.entries);
    const kept = entries.filter((entry) => (entry as { type: string }).type === 'signal.kept');
    expect(kept).toMatchObject([{ payload: { value: 1 } }, { payload: { value: 2 } }]);
  });

  it('[ENG-325] an action whose effect cannot be told is not repeated', async () => {
    const top = new BenchTop();
    const effect = () => {
      throw new Error('the input says nothing');
    };
    const odd: Action = { id: 'odd', version: '1', effect, run: () => new Promise<never>(() => {}) };
    const options = { actions: [...top.actions, odd] };
    await top.open(options);
    const executionId = await top.start({ nodes: { a: { action: 'odd@1' } } });
    await top.open(options);
    await top.clock.advance(1_000);
    expect(await top.statuses(executionId)).toEqual({ a: 'unknown' });
  });
});

describe('turns', () => {
  it('[ENG-1] a started run is durable when start resolves', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: { action: 'hand@1' } } }, { x: 1 });
    expect(executionId).toMatch(/^exe_/);
    expect(top.data.runs.get(executionId)?.frames).toHaveLength(1);
    expect(top.data.runs.get(executionId)?.row).toMatchObject({ status: 'running', workflowId: 'test', version: 1 });
  });

  it('[ENG-2] an action is called only after its start is durable', async () => {
    const top = new BenchTop();
    const fault: { next?: Error | undefined } = {};
    await top.open({ wrapStore: spying([], fault) });
    const executionId = await top.start({ nodes: { a: { action: 'hand@1' }, b: { action: 'hand@1', needs: ['a'] } } });
    fault.next = new Error('disk on fire');
    await top.complete('a');
    expect(top.ran).toEqual(['a']);
    fault.next = undefined;
    await top.clock.advance(200);
    expect(top.ran).toEqual(['a', 'b']);
    expect(await top.statuses(executionId)).toEqual({ a: 'completed', b: 'running' });
  });

  it('[ENG-3] finish and start share a frame: a chain of n nodes takes n + 1', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start(chain('echo@1', 10));
    expect(await top.status(executionId)).toBe('completed');
    expect(top.data.runs.get(executionId)?.frames).toHaveLength(11);
  });

  it('[ENG-4] frames of many runs go out as one append', async () => {
    const top = new BenchTop();
    const log: (readonly Write[])[] = [];
    await top.open({ wrapStore: spying(log), concurrency: 100 });
    const { workflowId, version } = await top.register(chain('echo@1', 5));
    const started = Array.from({ length: 50 }, () => top.engine.start(workflowId, version));
    await top.untilIdle();
    await Promise.all(started);
    const sizes = log.map((writes) => writes.length).filter((size) => size > 0);
    expect(sizes).toEqual([50, 50, 50, 50, 50, 50]);
  });

  it('[ENG-5] no more attempts at once than allowed, the urgent first', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 2 });
    await top.start({ nodes: { a: { action: 'hand@1' }, b: { action: 'hand@1' }, c: { action: 'hand@1' } } });
    await top.start({ id: 'other', nodes: { urgent: { action: 'hand@1', priority: 9 } } });
    expect(top.ran).toEqual(['a', 'b']);
    await top.complete('a');
    expect(top.ran).toEqual(['a', 'b', 'urgent']);
    await top.complete('urgent');
    expect(top.ran).toEqual(['a', 'b', 'urgent', 'c']);
  });

  it('[ENG-6] a run that another engine wrote to is read again, and no outcome is lost', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: { action: 'hand@1' }, b: { action: 'hand@1', needs: ['a'] } } });
    const frames = top.data.runs.get(executionId)?.frames ?? [];
    const entries = JSON.stringify([]);
    const [outcome] = await top.store.append([{ executionId, frame: { seq: frames.length + 1, at: 1, entries } }]);
    expect(outcome?.ok).toBe(true);
    await top.complete('a', 42);
    expect(await top.statuses(executionId)).toEqual({ a: 'completed', b: 'running' });
    expect((await top.engine.metrics()).counters).toMatchObject({ 'engine.conflicts': 1, 'engine.reloads': 1 });
    expect(top.ran).toEqual(['a', 'b']);
  });

  it('[ENG-7] a run that cannot be read leaves the others alone', async () => {
    const top = new BenchTop();
    await top.open();
    const broken = await top.start({ nodes: { a: { action: 'hand@1' } } });
    const healthy = await top.start({ id: 'other', nodes: { h: { action: 'hand@1' } } });
    const run = top.data.runs.get(broken);
    const frames = run?.frames as { entries: string }[];
    (frames[0] as { entries: string }).entries = '{ not json';
    const [outcome] = await top.store.append([{ executionId: broken, frame: { seq: 2, at: 1, entries: '[]' } }]);
    expect(outcome?.ok).toBe(true);
    await top.complete('a');
    await top.complete('h');
    expect(await top.status(healthy)).toBe('completed');
    const fault = top.events.find((event) => event.type === 'fault');
    expect(fault).toMatchObject({ executionId: broken, error: { code: 'JOURNAL_CORRUPT' } });
  });

  it('[ENG-8] a write that the store refuses is tried again, and reported', async () => {
    const top = new BenchTop();
    const fault: { next?: Error | undefined } = {};
    await top.open({ wrapStore: spying([], fault) });
    const executionId = await top.start(chain('hand@1', 2));
    fault.next = new Error('no space left');
    await top.complete('n0', { kept: true });
    await top.clock.advance(5_000);
    expect(top.events.filter((event) => event.type === 'trouble').length).toBeGreaterThan(2);
    const { workflowId, version } = await top.register(chain('echo@1', 1));
    const refused = top.engine.start(workflowId, version);
    const outcome = expect(refused).rejects.toThrow('no space left');
    await top.clock.advance(10_000);
    await outcome;
    fault.next = undefined;
    await top.clock.advance(10_000);
    expect((await top.engine.document(executionId))?.nodes.n0).toMatchObject({
      status: 'completed',
      output: { kept: true },
    });
    expect(top.call('n1').attempt).toBe(1);
  });

  it('[ENG-27] journal times do not go back when the clock does', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start(chain('hand@1', 2));
    const before = top.clock.now();
    const real = top.clock.now.bind(top.clock);
    top.clock.now = () => real() - 60_000;
    await top.complete('n0');
    await top.complete('n1');
    const times = (await top.engine.journal(executionId)).map((frame) => frame.at);
    expect(times).toEqual([before, before, before]);
    expect(await top.status(executionId)).toBe('completed');
  });
});

describe('a loop without workers', () => {
  it('[ENG-102] of many iterations is divided into turns, and ends', async () => {
    const top = new BenchTop();
    await top.open();
    const list = Array.from({ length: 5_000 }, (_, n) => n);
    const body = { nodes: { s: { set: { v: '{{ $item }}' } } }, output: '{{ $item + 1 }}' };
    const executionId = await top.start({ nodes: { each: { forEach: { in: '$input.list' }, do: body } } }, { list });
    await top.clock.advance(10);
    expect(await top.engine.document(executionId)).toMatchObject({ status: 'completed' });
    expect((await top.engine.journal(executionId)).length).toBeGreaterThan(4);
  });
});
