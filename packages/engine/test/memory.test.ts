import { describe, expect, it } from 'vitest';
import { altered, BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });
const one = { nodes: { a: hand() } };

describe('runs in memory', () => {
  it('[ENG-53] waiting for a parked run does not keep it in memory', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    await top.open();
    await top.untilIdle();
    expect(await top.cachedRuns()).toBe(0);
    expect(await top.engine.waitFor(executionId)).toMatchObject({ parked: true });
    expect(await top.cachedRuns()).toBe(0);
  });

  it('[ENG-55] a full memory does not keep the runs in it from their timers and requests', async () => {
    const top = new BenchTop();
    await top.open({ maxCachedRuns: 2, concurrency: 10 });
    const retry = { attempts: 2, delay: '500ms' };
    const { workflowId, version } = await top.register({ nodes: { a: hand({ retry }) } });
    const started = Promise.all(
      [1, 2, 3].map((n) => top.engine.start(workflowId, version, { executionId: `exe_${n}` })),
    );
    await top.untilIdle();
    await started;
    for (const call of [...top.calls]) call.fail();
    await top.clock.advance(1_000);
    expect(top.calls.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 2, 2, 2]);
    await top.engine.requestCancel('exe_2', 'enough');
    await top.clock.advance(200);
    expect(await top.status('exe_2')).toBe('cancelled');
  });

  it('[ENG-55] runs that found no room continue when there is some', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 10 });
    const { workflowId, version } = await top.register(one);
    const ids = [1, 2, 3, 4, 5].map((n) => `exe_${n}`);
    const started = Promise.all(ids.map((executionId) => top.engine.start(workflowId, version, { executionId })));
    await top.untilIdle();
    await started;
    await top.open({ maxCachedRuns: 2, concurrency: 10 });
    for (let round = 0; round < 20; round++) {
      expect(await top.cachedRuns()).toBeLessThanOrEqual(2);
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
    expect(top.inboxOf(executionId)).toBe(0);
    await top.complete('a');
    expect(await top.cachedRuns()).toBe(0);
  });
});
