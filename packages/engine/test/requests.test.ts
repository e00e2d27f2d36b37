import type { InboxRow, Write } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import { altered, BenchTop } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });
const one = { nodes: { a: hand() } };

describe('requests', () => {
  it('[ENG-51] an unknown message is consumed, and later ones are processed', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start(one);
    const bodies = [
      '{ not json',
      'null',
      '[]',
      '{"type":"settle","node":"a"}',
      '{"type":"cancel"}',
      '{"type":"dance"}',
    ];
    for (const [index, body] of bodies.entries()) {
      await top.store.send({ messageId: `msg_${index}`, executionId, body }, top.clock.now());
    }
    await top.engine.requestCancel(executionId, 'enough');
    await top.clock.advance(100);
    expect(await top.status(executionId)).toBe('cancelled');
    expect(top.inboxOf(executionId)).toBe(0);
    expect(top.events.filter((event) => event.type === 'fault')).toEqual([]);
  });

  it('[ENG-51] a request to a finished run is consumed, changes nothing, and leaves nothing in memory', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start(one);
    await top.complete('a');
    await top.engine.requestCancel(executionId, 'too late');
    await top.engine.requestRetry(executionId);
    const body = JSON.stringify({ type: 'settle', node: 'a', settlement: { happened: true, output: 1 } });
    await top.store.send({ messageId: 'msg_late', executionId, body }, top.clock.now());
    await top.clock.advance(100);
    expect(top.data.runs.get(executionId)).toMatchObject({ row: { status: 'completed', wakeAt: null } });
    expect(top.data.runs.get(executionId)?.frames).toHaveLength(2);
    expect(top.inboxOf(executionId)).toBe(0);
    expect(await top.cachedRuns()).toBe(0);
    expect(top.events.filter((event) => event.type === 'finished')).toHaveLength(1);
  });

  it('[ENG-51] of two settlements the first counts, and a retry of a run that is not loaded works', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    await top.open();
    await top.untilIdle();
    const asked = [
      top.engine.requestSettle(executionId, 'pay', { happened: false, then: 'fail' }),
      top.engine.requestSettle(executionId, 'pay', { happened: true, output: 1 }),
    ];
    await Promise.all(asked);
    await top.untilIdle();
    expect(await top.engine.document(executionId)).toMatchObject({ status: 'failed', nodes: { pay: { attempts: 1 } } });
    expect(await top.cachedRuns()).toBe(0);
    await top.engine.requestRetry(executionId);
    await top.untilIdle();
    expect(top.call('pay').attempt).toBe(2);
  });

  it('[ENG-51] a request whose frame the store refuses is acted on once, and then gone', async () => {
    const top = new BenchTop();
    let refusals = 0;
    const wrapStore = altered((store) => ({
      append: async (writes: readonly Write[]) => {
        if (refusals-- > 0) throw new Error('disk on fire');
        return store.append(writes);
      },
    }));
    await top.open({ wrapStore });
    const executionId = await top.start(one);
    await top.fail('a');
    refusals = 2;
    await top.engine.requestRetry(executionId);
    await top.clock.advance(1_000);
    expect(top.call('a').attempt).toBe(2);
    expect(top.inboxOf(executionId)).toBe(0);
    await top.fail('a');
    await top.clock.advance(60_000);
    const journal = await top.engine.journal(executionId);
    const reopened = journal.flatMap(({ entries }) => entries).filter(({ type }) => type === 'run.reopened');
    expect(reopened).toHaveLength(1);
  });

  it('[ENG-51] a request whose frame was written although its answer was lost is not acted on again', async () => {
    const top = new BenchTop();
    let isLost = false;
    const wrapStore = altered((store) => ({
      append: async (writes: readonly Write[]) => {
        const outcomes = await store.append(writes);
        if (isLost) {
          isLost = false;
          throw new Error('the connection broke');
        }
        return outcomes;
      },
    }));
    await top.open({ wrapStore });
    // A retry of it fails in the very frame that begins it.
    const executionId = await top.start({ nodes: { a: hand({ with: { x: '{{ $input.nothing.here }}' } }) } });
    isLost = true;
    await top.engine.requestRetry(executionId);
    await top.clock.advance(10_000);
    const journal = await top.engine.journal(executionId);
    const reopened = journal.flatMap(({ entries }) => entries).filter(({ type }) => type === 'run.reopened');
    expect(reopened).toHaveLength(1);
    expect(await top.cachedRuns()).toBe(0);
  });

  it('[ENG-51] a request that a late reading of the inbox shows again is not acted on again', async () => {
    const top = new BenchTop();
    const seen: InboxRow[] = [];
    const wrapStore = altered((store) => ({
      inbox: async (executionId) => {
        seen.push(...(await store.inbox(executionId)));
        return seen;
      },
    }));
    await top.open({ wrapStore, concurrency: 2 });
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1', timeout: '1s' }, long: hand() } });
    await top.clock.advance(1_000);
    await top.engine.requestSettle(executionId, 'pay', { happened: false, then: 'retry' });
    await top.clock.advance(1_000);
    expect(await top.engine.document(executionId)).toMatchObject({
      nodes: { pay: { status: 'unknown', attempts: 2 } },
    });
    await top.engine.requestRetry(executionId);
    await top.clock.advance(1_000);
    expect(top.ran.filter((node) => node === 'pay')).toHaveLength(2);
  });

  it('[ENG-51] cancel reaches a run that is not in memory', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: hand({ retry: { attempts: 2, delay: '1d' } }) } });
    await top.fail('a');
    expect(await top.cachedRuns()).toBe(0);
    await top.engine.requestCancel(executionId, 'enough');
    await top.untilIdle();
    expect(await top.status(executionId)).toBe('cancelled');
    expect(await top.cachedRuns()).toBe(0);
  });

  it('[ENG-52] retry leaves an unknown outcome to people: once is not run twice', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' }, b: hand({ needs: ['pay'] }) } });
    await top.open();
    await top.untilIdle();
    await top.engine.requestCancel(executionId, 'enough');
    await top.untilIdle();
    expect(await top.statuses(executionId)).toEqual({ pay: 'unknown', b: 'cancelled' });
    await top.engine.requestRetry(executionId);
    await top.untilIdle();
    expect(await top.statuses(executionId)).toEqual({ pay: 'unknown', b: 'pending' });
    expect(top.ran).toEqual(['pay']);
    expect(await top.engine.waitFor(executionId)).toMatchObject({ parked: true });
    await top.engine.requestSettle(executionId, 'pay', { happened: true, output: 7 });
    await top.untilIdle();
    expect(top.ran).toEqual(['pay', 'b']);
  });
});

describe('cancelling a part', () => {
  it('[ENG-101] ends one node of a run', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: hand(), b: hand({ needs: ['a'] }), c: hand() } });
    await expect(top.engine.requestCancel(executionId, 'no', { node: 'z' })).rejects.toMatchObject({
      code: 'UNKNOWN_NODE',
    });
    await top.engine.requestCancel(executionId, 'no', { node: 'a' });
    await top.untilIdle();
    expect(top.call('a').signal.aborted).toBe(true);
    await top.complete('c');
    expect(await top.statuses(executionId)).toEqual({ a: 'cancelled', b: 'skipped', c: 'completed' });
    expect(await top.status(executionId)).toBe('completed');
  });
});
