/** The place of runs in a trace, the progress of the engine, and its delay. */
import { sha256 } from '@nebula/drivers/real';
import type { Invocation, Store } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import { createEngine, readTraceparent, spanIdOf, type TracedFrame, traceOf } from '../src/index.ts';
import { BenchTop } from './bench-top.ts';

const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const main = { id: 'main', nodes: { call: { workflow: { id: 'sub', mode: 'child' } } } };
const sub = { id: 'sub', nodes: { a: { action: 'hand@1' } } };

/** The trace contexts that attempts were given. */
function heard(top: BenchTop): (string | undefined)[] {
  const given: (string | undefined)[] = [];
  const { sandbox } = top.drivers;
  const run = sandbox.run.bind(sandbox);
  sandbox.run = (invocation: Invocation) => {
    given.push(invocation.traceparent);
    return run(invocation);
  };
  return given;
}

async function started(top: BenchTop, definition: Record<string, unknown>, traceparent?: string): Promise<string> {
  const { workflowId, version } = await top.register(definition);
  const start = top.engine.start(workflowId, version, traceparent === undefined ? {} : { traceparent });
  await top.untilIdle();
  return start;
}

describe('traces', () => {
  it('[ENG-210] a run, its child and their attempts are in the trace of its starter', async () => {
    const top = new BenchTop();
    await top.open();
    const given = heard(top);
    const frames: TracedFrame[] = [];
    const stop = top.engine.trace((frame) => frames.push(frame));
    await top.register(sub);
    const parent = await started(top, main, CALLER);
    await top.clock.advance(100);
    const child = frames.find(({ workflowId }) => workflowId === 'sub') as TracedFrame;
    const { traceId } = traceOf(sha256, parent, CALLER);
    expect(traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    // The child hangs below the node that it runs for; its attempt has an id that anybody can work out.
    expect(readTraceparent(child.traceparent as string)).toEqual({
      traceId,
      spanId: spanIdOf(sha256, parent, 'call', 1),
      isSampled: true,
    });
    expect(given).toEqual([`00-${traceId}-${spanIdOf(sha256, child.executionId, 'a', 1)}-01`]);
    expect(child.actionOf('a')).toBe('hand@1');
    await top.complete('a');
    await top.clock.advance(100);
    expect(frames.flatMap(({ entries }) => entries.map(({ type }) => type))).toContain('run.finished');
    stop();
    const before = frames.length;
    await started(top, { id: 'more', nodes: {} });
    expect(frames).toHaveLength(before);
  });

  it('[ENG-210] another process continues the same trace, also from a snapshot', async () => {
    const top = new BenchTop();
    await top.open();
    const twice = { action: 'hand@1', retry: { attempts: 2, delay: '1s' } };
    const long = { action: 'echo@1', with: { text: 'x'.repeat(50_000) } };
    const nodes = { a: long, b: long, c: long, d: long, last: { needs: ['a', 'b', 'c', 'd'], ...twice } };
    await started(top, { nodes }, CALLER);
    await top.clock.advance(1_000);
    expect(top.call('last').attempt).toBe(1);
    expect((await top.engine.metrics()).counters['engine.snapshots']).toBeGreaterThan(0);
    await top.open();
    top.engine.trace(() => undefined);
    const given = heard(top);
    await top.fail('last');
    await top.clock.advance(2_000);
    expect(given.at(-1)).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/);
  });

  it('[ENG-211] without a tracer the context is passed on unchanged, and an invalid one is dropped', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 16 });
    const given = heard(top);
    await top.register(sub);
    await started(top, main, CALLER);
    await top.clock.advance(100);
    for (const wrong of [
      '',
      'nonsense',
      CALLER.toUpperCase(),
      `ff${CALLER.slice(2)}`,
      `${CALLER}-more`,
      CALLER.replace(/-[^-]+-01/, '-0000000000000000-01'),
    ]) {
      await started(top, sub, wrong);
    }
    await started(top, sub);
    expect(given).toEqual([CALLER, undefined, undefined, undefined, undefined, undefined, undefined, undefined]);
  });

  it('[ENG-210] a sink that throws does not affect the engine', async () => {
    const top = new BenchTop();
    await top.open();
    top.engine.trace(() => {
      throw new Error('mine');
    });
    const executionId = await started(top, sub);
    await top.complete('a');
    expect(await top.status(executionId)).toBe('completed');
  });
});

describe('how the engine gets on', () => {
  it('[ENG-212] reports when the store last accepted a write, and the last error since', async () => {
    const top = new BenchTop();
    let isBroken = false;
    const wrapStore = (store: Store): Store =>
      new Proxy(store, {
        get(target, key) {
          const value = Reflect.get(target, key) as unknown;
          if (isBroken && (key === 'append' || key === 'heartbeat')) return () => Promise.reject(new Error('no space'));
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    const opened = await top.open({ wrapStore });
    expect(opened.health()).toEqual({ phase: 'open', wroteAt: top.clock.now(), trouble: null });
    isBroken = true;
    const start = started(top, sub).catch((error: unknown) => error);
    await top.clock.advance(20_000);
    expect(opened.health().trouble).toMatchObject({ message: 'no space' });
    expect(top.clock.now() - (opened.health().wroteAt as number)).toBe(20_000);
    isBroken = false;
    await top.clock.advance(60_000);
    await start;
    expect(opened.health().trouble).toBeNull();
    expect(top.clock.now() - (opened.health().wroteAt as number)).toBeLessThanOrEqual(10_000);
    const closed = opened.close();
    expect(opened.health().phase).toBe('closing');
    await top.clock.advance(10_000);
    await closed;
    expect(opened.health().phase).toBe('closed');
    expect(createEngine(top.drivers, { actions: [] }).health()).toEqual({ phase: 'new', wroteAt: null, trouble: null });
  });

  it('[ENG-213] reports how long ready tasks have waited, and how late due runs were woken', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 1 });
    await top.start({ nodes: { a: { action: 'hand@1' }, b: { action: 'hand@1' } } });
    await top.clock.advance(700);
    expect((await top.engine.metrics()).gauges['engine.ready_oldest_ms']).toBe(700);
    expect((await top.engine.metrics()).gauges['engine.ready_nodes']).toBe(1);
    await top.complete('a');
    expect((await top.engine.metrics()).gauges['engine.ready_oldest_ms']).toBe(0);
    const executionId = await top.start({ nodes: { later: { wait: { for: '10s' } } } });
    top.crash();
    await top.clock.advance(25_000);
    await top.open();
    expect((await top.engine.metrics()).histograms['engine.wake_late_ms']).toMatchObject({ count: 1, sum: 15_000 });
    await top.clock.advance(100);
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-22] every name is there before anything has happened', async () => {
    const top = new BenchTop();
    await top.open();
    const { counters, gauges, histograms } = await top.engine.metrics();
    expect(counters['workflow.failed']).toBe(0);
    expect(gauges['workflow.parallel_tasks']).toBe(0);
    expect(histograms['workflow.node.duration_ms']).toMatchObject({ count: 0, sum: 0 });
    expect(histograms['engine.commit_ms']).toBeDefined();
  });
});
