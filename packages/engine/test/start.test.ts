import type { Json } from '@nebula/core';
import type { Write } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import { altered, BenchTop } from './bench-top.ts';

const one = { nodes: { a: { action: 'hand@1' } } };

describe('starting', () => {
  it('[ENG-19] an input that does not fit is refused with every problem', async () => {
    const top = new BenchTop();
    await top.open();
    const input = {
      type: 'object',
      required: ['order'],
      properties: { order: { type: 'object' }, n: { type: 'integer' } },
    };
    const refused = top.start({ input, nodes: {} }, { n: 'three' });
    await expect(refused).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      details: { problems: ['order is missing', 'n must be an integer'] },
    });
    expect(top.data.runs.size).toBe(0);
  });

  it('[ENG-20] starting twice with the same id is starting once', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId, version } = await top.register({ nodes: { a: { action: 'hand@1' } } });
    const options = { executionId: 'exe_mine' };
    const both = Promise.all([
      top.engine.start(workflowId, version, options),
      top.engine.start(workflowId, version, options),
    ]);
    await top.untilIdle();
    expect(await both).toEqual(['exe_mine', 'exe_mine']);
    await top.open();
    const again = top.engine.start(workflowId, version, options);
    await top.untilIdle();
    expect(await again).toBe('exe_mine');
    expect(top.data.runs.get('exe_mine')?.frames.filter((frame) => frame.entries.includes('run.started'))).toHaveLength(
      1,
    );
  });

  it('[ENG-21] the same definition is the same version', async () => {
    const top = new BenchTop();
    await top.open();
    const first = await top.register({ nodes: { a: { action: 'hand@1' } } });
    expect(await top.register({ nodes: { a: { action: 'hand@1' } } })).toMatchObject({
      version: first.version,
      created: false,
    });
    expect(await top.register({ nodes: {} })).toMatchObject({ version: 2, created: true });
    await expect(top.register({ version: 2, nodes: { z: { action: 'echo@1' } } })).rejects.toMatchObject({
      code: 'VERSION_TAKEN',
    });
    await expect(top.engine.start('nobody', undefined)).rejects.toMatchObject({ code: 'UNKNOWN_WORKFLOW' });
  });

  it('[ENG-22] has counters with the names that dashboards know', async () => {
    const top = new BenchTop();
    await top.open();
    await top.start({ nodes: { a: { action: 'hand@1', retry: { attempts: 2, delay: '1s' } } } });
    await top.fail('a');
    await top.clock.advance(1_000);
    await top.complete('a');
    await top.start({ id: 'bad', nodes: { b: { action: 'hand@1' } } });
    await top.fail('b');
    const { counters, histograms } = await top.engine.metrics();
    expect(counters).toMatchObject({
      'workflow.started': 2,
      'workflow.completed': 1,
      'workflow.failed': 1,
      'workflow.node.executed': 3,
      'workflow.node.failed': 1,
      'workflow.node.retried': 1,
      'workflow.dag.level_executed': 2,
    });
    expect(histograms['workflow.duration_ms']).toMatchObject({ count: 2, sum: 1_000 });
    expect(histograms['workflow.node.duration_ms']?.count).toBe(3);
    const timeline = top.events.flatMap((event) => (event.type === 'timeline' ? [event.event.type] : []));
    expect(timeline.slice(0, 6)).toEqual([
      'WorkflowStarted',
      'NodeStarted',
      'NodeRetried',
      'NodeStarted',
      'NodeCompleted',
      'WorkflowCompleted',
    ]);
    expect(top.events.filter((event) => event.type === 'finished')).toHaveLength(2);
  });
});

describe('starts that go wrong', () => {
  it('[ENG-1] a start that cannot be written is refused, not forgotten', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId, version } = await top.register(one);
    const refused = top.engine.start(workflowId, version, { input: { n: 10n } as unknown as Json });
    const outcome = expect(refused).rejects.toThrow('BigInt');
    await top.untilIdle();
    await outcome;
    expect(await top.cachedRuns()).toBe(0);
  });

  it('[ENG-20] the second of two starts with one id is durable, too, when it resolves', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId, version } = await top.register(one);
    const durable: boolean[] = [];
    const start = async (): Promise<void> => {
      await top.engine.start(workflowId, version, { executionId: 'exe_mine' });
      durable.push(top.data.runs.has('exe_mine'));
    };
    const both = Promise.all([start(), start()]);
    await top.untilIdle();
    await both;
    expect(durable).toEqual([true, true]);
  });

  it('[ENG-64] a start whose answer was lost continues, although its caller got the error', async () => {
    const top = new BenchTop();
    let isLost = true;
    const wrapStore = altered((store) => ({
      append: async (writes: readonly Write[]) => {
        const outcomes = await store.append(writes);
        if (isLost) throw new Error('the connection broke');
        return outcomes;
      },
    }));
    await top.open({ wrapStore });
    const { workflowId, version } = await top.register(one);
    const start = () => top.engine.start(workflowId, version, { executionId: 'exe_mine' });
    const refused = expect(start()).rejects.toThrow('the connection broke');
    await top.untilIdle();
    await refused;
    isLost = false;
    await top.clock.advance(200);
    expect(top.call('a').attempt).toBe(2);
    expect(await start()).toBe('exe_mine');
    await top.complete('a');
    expect(await top.status('exe_mine')).toBe('completed');
  });

  it('[ENG-54] an execution id is a plain word', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId, version } = await top.register(one);
    for (const executionId of ['', '../../etc', 'a b', 'a:b', 'ä', 'x'.repeat(201), '\ud800']) {
      const refused = top.engine.start(workflowId, version, { executionId });
      await expect(refused).rejects.toMatchObject({ code: 'EXECUTION_ID_INVALID' });
    }
    expect(top.data.runs.size).toBe(0);
  });
});
