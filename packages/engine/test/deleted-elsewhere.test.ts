/** Runs that are deleted while another run, or another engine, still knows them. */
import { memoryQueue, memoryStore } from '@nebula/drivers/memory';
import type { Write } from '@nebula/ports';
import { expect, it } from 'vitest';
import { createEngine, type Engine } from '../src/index.ts';
import { BenchTop } from './bench-top.ts';

async function join(top: BenchTop): Promise<Engine> {
  const store = memoryStore({ data: top.data, exclusive: false });
  const drivers = { ...top.drivers, store, queue: memoryQueue({ clock: top.clock }), clock: top.clock };
  const engine = createEngine(drivers, { actions: top.actions, concurrency: 1 });
  const opened = engine.open();
  await top.untilIdle();
  await opened;
  return engine;
}

it('[ENG-370] a run that another engine has ended and deleted leaves memory', async () => {
  const top = new BenchTop();
  await top.open();
  top.crash();
  const first = await join(top);
  const start = async (id: string, action: string): Promise<void> => {
    await first.register({ id, nodes: { a: { action } } });
    const started = first.start(id, undefined, { executionId: `exe_${id}` });
    await top.untilIdle();
    await started;
  };
  // The only slot is taken, so the second run waits in the memory of the first engine.
  await start('long', 'hang@1');
  await start('short', 'echo@1');
  expect((await first.metrics()).gauges['engine.cached_runs']).toBe(2);
  await join(top);
  for (let second = 0; second < 60 && top.data.runs.get('exe_short')?.row.finishedAt === null; second++)
    await top.clock.advance(1_000);
  expect(await first.delete('exe_short')).toBe(true);
  await top.clock.advance(90_000);
  expect((await first.metrics()).gauges['engine.cached_runs']).toBe(1);
});

it('[ENG-371] a child that was deleted before its start was known to be written does not run again', async () => {
  const top = new BenchTop();
  let isLost = false;
  await top.open({
    wrapStore: (store) => {
      const append = store.append.bind(store);
      const isChild = ({ executionId, create }: Write): boolean => create !== undefined && executionId !== 'exe_parent';
      store.append = async (writes) => {
        const outcomes = await append(writes);
        if (isLost || !writes.some(isChild)) return outcomes;
        isLost = true;
        throw new Error('the connection broke');
      };
      return store;
    },
  });
  await top.register({ id: 'child', nodes: { a: { action: 'echo@1' } } });
  await top.register({
    id: 'parent',
    nodes: { one: { workflow: { id: 'child', mode: 'child' } }, two: { needs: ['one'], wait: { signal: 'never' } } },
  });
  const started = top.engine.start('parent', undefined, { executionId: 'exe_parent' });
  await top.untilIdle();
  await started;
  const childId = (): string => [...top.data.runs.keys()].find((id) => id !== 'exe_parent') ?? '';
  for (let step = 0; step < 90 && (top.data.runs.get(childId())?.row.finishedAt ?? null) === null; step++)
    await top.clock.advance(10);
  expect(await top.engine.delete(childId())).toBe(true);
  await top.clock.advance(60_000);
  expect(isLost).toBe(true);
  expect([...top.data.runs.keys()]).toEqual(['exe_parent']);
  expect(top.ran).toEqual(['a']);
});
