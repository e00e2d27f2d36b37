import type { Json } from '@nebula/core';
import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

const two = { nodes: { a: { action: 'hand@1' }, b: { action: 'hand@1', needs: ['a'] } } };

describe('limits of time', () => {
  it('[ENG-9] an attempt beyond its limit is aborted and reported at once', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: { action: 'hand@1', timeout: '10s' } } });
    await top.clock.advance(9_999);
    expect(top.call('a').signal.aborted).toBe(false);
    await top.clock.advance(1);
    expect(top.call('a').signal.aborted).toBe(true);
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'failed',
      error: { code: 'TIMEOUT', node: 'a', details: { limit: 'attempt', limitMs: 10_000 } },
    });
  });

  it('[ENG-10] an action that never ends is stopped by its limit, and by cancel', async () => {
    const top = new BenchTop();
    await top.open();
    const limited = await top.start({ nodes: { a: { action: 'hang@1', timeout: '1s' } } });
    await top.clock.advance(1_000);
    expect(await top.status(limited)).toBe('failed');
    const cancelled = await top.start({ id: 'other', nodes: { a: { action: 'hang@1' } } });
    await top.engine.requestCancel(cancelled, 'enough');
    await top.clock.advance(4_000);
    expect(await top.status(cancelled)).toBe('running');
    await top.clock.advance(2_000);
    expect(await top.status(cancelled)).toBe('cancelled');
  });

  it('[ENG-26] wake times are met to the moment', async () => {
    const top = new BenchTop();
    await top.open();
    await top.start({ nodes: { a: { action: 'hand@1', retry: { attempts: 3, delay: '90s' } } } });
    await top.fail('a');
    await top.clock.advance(89_999);
    expect(top.call('a').attempt).toBe(1);
    await top.clock.advance(1);
    expect(top.call('a').attempt).toBe(2);
  });

  it('[ENG-29] an expression that runs away fails its node', async () => {
    const top = new BenchTop();
    await top.open({ expressionLimits: { maxOperations: 50 } });
    const runaway = '{{ $input.list.map(a => $input.list.map(b => a * b).sum()).sum() }}';
    const list = Array.from({ length: 20 }, (_, index) => index);
    const executionId = await top.start({ nodes: { a: { action: 'echo@1', with: { v: runaway } } } }, { list });
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'failed',
      error: { code: 'EXPRESSION_LIMIT', node: 'a' },
    });
  });

  it('[ENG-26] a workflow ends at its timeout', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ config: { timeout: '2m' }, ...two });
    await top.clock.advance(120_000);
    expect(await top.status(executionId)).toBe('timed-out');
    expect(top.call('a').signal.aborted).toBe(true);
  });
});

describe('crash and close', () => {
  it('[ENG-11] after a crash every run continues, and finished nodes do not run again', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { ...two.nodes, c: { action: 'hand@1' } } });
    await top.complete('a', 'kept');
    const key = top.call('b').key;
    // The first engine is forgotten in the middle of two attempts: nothing of it is closed.
    await top.open();
    await top.untilIdle();
    expect(top.ran.slice(0, 3)).toEqual(['a', 'c', 'b']);
    expect(top.ran.slice(3).sort()).toEqual(['b', 'c']);
    expect(top.call('b')).toMatchObject({ attempt: 2, key });
    await top.complete('b');
    await top.complete('c');
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'completed',
      nodes: { a: { attempts: 1, output: 'kept' }, b: { attempts: 2 } },
    });
  });

  it('[ENG-30] an engine that is opened for one run leaves the others alone', async () => {
    const top = new BenchTop();
    await top.open();
    const mine = await top.start({ nodes: { mine: { action: 'hand@1' } } });
    const other = await top.start({ id: 'other', nodes: { other: { action: 'hand@1' } } });
    await top.open({ only: [mine] });
    await top.clock.advance(120_000);
    expect(top.call('mine').attempt).toBe(2);
    expect(top.call('other').attempt).toBe(1);
    expect(await top.statuses(other)).toEqual({ other: 'running' });
  });

  it('[ENG-12] a retry delay survives a restart', async () => {
    const top = new BenchTop();
    await top.open();
    await top.start({ nodes: { a: { action: 'hand@1', retry: { attempts: 2, delay: '1h' } } } });
    await top.fail('a');
    await top.clock.advance(1_800_000);
    await top.open();
    await top.clock.advance(1_799_999);
    expect(top.ran).toEqual(['a']);
    await top.clock.advance(1);
    expect(top.ran).toEqual(['a', 'a']);
  });

  it('[ENG-13] cancel from another process reaches the engine that has the run', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start(two);
    const { createExecutionService } = await import('../src/index.ts');
    const { memoryStore } = await import('@nebula/drivers/memory');
    const elsewhere = { ...top.drivers, store: memoryStore({ data: top.data, exclusive: false }) };
    const executions = createExecutionService(elsewhere, { actions: top.actions });
    expect(await executions.requestCancel(executionId, 'not needed')).toBe(true);
    expect(await executions.requestCancel('exe_nobody', 'x')).toBe(false);
    await top.clock.advance(1_000);
    expect(await executions.document(executionId)).toMatchObject({
      status: 'cancelled',
      error: { message: 'not needed' },
    });
    expect(top.data.runs.get(executionId)?.inbox.size).toBe(0);
  });

  it('[ENG-14] closing hands back repeatable attempts and waits for the others', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({
      nodes: { a: { action: 'hand@1' }, pay: { action: 'pay@1' }, c: { action: 'hand@1', needs: ['pay'] } },
    });
    const closed = top.engine.close({ graceMs: 5_000 });
    await top.clock.advance(1_000);
    expect(top.call('a').signal.aborted).toBe(true);
    expect(top.call('pay').signal.aborted).toBe(false);
    top.call('pay').complete('paid');
    await top.untilIdle();
    await closed;
    expect(await top.statuses(executionId)).toEqual({ a: 'queued', pay: 'completed', c: 'queued' });
    await top.open();
    await top.untilIdle();
    expect(top.call('a').attempt).toBe(2);
    await top.complete('a');
    await top.complete('c');
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-14] a once attempt that does not end in time is left unknown', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    const closed = top.engine.close({ graceMs: 1_000 });
    await top.clock.advance(2_000);
    await closed;
    expect(await top.statuses(executionId)).toEqual({ pay: 'unknown' });
  });

  it('[ENG-25] verify is called before a person is asked, and again after a crash', async () => {
    const top = new BenchTop();
    const asked: string[] = [];
    const answers = [new Promise<never>(() => {}), { happened: true, output: { id: 'ch_1' } } as const];
    const verify = (ctx: { idempotencyKey: string }) => {
      asked.push(ctx.idempotencyKey);
      return answers[asked.length - 1] as { happened: true; output: { id: string } };
    };
    const actions = top.actions.map((action) => (action.id === 'pay' ? { ...action, verify } : action));
    await top.open({ actions });
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    await top.open({ actions });
    await top.untilIdle();
    expect(asked).toHaveLength(1);
    await top.open({ actions });
    await top.untilIdle();
    expect(asked).toHaveLength(2);
    expect(new Set(asked).size).toBe(1);
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'completed',
      nodes: { pay: { output: { id: 'ch_1' }, attempts: 1 } },
    });
  });

  it('[ENG-31] a settlement is checked, and taken once', async () => {
    const top = new BenchTop();
    const output = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
    const actions = top.actions.map((action) => (action.id === 'pay' ? { ...action, output } : action));
    await top.open({ actions });
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    await top.open({ actions });
    await top.untilIdle();
    const settle = (given: Json) => top.engine.requestSettle(executionId, 'pay', { happened: true, output: given });
    await expect(settle({ bad: 1 })).rejects.toMatchObject({ code: 'OUTPUT_INVALID' });
    expect(await settle({ id: 'ch_1' })).toBe(true);
    await expect(settle({ id: 'ch_2' })).rejects.toMatchObject({ code: 'ALREADY_SETTLED' });
    await top.untilIdle();
    expect(await top.engine.document(executionId)).toMatchObject({ nodes: { pay: { output: { id: 'ch_1' } } } });
  });

  it('[ENG-28] an error whose outcome is unknown does not repeat a once attempt', async () => {
    const top = new BenchTop();
    await top.open();
    const error = { code: 'ECONNRESET', kind: 'SYSTEM', details: { outcome: 'unknown' } } as const;
    const once = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    await top.fail('pay', error);
    expect(await top.statuses(once)).toEqual({ pay: 'unknown' });
    const repeatable = await top.start({ id: 'other', nodes: { a: { action: 'hand@1', retry: { attempts: 2 } } } });
    await top.fail('a', error);
    expect(await top.statuses(repeatable)).toEqual({ a: 'waiting' });
  });

  it('[ENG-24] waiting for a parked run says what it waits for', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    await top.open();
    await top.untilIdle();
    const result = await top.engine.waitFor(executionId);
    expect(result).toMatchObject({ parked: true, waitingFor: [{ node: 'pay', status: 'unknown' }] });
    await top.engine.requestSettle(executionId, 'pay', { happened: true, output: 1 });
    await top.untilIdle();
    expect(await top.engine.waitFor(executionId)).toMatchObject({ parked: false, document: { status: 'completed' } });
  });

  it('[ENG-24] waiting for a run whose retry is far away says so', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: { action: 'hand@1', retry: { attempts: 2, delay: '2m' } } } });
    await top.fail('a');
    const result = await top.engine.waitFor(executionId);
    expect(result).toMatchObject({ parked: true, waitingFor: [{ node: 'a', status: 'waiting' }] });
  });

  it('[ENG-280] runs of a registered definition that is refused today are read and continued', async () => {
    const top = new BenchTop();
    await top.open();
    const nodes = { a: { action: 'hand@1', onError: 'branch' }, b: { action: 'hand@1' } };
    const definition = { nodes, edges: [{ from: 'a', to: 'b', on: 'always' }] };
    const { problems } = top.engine.checks.check({ id: 'x', ...definition } as never, { project: 'default' });
    expect(problems.map(({ code }) => code)).toContain('BRANCH_WITHOUT_EDGE');
    const executionId = await top.start(definition);
    await top.open();
    expect(await top.statuses(executionId)).toMatchObject({ b: 'pending' });
    await top.untilIdle();
    await top.complete('a');
    await top.complete('b');
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-59] a workflow whose action is gone is reported, does not spin, and continues when the action is back', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { a: { action: 'hand@1' } } });
    const without = top.actions.filter(({ id }) => id !== 'hand');
    await top.open({ actions: without });
    await top.clock.advance(90_000);
    const faults = top.events.filter((event) => event.type === 'fault');
    expect(faults.length).toBeGreaterThanOrEqual(3);
    expect(faults.length).toBeLessThanOrEqual(5);
    expect(faults[0]).toMatchObject({ executionId, error: { code: 'PLAN_INVALID' } });
    expect(await top.cachedRuns()).toBe(0);
    expect(await top.engine.document(executionId)).toMatchObject({ status: 'running' });
    await top.open();
    await top.untilIdle();
    expect(top.call('a').attempt).toBe(2);
  });

  it('[ENG-360] a run whose action is gone can be read, cancelled and deleted', async () => {
    const top = new BenchTop();
    await top.open();
    const nodes = { hold: { wait: { signal: 'go' } }, a: { needs: ['hold'], action: 'hand@1' } };
    const waiting = await top.start({ nodes });
    const running = await top.start({ nodes: { a: { action: 'hand@1' } } });
    await top.open({ actions: top.actions.filter(({ id }) => id !== 'hand') });
    expect(await top.engine.document(waiting)).toMatchObject({
      status: 'running',
      nodes: { a: { status: 'pending' } },
    });
    expect((await top.engine.explain(waiting, 'a'))?.status).toBe('pending');
    for (const executionId of [waiting, running]) {
      await top.engine.requestCancel(executionId, 'its action is gone');
      await top.clock.advance(60_000);
      expect(await top.status(executionId)).toBe('cancelled');
      expect(await top.engine.delete(executionId)).toBe(true);
    }
  });

  it('[ENG-30] an engine that is opened for certain runs cares for those that it starts itself', async () => {
    const top = new BenchTop();
    await top.open({ only: [] });
    await top.start({ nodes: { a: { action: 'hand@1', retry: { attempts: 2, delay: '90s' } } } });
    await top.fail('a');
    await top.clock.advance(90_000);
    expect(top.call('a').attempt).toBe(2);
  });
});
