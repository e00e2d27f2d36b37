import type { Store } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

type StoredValue = 'append' | 'claimDue';

/** A store that can be held up. */
function slowStore() {
  const gates = new Map<string, { readonly opened: Promise<void>; open(): void }>();
  return {
    wrap: (store: Store): Store =>
      new Proxy(store, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown;
          if (typeof value !== 'function') return value;
          const call = value.bind(target) as (...args: unknown[]) => unknown;
          if (name !== 'append' && name !== 'claimDue') return call;
          return async (...args: unknown[]) => {
            await gates.get(name)?.opened;
            return call(...args);
          };
        },
      }),
    pin(name: StoredValue): void {
      let open = (): void => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      gates.set(name, { opened, open });
    },
    release(name: StoredValue): void {
      gates.get(name)?.open();
      gates.delete(name);
    },
  };
}

describe('attempts on their way', () => {
  for (const action of ['hand@1', 'pay@1']) {
    it(`[ENG-14] ${action}, whose start is being written when the engine closes, is handed back`, async () => {
      const top = new BenchTop();
      const store = slowStore();
      await top.open({ wrapStore: store.wrap });
      const executionId = await top.start({ nodes: { a: { action: 'hand@1' }, b: { action, needs: ['a'] } } });
      store.pin('append');
      top.call('a').complete();
      await top.untilIdle();
      const closed = top.engine.close({ graceMs: 1_000 });
      await top.untilIdle();
      store.release('append');
      await top.clock.advance(3_000);
      await closed;
      expect(top.ran).toEqual(['a']);
      expect(await top.statuses(executionId)).toEqual({ a: 'completed', b: 'queued' });
    });
  }

  it('[ENG-20] a run of an earlier process that is started again continues at once', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId, version } = await top.register({ nodes: { a: { action: 'hand@1' } } });
    await Promise.all([top.engine.start(workflowId, version, { executionId: 'order-1' }), top.untilIdle()]);
    expect(top.call('a').attempt).toBe(1);
    const store = slowStore();
    store.pin('claimDue');
    store.pin('append');
    await top.open({ wrapStore: store.wrap });
    const started = top.engine.start(workflowId, version, { executionId: 'order-1' });
    await top.untilIdle();
    store.release('claimDue');
    await top.untilIdle();
    store.release('append');
    await top.clock.advance(100);
    await started;
    expect(top.call('a').attempt).toBe(2);
  });
});
