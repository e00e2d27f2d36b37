import { memoryBlobs, memoryLogs, memoryQueue, memoryStore, virtualClock } from '@nebula/drivers/memory';
import { realRandom, sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import { expect, it } from 'vitest';
import { createEngine, type Drivers } from '../src/index.ts';

const PARENT = 'exe_parent';

it('[ENG-293] a frame that is written before the children are known to exist has a wake time', async () => {
  const clock = virtualClock(1_000_000);
  const store = memoryStore();
  const drivers: Drivers = {
    store,
    blobs: memoryBlobs(),
    logs: memoryLogs(),
    queue: memoryQueue({ clock }),
    sandbox: createInProcessSandbox({ projectDir: process.cwd(), clock }),
    clock,
    random: realRandom(),
    digest: sha256,
  };
  const append = store.append.bind(store);
  const passing = async <T>(promise: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = promise.finally(() => (isOver = true));
    over.catch(() => {});
    for (let step = 0; !isOver && step < 100; step++) await clock.advance(1_000);
    return over;
  };
  // The first engine cannot store the child, and is closed.
  store.append = async (writes) => {
    if (writes.some(({ executionId }) => executionId !== PARENT)) throw new Error('the disk is full');
    return append(writes);
  };
  const first = createEngine(drivers, { actions: [] });
  await passing(first.open());
  await passing(first.register({ id: 'child', nodes: { a: { wait: { signal: 'never' } } } }));
  const nodes = { a: { workflow: { id: 'child', mode: 'child' } }, b: { wait: { signal: 'b' } } } as const;
  await passing(first.register({ id: 'parent', nodes }));
  await passing(first.start('parent', undefined, { executionId: PARENT }));
  await clock.advance(60_000);
  await passing(first.close());
  // The second one never learns whether the child exists.
  const wakeTimes: (number | null | undefined)[] = [];
  store.known = () => new Promise<never>(() => {});
  store.append = (writes) => {
    for (const { executionId, wakeAt } of writes) if (executionId === PARENT) wakeTimes.push(wakeAt);
    return append(writes);
  };
  const second = createEngine(drivers, { actions: [] });
  await passing(second.open());
  await second.requestSignal(PARENT, { signal: 'b' });
  await clock.advance(1_000);
  // Undefined: the claim of the run stands, which ends in 30 s.
  expect(wakeTimes.length).toBeGreaterThan(0);
  expect(wakeTimes).not.toContain(null);
});
