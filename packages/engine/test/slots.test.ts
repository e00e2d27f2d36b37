import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });

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

  it('[ENG-65] a slot that is freed in the middle of a turn goes to the next in line at once', async () => {
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
