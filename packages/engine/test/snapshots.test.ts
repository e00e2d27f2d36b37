import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });

describe('snapshots', () => {
  it('[ENG-60] a damaged snapshot is passed over', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: hand(), b: hand({ needs: ['a'] }) } });
    await top.complete('a');
    const run = top.data.runs.get(executionId);
    if (run !== undefined) run.snapshot = { seq: run.frames.length, state: '{ damaged' };
    await top.open();
    await top.untilIdle();
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

  it('[VIEW-6] a snapshot is journalled with the next frame, once', async () => {
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
});
