import {
  blobsSuite,
  clockSuite,
  leaderSuite,
  localQueueSuite,
  logsSuite,
  queueSuite,
  randomSuite,
  recordsSuite,
  storeSuite,
} from '@nebula/ports/conformance';
import { expect, test } from 'vitest';
import {
  localLeader,
  memoryBlobs,
  memoryData,
  memoryLogs,
  memoryQueue,
  memoryRecords,
  memoryRecordsData,
  memoryStore,
  seededRandom,
  virtualClock,
} from '../src/memory/index.ts';

storeSuite('memory', async () => {
  const data = memoryData();
  const store = memoryStore({ data });
  return {
    store,
    reopen: async () => {
      await store.close();
      return memoryStore({ data });
    },
    beside: async () => memoryStore({ data, exclusive: false }),
    close: () => store.close(),
  };
});

for (const suite of [queueSuite, localQueueSuite]) {
  suite('memory', async () => {
    const clock = virtualClock();
    const queue = memoryQueue({ clock, visibilityMs: 1_000 });
    return { queue, visibilityMs: 1_000, pass: clock.advance, close: () => queue.close() };
  });
}

blobsSuite('memory', async () => ({ blobs: memoryBlobs(), close: async () => {} }));

logsSuite('memory', async () => {
  const logs = memoryLogs();
  return { logs, close: () => logs.close() };
});

recordsSuite('memory', async () => {
  const clock = virtualClock(1_790_000_000_000);
  const data = memoryRecordsData();
  const open = async () => memoryRecords({ clock, data });
  return {
    records: await open(),
    now: () => clock.now(),
    pass: clock.advance,
    reopen: open,
    beside: open,
    close: async () => {},
  };
});

leaderSuite('local', async () => ({ leader: localLeader(), close: async () => {} }));

clockSuite('virtual', async () => {
  const clock = virtualClock(1_790_000_000_000);
  return { clock, pass: clock.advance };
});

randomSuite('seeded', () => seededRandom(42));

test('the same seed gives the same chance, another seed another', () => {
  const draw = (seed: number) => {
    const random = seededRandom(seed);
    return [random.fraction(), random.id('exe'), random.fraction(), random.id('exe')];
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

test('the virtual clock moves to each timer in turn and lets promises settle', async () => {
  const clock = virtualClock(1_000);
  const seen: string[] = [];
  clock.timer(50, () => {
    seen.push(`a at ${clock.now()}`);
    void Promise.resolve().then(() => {
      clock.timer(10, () => seen.push(`child at ${clock.now()}`));
      clock.soon(() => seen.push(`soon at ${clock.now()}`));
    });
  });
  clock.timer(60, () => seen.push(`b at ${clock.now()}`));
  expect(clock.nextTimerAt()).toBe(1_050);
  await clock.advance(100);
  expect(seen).toEqual(['a at 1050', 'soon at 1050', 'b at 1060', 'child at 1060']);
  expect(clock.now()).toBe(1_100);
  expect(clock.nextTimerAt()).toBe(null);
});

test('the memory queue keeps a hundred thousand tasks in order, fast', async () => {
  const queue = memoryQueue({ clock: virtualClock() });
  const count = 100_000;
  const tasks = Array.from({ length: count }, (_, index) => ({
    taskId: `t${index}`,
    executionId: 'exe',
    node: `n${index}`,
    attempt: 1,
    priority: (index * 7) % 10,
    route: '',
  }));
  const started = process.cpuUsage().user;
  void queue.enqueue(tasks);
  let last = Number.POSITIVE_INFINITY;
  for (const delivery of queue.poll(count)) {
    if (delivery.task.priority > last) expect.fail('out of order');
    last = delivery.task.priority;
    queue.ack(delivery);
  }
  expect(await queue.stats()).toEqual({ depth: 0, waitingSince: null, waiting: new Map() });
  expect(process.cpuUsage().user - started).toBeLessThan(30_000_000);
});
