import type { Write } from '@nebula/ports';
import { describe, expect, it } from 'vitest';
import { BenchTop } from './bench-top.ts';

const parent = { id: 'main', nodes: { call: { workflow: { id: 'sub', mode: 'child' } } } };
const sub = { id: 'sub', nodes: { work: { action: 'hand@1' } } };

async function projects(top: BenchTop): Promise<Record<string, string>> {
  const { rows } = await top.engine.list({ limit: 10 });
  return Object.fromEntries(rows.map(({ workflowId, project }) => [workflowId, project]));
}

describe('projects', () => {
  it('[ENG-124] a run, its children and its forks belong to one; to `default` unless told', async () => {
    const top = new BenchTop();
    await top.open();
    await top.register(sub);
    const { workflowId } = await top.register(parent);
    const started = top.engine.start(workflowId, undefined, { project: 'sales' });
    await top.untilIdle();
    expect(await projects(top)).toEqual({ main: 'sales', sub: 'sales' });
    await top.complete('work');
    expect(await top.status(await started)).toBe('completed');
    const fork = await top.engine.fork(await started, 'call');
    await top.untilIdle();
    expect((await top.store.execution(fork))?.project).toBe('sales');
    expect((await top.engine.list({ project: 'sales', limit: 10 })).rows).toHaveLength(4);
    const plain = await top.start({ id: 'plain', nodes: {} });
    expect((await top.store.execution(plain))?.project).toBe('default');
  });

  it('[ENG-181] share neither keys, rates nor the cache', async () => {
    const top = new BenchTop();
    await top.open({ concurrency: 20 });
    const work = (id: string, keys: object) => ({ id, nodes: { work: { action: 'hand@1', ...keys } } });
    const flows = [
      work('key', { concurrency: { key: 'k', limit: 1 } }),
      work('rate', { rateLimit: { key: 'k', limit: 1, per: '1h' } }),
      work('cache', { cache: { version: '1' } }),
    ];
    for (const flow of flows) {
      const { workflowId } = await top.register(flow);
      const run = async (project = 'default') => {
        const started = top.engine.start(workflowId, undefined, { project });
        await top.untilIdle();
        return started;
      };
      const [first, same, other] = [await run(), await run(), await run('sales')];
      const at = async (id: string) => (await top.engine.document(id))?.nodes['work']?.status;
      expect([flow.id, await at(first), await at(same), await at(other)]).toEqual([
        flow.id,
        'running',
        'waiting',
        'running',
      ]);
      if (flow.id !== 'key') continue;
      const holders = async (id: string) =>
        (await top.engine.permits(id, 'key:k')).map(({ executionId }) => executionId);
      expect([await holders(same), await holders(other)]).toEqual([[first, same], [other]]);
    }
  });

  it('[ENG-320] an output that one project has cached is computed again in another', async () => {
    const top = new BenchTop();
    await top.open();
    const { workflowId } = await top.register({ nodes: { work: { action: 'hand@1', cache: { version: '1' } } } });
    const run = async (project: string) => {
      const started = top.engine.start(workflowId, undefined, { project });
      await top.untilIdle();
      return started;
    };
    const first = await run('sales');
    await top.complete('work', 'of sales');
    expect(await top.status(first)).toBe('completed');
    expect(await top.status(await run('sales'))).toBe('completed');
    expect(top.calls).toHaveLength(1);
    const other = await run('support');
    expect(top.calls).toHaveLength(2);
    await top.complete('work', 'of support');
    expect(await top.engine.document(other)).toMatchObject({ nodes: { work: { output: 'of support' } } });
  });

  it('[ENG-124] a child that only the next process starts belongs there, too', async () => {
    const top = new BenchTop();
    const wrapStore = (store: BenchTop['store']) =>
      new Proxy(store, {
        get(target, key) {
          const value = Reflect.get(target, key) as unknown;
          if (key !== 'append') return typeof value === 'function' ? value.bind(target) : value;
          return async (writes: readonly Write[]) => {
            const outcomes = await target.append(writes);
            if (!writes.some(({ frame }) => frame?.entries.includes('child.requested'))) return outcomes;
            top.crash();
            return new Promise<never>(() => {});
          };
        },
      });
    await top.open({ wrapStore });
    await top.register(sub);
    const { workflowId } = await top.register(parent);
    void top.engine.start(workflowId, undefined, { project: 'sales' });
    await top.untilIdle();
    expect(await projects(top)).toEqual({ main: 'sales' });
    await top.open();
    await top.clock.advance(1_000);
    expect(await projects(top)).toEqual({ main: 'sales', sub: 'sales' });
  });
});
