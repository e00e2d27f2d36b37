import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

describe('signals that name no run', () => {
  it('[ENG-103] go to the run that waits for their key, also when they come before it', async () => {
    const top = new BenchTop();
    await top.open();
    const definition = {
      nodes: { w: { wait: { signal: 'paid', key: '{{ $input.order }}' } } },
      output: '{{ $w.payload }}',
    };
    const seven = await top.start(definition, { order: 7 });
    expect(await top.engine.publishSignal({ signal: 'paid', key: '8', payload: 'early' })).toBeUndefined();
    expect(await top.engine.publishSignal({ signal: 'paid', key: '7', payload: 'now' })).toBe(seven);
    await top.untilIdle();
    expect(await top.engine.document(seven)).toMatchObject({ status: 'completed', output: 'now' });
    const eight = await top.start(definition, { order: 8 });
    await top.untilIdle();
    expect(await top.engine.document(eight)).toMatchObject({ status: 'completed', output: 'early' });
  });

  it('[ENG-180] are delivered only in their own project', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId } = await top.engine.register({
      id: 'hears',
      nodes: { w: { wait: { signal: 'go' } } },
      output: '{{ $w.payload }}',
    });
    const started = async (project: string): Promise<string> => {
      const starting = top.engine.start(workflowId, undefined, { project });
      await top.untilIdle();
      return starting;
    };
    const ids = new Map<string, string>();
    for (const project of ['default', 'a', 'b']) ids.set(project, await started(project));
    expect(await top.engine.publishSignal({ signal: '["a","go"]', payload: 'forged' })).toBeUndefined();
    expect(await top.engine.publishSignal({ signal: 'go', payload: 1, project: 'c' })).toBeUndefined();
    for (const [project, executionId] of [...ids].reverse()) {
      const own = project === 'default' ? {} : { project };
      expect(await top.engine.publishSignal({ signal: 'go', payload: project, ...own })).toBe(executionId);
      await top.untilIdle();
      expect(await top.engine.document(executionId)).toMatchObject({ status: 'completed', output: project });
    }
    const late = await started('c');
    expect(await top.engine.document(late)).toMatchObject({ output: 1 });
  });

  it('[ENG-103] a wait that refused one gets the next', async () => {
    const top = new BenchTop();
    await top.open();
    const executionId = await top.start({
      nodes: { w: { wait: { signal: 'go', schema: { type: 'object', required: ['n'] } } } },
    });
    await top.engine.publishSignal({ signal: 'go', payload: 'wrong' });
    await top.untilIdle();
    expect(await top.statuses(executionId)).toEqual({ w: 'waiting' });
    await top.engine.publishSignal({ signal: 'go', payload: { n: 1 } });
    await top.untilIdle();
    expect(await top.status(executionId)).toBe('completed');
  });
});
