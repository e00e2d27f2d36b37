import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });

describe('concurrency keys', () => {
  const one = { nodes: { a: hand({ concurrency: { key: '{{ $input.who }}', limit: 1 } }) } };

  it('[ENG-92] hold over all runs; who waits goes on when a place is given back', async () => {
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
    await top.settle();
    expect(await top.statuses(second)).toEqual({ a: 'running' });
  });

  it('[ENG-92] a place of a run that is cancelled, or whose process dies, is not lost', async () => {
    const top = new BenchTop();
    await top.open();
    const first = await top.start(one, { who: 'ann' });
    const second = await top.start(one, { who: 'ann' });
    const third = await top.start(one, { who: 'ann' });
    await top.engine.requestCancel(second, 'no');
    await top.settle();
    await top.open();
    await top.clock.advance(1_000);
    // The attempt that was cut off gave its place back, and stands in line again.
    expect(await top.statuses(third)).toEqual({ a: 'running' });
    for (const id of [third, first]) {
      top.calls.at(-1)?.complete();
      await top.settle();
      expect(await top.status(id)).toBe('completed');
    }
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
    expect(top.ran).toHaveLength(3);
    await top.clock.advance(1_000);
    expect(top.ran).toHaveLength(5);
  });
});

describe('the cache', () => {
  const flow = (cache: object = {}) => ({
    nodes: { a: hand({ cache: { version: 1, ...cache }, with: { n: '{{ $input.n }}', at: '{{ $input.at }}' } }) },
  });

  it('[ENG-94] gives the output of an earlier run with the same input, minus what is ignored', async () => {
    const top = new BenchTop();
    await top.open();
    const first = await top.start(flow({ ignore: ['at'] }), { n: 1, at: 1 });
    await top.complete('a', { big: 1 });
    const second = await top.start(flow({ ignore: ['at'] }), { n: 1, at: 2 });
    expect(await top.engine.document(second)).toMatchObject({ status: 'completed', nodes: { a: { attempts: 0, output: { big: 1 } } } });
    expect((await top.engine.explain(second, 'a'))?.reasons[0]).toContain(first);
    const third = await top.start(flow({ ignore: ['at'] }), { n: 2, at: 2 });
    await top.complete('a', { big: 2 });
    expect((await top.engine.explain(third, 'a'))?.reasons.join(' ')).toContain('n is different');
    expect(top.ran).toHaveLength(2);
  });

  it('[ENG-95] of runs that miss the same output at once one works it out', async () => {
    const top = new BenchTop();
    await top.open();
    const ids = [await top.start(flow(), { n: 1, at: 1 }), await top.start(flow(), { n: 1, at: 1 })];
    expect(top.ran).toEqual(['a']);
    await top.complete('a', 'once');
    expect(await Promise.all(ids.map((id) => top.engine.document(id)))).toMatchObject([
      { output: { a: 'once' } },
      { output: { a: 'once' } },
    ]);
    expect(top.ran).toEqual(['a']);
  });

  it('[ENG-95] when that one fails, the next does', async () => {
    const top = new BenchTop();
    await top.open();
    await top.start(flow(), { n: 1, at: 1 });
    const second = await top.start(flow(), { n: 1, at: 1 });
    await top.fail('a');
    expect(top.ran).toEqual(['a', 'a']);
    await top.complete('a', 'done');
    expect(await top.engine.document(second)).toMatchObject({ output: { a: 'done' } });
  });

  it('[ENG-96] forgets after its time, is passed over by overwrite, and keeps large outputs', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 100 });
    const first = await top.start(flow({ ttl: '1h' }), { n: 1, at: 1 });
    await top.complete('a', 'x'.repeat(500));
    expect(await top.engine.delete(first)).toBe(true);
    const second = await top.start(flow({ ttl: '1h' }), { n: 1, at: 1 });
    await top.clock.advance(10);
    expect(await top.engine.document(second)).toMatchObject({ output: { a: 'x'.repeat(500) } });
    await top.start(flow({ ttl: '1h', overwrite: true }), { n: 1, at: 1 });
    expect(top.ran).toHaveLength(2);
    await top.complete('a', 'new');
    await top.clock.advance(3_600_001);
    await top.start(flow({ ttl: '1h' }), { n: 1, at: 1 });
    expect(top.ran).toHaveLength(3);
  });
});
