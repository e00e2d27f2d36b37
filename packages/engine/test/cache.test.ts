import type { Write } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import { BenchTop, changed } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });

describe('the cache', () => {
  const flow = (cache: object = {}) => ({
    nodes: { a: hand({ cache: { version: 1, ...cache }, with: { n: '{{ $input.n }}', at: '{{ $input.at }}' } }) },
  });

  it('[ENG-94] gives the output of an earlier run with the same input, minus ignored members', async () => {
    const top = new BenchTop();
    await top.open();
    const first = await top.start(flow({ ignore: ['at'] }), { n: 1, at: 1 });
    await top.complete('a', { big: 1 });
    const second = await top.start(flow({ ignore: ['at'] }), { n: 1, at: 2 });
    expect(await top.engine.document(second)).toMatchObject({
      status: 'completed',
      nodes: { a: { attempts: 0, output: { big: 1 } } },
    });
    expect((await top.engine.explain(second, 'a'))?.reasons[0]).toContain(first);
    const third = await top.start(flow({ ignore: ['at'] }), { n: 2, at: 2 });
    await top.complete('a', { big: 2 });
    expect((await top.engine.explain(third, 'a'))?.reasons.join(' ')).toContain('n is different');
    expect(top.ran).toHaveLength(2);
  });

  it('[ENG-140] compares a miss with the same node, else with the nearest output', async () => {
    const top = new BenchTop();
    await top.open();
    const loop = {
      nodes: {
        l: {
          forEach: { in: '$input.list' },
          do: { nodes: { a: hand({ cache: { version: 1 }, with: { v: '{{ $item.v }}', w: '{{ $item.w }}' } }) } },
        },
        solo: hand({ needs: ['l'], cache: { version: 1 }, with: { v: '{{ $input.v }}', k: '{{ $input.k }}' } }),
      },
    };
    const reasons = async (id: string, node: string) => (await top.engine.explain(id, node))?.reasons.join(' ');
    const first = await top.start(loop, { list: [{ v: 1, w: 1 }], v: 1, k: 1 });
    await top.complete('l/0/a');
    await top.complete('solo');
    expect(await reasons(first, 'solo')).toContain(`against 'l/0/a' of ${first}, w and k are different`);
    await top.clock.advance(1_000);
    const second = await top.start(loop, { list: [{ v: 1, w: 1 }], v: 7, k: 8 });
    await top.complete('solo');
    expect(await reasons(second, 'solo')).toContain(`against 'solo' of ${first}, k and v are different`);
    const third = await top.start(loop, { list: [], v: 7, k: 1 });
    await top.complete('solo');
    expect(await reasons(third, 'solo')).toContain(`against 'solo' of ${second}, k is different`);
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
    // Sweeping leaves it alone as long as it may be used.
    await top.clock.advance(120_000);
    const third = await top.start(flow({ ttl: '1h' }), { n: 1, at: 1 });
    await top.clock.advance(10);
    expect(await top.engine.document(third)).toMatchObject({ output: { a: 'x'.repeat(500) } });
    await top.start(flow({ ttl: '1h', overwrite: true }), { n: 1, at: 1 });
    expect(top.ran).toHaveLength(2);
    await top.complete('a', 'new');
    await top.clock.advance(3_600_001);
    await top.start(flow({ ttl: '1h' }), { n: 1, at: 1 });
    expect(top.ran).toHaveLength(3);
    await top.clock.advance(120_000);
    const names: string[] = [];
    for await (const name of top.blobs.executions()) names.push(name);
    expect(names).not.toContainEqual(expect.stringContaining('cache-'));
  });
});

describe('cached outputs', () => {
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

  it('[ENG-94] is asked again if it could not be read and its run has left memory', async () => {
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

  it('[ENG-57] is asked again if the answer of the store was lost', async () => {
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
