/** A run and the executions that run for its nodes: retrying, stopping and waiting for all of them. */
import type { Write } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import { BenchTop, changed } from './bench-top.ts';

const hand = (more: Record<string, unknown> = {}) => ({ action: 'hand@1', ...more });
const undo = { compensate: { action: 'hand@1' } };
const call = { workflow: { id: 'sub', mode: 'child' } };
const sub = { id: 'sub', nodes: { a: hand(undo), b: hand({ needs: ['a'] }) }, output: '{{ $b }}' };
const plain = { id: 'sub', nodes: { a: hand(), b: hand({ needs: ['a'] }) }, output: '{{ $b }}' };

async function children(top: BenchTop): Promise<string[]> {
  const { rows } = await top.engine.list({ limit: 10 });
  return rows.filter(({ workflowId }) => workflowId === 'sub').map(({ executionId }) => executionId);
}

/** A run whose child has failed in its second node. */
async function failed(top: BenchTop, child: object = plain): Promise<string> {
  await top.open();
  await top.register(child as never);
  const executionId = await top.start({ id: 'main', nodes: { call } });
  await top.complete('a');
  await top.fail('b');
  return executionId;
}

const output = async (top: BenchTop, executionId: string) =>
  (await top.engine.document(executionId))?.nodes.call?.output;

describe('retrying a run whose child failed', () => {
  it('[ENG-160] continues the child, with its keys, and takes its result', async () => {
    const top = new BenchTop();
    const executionId = await failed(top);
    const key = top.call('b').key;
    await top.engine.requestRetry(executionId);
    await top.clock.advance(100);
    expect(top.ran).toEqual(['a', 'b', 'b']);
    expect(top.call('b').key).toBe(key);
    await top.complete('b', 7);
    expect(await top.status(executionId)).toBe('completed');
    expect(await output(top, executionId)).toBe(7);
    expect(await children(top)).toHaveLength(1);
  });

  it('[ENG-160] sends the retry to the child with its frame, whatever dies afterwards', async () => {
    const top = new BenchTop();
    const executionId = await failed(top);
    await top.open({
      wrapStore: (store) =>
        new Proxy(store, {
          get(target, key) {
            const value = Reflect.get(target, key) as unknown;
            if (key !== 'append') return typeof value === 'function' ? value.bind(target) : value;
            return async (writes: readonly Write[]) => {
              const outcomes = await target.append(writes);
              if (!writes.some(({ frame }) => frame?.entries.includes('run.reopened'))) return outcomes;
              top.crash();
              return new Promise<never>(() => {});
            };
          },
        }),
    });
    await top.engine.requestRetry(executionId);
    await top.untilIdle();
    await top.open();
    await top.clock.advance(100);
    await top.complete('b', 7);
    expect(await output(top, executionId)).toBe(7);
    expect(top.ran).toEqual(['a', 'b', 'b']);
  });

  it('[ENG-160] takes the result that the child has reached meanwhile, or fails as it does', async () => {
    const top = new BenchTop();
    const executionId = await failed(top);
    const [childId = ''] = await children(top);
    await top.engine.requestRetry(childId);
    await top.clock.advance(100);
    await top.complete('b', 8);
    expect(await top.status(executionId)).toBe('failed');
    await top.engine.requestRetry(executionId);
    await top.clock.advance(100);
    expect(await top.status(executionId)).toBe('completed');
    expect(await output(top, executionId)).toBe(8);
    expect(top.ran).toEqual(['a', 'b', 'b']);
  });

  it('[ENG-160] waits for a child that a person has retried', async () => {
    const top = new BenchTop();
    const executionId = await failed(top);
    const [childId = ''] = await children(top);
    await top.engine.requestRetry(childId);
    await top.engine.requestRetry(executionId);
    await top.clock.advance(100);
    await top.complete('b', 9);
    expect(await output(top, executionId)).toBe(9);
    expect(top.ran).toEqual(['a', 'b', 'b']);
  });

  it('[ENG-160] fails where the child has been deleted, however often; a replay starts another', async () => {
    const top = new BenchTop();
    const executionId = await failed(top);
    const [childId = ''] = await children(top);
    expect(await top.engine.delete(childId)).toBe(true);
    for (let time = 0; time < 2; time++) {
      await top.engine.requestRetry(executionId);
      await top.clock.advance(100);
      expect(await top.engine.document(executionId)).toMatchObject({ status: 'failed', error: { code: 'CHILD_GONE' } });
    }
    await top.engine.requestReplay(executionId, 'call');
    await top.clock.advance(100);
    expect(top.ran).toEqual(['a', 'b', 'a']);
  });

  it('[ENG-160] starts a child that could not be started', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ id: 'main', nodes: { call } });
    await top.untilIdle();
    expect(await top.engine.document(executionId)).toMatchObject({ error: { code: 'UNKNOWN_WORKFLOW' } });
    await top.register(plain);
    await top.engine.requestRetry(executionId);
    await top.clock.advance(100);
    await top.complete('a');
    await top.complete('b');
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-165] a fork continues no child of the forked run', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register(plain);
    const executionId = await top.start({ id: 'main', nodes: { call, x: hand() } });
    await top.complete('a');
    await top.complete('x');
    await top.fail('b');
    const fork = await top.engine.fork(executionId, 'x');
    await top.clock.advance(100);
    await top.complete('x');
    await top.engine.requestRetry(fork);
    await top.clock.advance(100);
    expect(top.ran.filter((node) => node !== 'x')).toEqual(['a', 'b', 'a']);
    expect(await children(top)).toHaveLength(2);
  });
});

describe('stopping a run with a child', () => {
  async function working(top: BenchTop): Promise<readonly [string, string]> {
    await top.open();
    await top.register(sub);
    const executionId = await top.start({ id: 'main', nodes: { p: hand(undo), call: { ...call, needs: ['p'] } } });
    await top.complete('p');
    await top.complete('a');
    return [executionId, (await children(top))[0] ?? ''];
  }

  it('[ENG-82] undoes its own work after the child has undone its work, however long that takes', async () => {
    const top = new BenchTop();
    const [executionId, childId] = await working(top);
    await top.engine.requestCancel(executionId, 'enough');
    await top.clock.advance(3_600_000);
    expect(top.ran).toEqual(['p', 'a', 'b', '~undo/a']);
    expect(await top.engine.explain(executionId, 'call')).toMatchObject({
      causes: [
        {
          message: expect.stringContaining('was asked to stop; the node ends after it'),
          link: { executionId: childId },
        },
      ],
      next: [`nebula executions explain ${childId}`],
    });
    await top.complete('~undo/a');
    expect(await top.status(childId)).toBe('cancelled');
    await top.complete('~undo/p');
    expect(await top.status(executionId)).toBe('cancelled');
  });

  it('[ENG-161] does not undo the child if nothing is to be undone, even if that is said later', async () => {
    const top = new BenchTop();
    const [executionId, childId] = await working(top);
    await top.engine.requestCancel(executionId, 'enough', { compensate: false });
    await top.clock.advance(1_000);
    expect([await top.status(childId), await top.status(executionId)]).toEqual(['cancelled', 'cancelled']);
    expect(top.ran).toEqual(['p', 'a', 'b']);
    const late = new BenchTop();
    const [runId, subId] = await working(late);
    await late.engine.requestCancel(runId, 'enough');
    await late.clock.advance(1_000);
    await late.engine.requestCancel(runId, 'leave it', { compensate: false });
    await late.clock.advance(10_000);
    expect([await late.status(subId), await late.status(runId)]).toEqual(['cancelled', 'cancelled']);
    expect(late.ran).toEqual(['p', 'a', 'b', '~undo/a']);
  });

  it('[ENG-163] an engine that is opened for the run continues its children too', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register({ id: 'sub', nodes: { a: hand(undo), w: { needs: ['a'], wait: { signal: 'never' } } } });
    const executionId = await top.start({ id: 'main', config: { timeout: '1h' }, nodes: { call } });
    await top.complete('a');
    const [childId = ''] = await children(top);
    await top.clock.advance(60_000);
    await top.open({ only: [executionId] });
    // Not the run, which is not due: its child alone has something to do.
    await top.engine.requestSignal(childId, { signal: 'never' });
    await top.clock.advance(1_000);
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-164] a run with a pending request is not quiescent', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { w: { wait: { signal: 'go' } } } });
    expect(await top.engine.isQuiescent(executionId)).toBe(true);
    await top.open({ only: ['exe_other'] });
    await top.engine.requestCancel(executionId, 'enough');
    expect(await top.engine.isQuiescent(executionId)).toBe(false);
    await top.open();
    await top.untilIdle();
    expect(await top.engine.isQuiescent(executionId)).toBe(false);
    expect(await top.status(executionId)).toBe('cancelled');
  });

  it('[ENG-164] a run with a child rests, unless its own time moves it soon', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register({ id: 'sub', nodes: { w: { wait: { signal: 'go' } } } });
    const nodes = { call };
    const resting = await top.start({ id: 'main', nodes });
    const timed = await top.start({ id: 'main', config: { timeout: '1h' }, nodes });
    expect(await top.engine.isQuiescent(resting)).toBe(true);
    expect(await top.engine.isQuiescent(timed)).toBe(true);
    await top.clock.advance(3_560_000);
    expect(await top.engine.isQuiescent(timed)).toBe(false);
    await top.clock.advance(40_000);
    expect(await top.status(timed)).toBe('timed-out');
    expect(await top.engine.isQuiescent('exe_none')).toBe(false);
  });
});

describe('settling', () => {
  it('[ENG-162] is refused for a run that has ended, and possible after a retry', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({ nodes: { pay: { action: 'pay@1' } } });
    await top.engine.requestCancel(executionId, 'enough');
    await top.clock.advance(10_000);
    expect(await top.statuses(executionId)).toEqual({ pay: 'unknown' });
    await expect(top.engine.requestSettle(executionId, 'pay', { happened: true, output: 1 })).rejects.toMatchObject({
      code: 'ALREADY_FINISHED',
      hint: expect.stringContaining(`nebula executions retry ${executionId}`),
    });
    await top.engine.requestRetry(executionId);
    await top.clock.advance(100);
    await top.engine.requestSettle(executionId, 'pay', { happened: true, output: 1 });
    await top.clock.advance(100);
    expect(await top.status(executionId)).toBe('completed');
  });
});

describe('a child by a launch plan', () => {
  const planned = { id: 'main', nodes: { call: { workflow: { plan: 'nightly', input: { b: 2 } } } } };

  it('[ENG-271] starts the launch plan as it is at that moment, once over a restart', async () => {
    const top = new BenchTop();
    const asked: unknown[] = [];
    const launchPlan = async (plan: string, given: unknown) => {
      asked.push([plan, given]);
      return { workflowId: 'sub', version: undefined, input: { a: 1 } };
    };
    await top.open({ launchPlan });
    await top.register(plain as never);
    const executionId = await top.start(planned as never);
    expect(asked).toEqual([['nightly', { project: 'default', input: { b: 2 } }]]);
    top.crash();
    await top.open({ launchPlan });
    await top.clock.advance(60_000);
    const [child = ''] = await children(top);
    expect(await top.engine.input(child)).toEqual({ a: 1 });
    await top.complete('a');
    await top.complete('b', 7);
    expect(await output(top, executionId)).toBe(7);
    expect(await children(top)).toHaveLength(1);
  });

  it('[ENG-271] a plan that cannot be used fails the node with its code', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start(planned as never);
    await top.clock.advance(100);
    expect(await top.engine.document(executionId)).toMatchObject({
      status: 'failed',
      error: { code: 'NO_LAUNCH_PLANS' },
    });
  });
});

describe('children and where they run', () => {
  const parent = { id: 'main', nodes: { call: { workflow: { id: 'sub', mode: 'child' } } } };

  it('[ENG-81] [ENG-216] of a workflow with debounced starts are separate executions', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register({
      id: 'sub',
      config: { start: { key: "{{ 'one' }}", policy: 'debounce', window: '1h' } },
      nodes: { work: hand() },
    });
    const ids = [await top.start(parent), await top.start(parent)];
    await top.clock.advance(1_000);
    for (const call of top.calls) call.complete();
    await top.clock.advance(1_000);
    expect(await Promise.all(ids.map((id) => top.status(id)))).toEqual(['completed', 'completed']);
  });

  it('[ENG-30] continue the runs that the engine was opened for', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register({ id: 'sub', nodes: { work: hand(), more: hand({ needs: ['work'] }) } });
    const executionId = await top.start(parent);
    await top.complete('work');
    await top.open({ only: [executionId] });
    await top.clock.advance(60_000);
    await top.complete('more');
    await top.clock.advance(1_000);
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-83] whose output is gone have failed', async () => {
    const top = new BenchTop();
    let isOff = false;
    await top.open({
      inlineLimitBytes: 100,
      wrapStore: (store) =>
        changed(store, {
          claimDue: (...args) =>
            isOff ? Promise.resolve({ executionIds: [], nextWakeAt: null, dueSince: null }) : store.claimDue(...args),
        }),
    });
    await top.register({ id: 'sub', nodes: { work: hand() } });
    const executionId = await top.start(parent);
    isOff = true;
    await top.complete('work', 'x'.repeat(500));
    const { rows } = await top.engine.list({ limit: 10 });
    await top.engine.delete(rows.find(({ workflowId }) => workflowId === 'sub')?.executionId as string);
    isOff = false;
    await top.open({ inlineLimitBytes: 100 });
    await top.clock.advance(60_000);
    expect(await top.engine.document(executionId)).toMatchObject({ status: 'failed', error: { code: 'BLOB_MISSING' } });
  });
});
