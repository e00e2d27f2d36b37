import { describe, expect, it } from 'vitest';
import { BenchTop, changed } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });

describe('concurrency keys', () => {
  const one = { nodes: { a: hand({ concurrency: { key: '{{ $input.who }}', limit: 1 } }) } };

  it('[ENG-92] hold over all runs; a waiting node continues when a permit is released', async () => {
    const top = new BenchTop();
    await top.open();
    const first = await top.start(one, { who: 'ann' });
    const second = await top.start(one, { who: 'ann' });
    const other = await top.start(one, { who: 'bob' });
    expect(await Promise.all([first, second, other].map((id) => top.statuses(id)))).toEqual([
      { a: 'running' },
      { a: 'waiting' },
      { a: 'running' },
    ]);
    expect(top.data.runs.get(second)?.row.wakeAt).toBeNull();
    top.calls[0]?.complete();
    await top.untilIdle();
    expect(await top.statuses(second)).toEqual({ a: 'running' });
  });

  it('[ENG-92] a permit of a cancelled run, or of a dead process, is not lost', async () => {
    const top = new BenchTop();
    await top.open();
    const first = await top.start(one, { who: 'ann' });
    const second = await top.start(one, { who: 'ann' });
    const third = await top.start(one, { who: 'ann' });
    await top.engine.requestCancel(second, 'no');
    await top.untilIdle();
    await top.open();
    await top.clock.advance(1_000);
    // The attempt that was cut off released its permit, and waits for it again.
    expect(await top.statuses(third)).toEqual({ a: 'running' });
    for (const id of [third, first]) {
      top.calls.at(-1)?.complete();
      await top.untilIdle();
      expect(await top.status(id)).toBe('completed');
    }
  });

  it('[ENG-92] runs that ended with an unknown outcome hold no permits', async () => {
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

describe('concurrency keys in a finally', () => {
  it('[RUN-455] a permit that was granted and released when the run began to end is granted again', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 1 });
    const id = await top.start({
      nodes: { a: hand(), b: hand(), tidy: hand({ concurrency: { key: 'k', limit: 1 } }) },
      edges: [{ from: 'a', to: 'tidy', on: 'always' }],
    });
    top.calls[0]?.complete();
    await top.untilIdle();
    // The node has its permit, and waits for a slot.
    expect(await top.statuses(id)).toMatchObject({ b: 'running', tidy: 'queued' });
    await top.engine.requestCancel(id, 'enough');
    await top.untilIdle();
    top.calls[1]?.complete();
    await top.untilIdle();
    expect(await top.statuses(id)).toMatchObject({ tidy: 'running' });
    top.calls[2]?.complete();
    await top.untilIdle();
    expect(await top.status(id)).toBe('cancelled');
  });
});

describe('rate limits', () => {
  it('[ENG-93] spread the starts of many runs', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 50 });
    const definition = { nodes: { a: hand({ rateLimit: { key: 'api', limit: 2, per: '1s' } }) } };
    for (let n = 0; n < 5; n++) await top.start(definition);
    expect(top.ran).toHaveLength(2);
    await top.clock.advance(500);
    expect(top.ran).toHaveLength(2);
    await top.clock.advance(500);
    expect(top.ran).toHaveLength(4);
    await top.clock.advance(1_000);
    expect(top.ran).toHaveLength(5);
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
            const requestsRate = writes.some(({ permits }) => (permits?.rates?.length ?? 0) > 0);
            if (requestsRate && losses-- > 0) throw new Error('the connection broke');
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
