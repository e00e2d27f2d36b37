import type { Action } from '@nebula/core';
import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

describe('verify', () => {
  /** `pay` with a verify that the test answers by hand. */
  function verifying(top: BenchTop) {
    const asked: ((verdict: unknown) => void)[] = [];
    const verify = () => new Promise<never>((resolve) => asked.push(resolve as (verdict: unknown) => void));
    const actions: Action[] = top.actions.map((action) => (action.id === 'pay' ? { ...action, verify } : action));
    return { asked, actions };
  }

  it('[ENG-52] a settlement of one attempt is not used for a later one', async () => {
    const top = new BenchTop();
    const { asked, actions } = verifying(top);
    await top.open({ actions });
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1', timeout: '1s' } } });
    await top.clock.advance(1_000);
    expect(asked).toHaveLength(1);
    await top.engine.requestSettle(executionId, 'pay', { happened: false, then: 'retry' });
    await top.untilIdle();
    expect(top.call('pay').attempt).toBe(2);
    await top.clock.advance(1_000);
    expect(asked).toHaveLength(2);
    // The first answer comes late: it knows nothing of the second attempt.
    asked[0]?.({ happened: false });
    await top.untilIdle();
    expect(top.ran).toEqual(['pay', 'pay']);
    asked[1]?.({ happened: true, output: 'paid' });
    await top.untilIdle();
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'completed',
      nodes: { pay: { output: 'paid' } },
    });
  });

  it('[ENG-66] a verify that never answers is given up, and a person is asked', async () => {
    const top = new BenchTop();
    const { asked, actions } = verifying(top);
    await top.open({ actions });
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    await top.open({ actions });
    await top.untilIdle();
    expect(asked).toHaveLength(1);
    const result = top.engine.waitFor(executionId);
    await top.clock.advance(61_000);
    expect(await result).toMatchObject({ parked: true, waitingFor: [{ node: 'pay', status: 'unknown' }] });
    expect(await top.cachedRuns()).toBe(0);
    asked[0]?.({ happened: true, output: null });
    await top.untilIdle();
    expect(await top.statuses(executionId)).toEqual({ pay: 'unknown' });
  });

  it('[ENG-53] a finished run is not verified, and a late answer does not bring it back into memory', async () => {
    const top = new BenchTop();
    const { asked, actions } = verifying(top);
    await top.open({ actions });
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1', timeout: '1s' } } });
    await top.clock.advance(1_000);
    await top.engine.requestCancel(executionId, 'enough');
    await top.untilIdle();
    expect(await top.status(executionId)).toBe('cancelled');
    asked[0]?.({ happened: false });
    await top.untilIdle();
    expect(asked).toHaveLength(1);
    expect(await top.statuses(executionId)).toEqual({ pay: 'unknown' });
    expect(await top.cachedRuns()).toBe(0);
  });
});
