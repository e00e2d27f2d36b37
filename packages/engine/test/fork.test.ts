import { describe, expect, it } from 'vitest';
import { BenchTop, changed } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });

describe('a fork', () => {
  it('[ENG-100] is a new run that takes over the results before the node; the old one is not changed', async () => {
    const top = new BenchTop();
    await top.open({ inlineLimitBytes: 100 });
    const old = await top.start({ nodes: { a: hand(), b: hand({ needs: ['a'], with: { a: '{{ $a.length }}' } }) } });
    await top.complete('a', 'x'.repeat(500));
    await top.complete('b', 1);
    const fork = await top.engine.fork(old, 'b', { edited: true });
    await top.clock.advance(10);
    expect(top.ran).toEqual(['a', 'b', 'b']);
    expect(top.call('b')).toMatchObject({ input: { edited: true } });
    await top.complete('b', 2);
    expect(await top.engine.delete(old)).toBe(true);
    expect(await top.engine.document(fork)).toMatchObject({
      status: 'completed',
      nodes: { a: { output: 'x'.repeat(500) }, b: { output: 2 } },
    });
    await expect(top.engine.fork('exe_none', 'a')).rejects.toMatchObject({ code: 'UNKNOWN_EXECUTION' });
  });

  it('[ENG-100] is created with its replay, or not at all', async () => {
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

  it('[ENG-110] that is being copied, and a cached output, keep their blobs while others are swept', async () => {
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
    await top.untilIdle();
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
});
