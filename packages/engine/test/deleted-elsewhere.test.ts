/** Runs that are deleted while another run, or another engine, still knows them. */
import { memoryQueue, memoryStore } from '@nebula/drivers/memory';
import type { Store, Write } from '@nebula/ports';
import { expect, it } from 'vitest';
import { createEngine, type Engine } from '../src/index.ts';
import { BenchTop } from './bench-top.ts';

async function join(top: BenchTop, wrapStore = (store: Store) => store): Promise<Engine> {
  const store = wrapStore(memoryStore({ data: top.data, exclusive: false }));
  const drivers = { ...top.drivers, store, queue: memoryQueue({ clock: top.clock }), clock: top.clock };
  const engine = createEngine(drivers, { actions: top.actions, concurrency: 1 });
  const opened = engine.open();
  await top.untilIdle();
  await opened;
  return engine;
}

const CHILD = { id: 'child', nodes: { a: { action: 'echo@1' } } };
const PARENT = {
  id: 'parent',
  nodes: { one: { workflow: { id: 'child', mode: 'child' } }, two: { needs: ['one'], wait: { signal: 'go' } } },
};

function isChild({ executionId, create }: Write): boolean {
  return create !== undefined && executionId !== 'exe_parent';
}

/** An engine that stalls for good when it creates a child, until it is released; and another one that takes over. */
async function stalledAndOther(top: BenchTop): Promise<{ other: Engine; childId: string; release: () => void }> {
  await top.open();
  top.crash();
  let release = (): void => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  let childId = '';
  const stalled = await join(top, (store) => {
    const { append, claimDue } = store;
    store.append = async (writes) => {
      const child = writes.find(isChild);
      if (child !== undefined) {
        childId = child.executionId;
        await isReleased;
      }
      return append(writes);
    };
    store.claimDue = async (...claim) =>
      childId === '' ? claimDue(...claim) : { executionIds: [], nextWakeAt: null, dueSince: null };
    return store;
  });
  for (const definition of [CHILD, PARENT]) await stalled.register(definition);
  const started = stalled.start('parent', undefined, { executionId: 'exe_parent' });
  await top.untilIdle();
  await started;
  expect(childId).not.toBe('');
  expect([...top.data.runs.keys()]).toEqual(['exe_parent']);
  return { other: await join(top), childId, release };
}

async function untilEnded(top: BenchTop, executionId: string): Promise<void> {
  const isEnded = (): boolean => (top.data.runs.get(executionId)?.row.finishedAt ?? null) !== null;
  for (let second = 0; second < 90 && !isEnded(); second++) await top.clock.advance(1_000);
  expect(isEnded()).toBe(true);
}

it('[ENG-380] a child that another engine started, ended and deleted is not created by a stalled engine', async () => {
  const top = new BenchTop();
  const { other, childId, release } = await stalledAndOther(top);
  await untilEnded(top, childId);
  await top.clock.advance(1_000);
  expect(await other.delete(childId)).toBe(true);
  release();
  await top.clock.advance(60_000);
  expect([...top.data.runs.keys()]).toEqual(['exe_parent']);
  expect(top.ran).toEqual(['a']);
  await other.requestSignal('exe_parent', { signal: 'go' });
  await untilEnded(top, 'exe_parent');
  expect(top.data.runs.get('exe_parent')?.row.status).toBe('completed');
});

it('[ENG-380] a child of a deleted parent is not created by a stalled engine', async () => {
  const top = new BenchTop();
  const { other, childId, release } = await stalledAndOther(top);
  await untilEnded(top, childId);
  await other.requestSignal('exe_parent', { signal: 'go' });
  await untilEnded(top, 'exe_parent');
  for (const id of [childId, 'exe_parent']) expect(await other.delete(id)).toBe(true);
  release();
  await top.clock.advance(60_000);
  expect([...top.data.runs.keys()]).toEqual([]);
  expect(top.ran).toEqual(['a']);
});

it('[ENG-381] a node whose child was deleted, and whose result is nowhere, fails with CHILD_GONE', async () => {
  const top = new BenchTop();
  let isLost = false;
  await top.open({
    wrapStore: (store) => {
      const { append } = store;
      store.append = async (writes) => {
        const outcomes = await append(writes.map(({ sends: _, ...write }) => write));
        if (isLost || !writes.some(isChild)) return outcomes;
        isLost = true;
        throw new Error('the connection broke');
      };
      return store;
    },
  });
  for (const definition of [CHILD, PARENT]) await top.register(definition);
  const started = top.engine.start('parent', undefined, { executionId: 'exe_parent' });
  await top.untilIdle();
  await started;
  const childId = [...top.data.runs.keys()].find((id) => id !== 'exe_parent') ?? '';
  for (let step = 0; step < 90 && top.data.runs.get(childId)?.row.finishedAt === null; step++)
    await top.clock.advance(10);
  expect(await top.engine.delete(childId)).toBe(true);
  await untilEnded(top, 'exe_parent');
  expect([...top.data.runs.keys()]).toEqual(['exe_parent']);
  expect(top.ran).toEqual(['a']);
  const { status, error } = (await top.engine.document('exe_parent')) ?? {};
  expect({ status, error }).toMatchObject({ status: 'failed', error: { code: 'CHILD_GONE', node: 'one' } });
});

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
      store.append = async (writes) => {
        const outcomes = await append(writes);
        if (isLost || !writes.some(isChild)) return outcomes;
        isLost = true;
        throw new Error('the connection broke');
      };
      return store;
    },
  });
  for (const definition of [CHILD, PARENT]) await top.register(definition);
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

it('[ENG-371] a child that an earlier version deleted does not run again when its parent is read', async () => {
  const top = new BenchTop();
  await top.open({
    wrapStore: (store) => {
      const { append } = store;
      store.append = async (writes) => {
        const outcomes = await append(writes);
        const isEnd = ({ executionId, status }: Write): boolean =>
          executionId !== 'exe_parent' && status?.status === 'completed';
        if (writes.some(isEnd)) top.crash();
        return outcomes;
      };
      return store;
    },
  });
  for (const definition of [CHILD, PARENT]) await top.register(definition);
  void top.engine.start('parent', undefined, { executionId: 'exe_parent' });
  await top.clock.advance(1_000);
  const parent = top.data.runs.get('exe_parent');
  expect(parent?.inbox.size).toBe(1);
  const childId = [...top.data.runs.keys()].find((id) => id !== 'exe_parent') ?? '';
  expect(await top.store.deleteExecution(childId)).toBe(true);
  parent?.deletedChildren.clear();
  await top.open();
  await top.clock.advance(60_000);
  expect([...top.data.runs.keys()]).toEqual(['exe_parent']);
  expect(top.ran).toEqual(['a']);
  await top.engine.requestSignal('exe_parent', { signal: 'go' });
  await untilEnded(top, 'exe_parent');
  expect(parent?.row.status).toBe('completed');
});
