/** The contract of the queue, by the rules of SPEC.md: one suite for every queue, and one more for local queues. */

import type { Delivery, Queue, Task } from '@nebula/ports';
import { describe, expect, vi, test as vitestTest } from 'vitest';

export interface QueueSubject {
  readonly queue: Queue;
  readonly visibilityMs: number;
  /** Lets that much of the queue's time pass. */
  readonly pass: (ms: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The suite for every queue. */
export function queueSuite(name: string, open: OpenQueue): void {
  describe(`queue contract: ${name}`, () => {
    const test = queueTests(open);
    deliveryTests(test);
    statsTests(test);
    hintTests(test);
    routeTests(test);
  });
}

/** The additional suite for queues with `local`. */
export function localQueueSuite(name: string, open: OpenQueue): void {
  describe(`local queue contract: ${name}`, () => orderTests(queueTests(open)));
}

type OpenQueue = () => Promise<QueueSubject>;

type QueueTest = (title: string, body: (subject: QueueSubject) => Promise<void>) => void;

function queueTests(open: OpenQueue): QueueTest {
  return (title, body) =>
    vitestTest(title, async () => {
      const subject = await open();
      try {
        await body(subject);
      } finally {
        await subject.close();
      }
    });
}

function task(node: string, priority = 5, route = ''): Task {
  return { taskId: `exe:${node}:1`, executionId: 'exe', node, attempt: 1, priority, route };
}

function nodes(deliveries: readonly Delivery[]): readonly string[] {
  return deliveries.map((delivery) => delivery.task.node);
}

function only(deliveries: readonly Delivery[]): Delivery {
  expect(deliveries).toHaveLength(1);
  return deliveries[0] as Delivery;
}

function deliveryTests(test: QueueTest): void {
  test('[QUE-1] a task is given to one receiver at a time', async ({ queue, visibilityMs, pass }) => {
    await queue.enqueue([task('a')]);
    const delivery = only(queue.poll(10));
    expect(delivery.task).toEqual(task('a'));
    expect(queue.poll(10)).toEqual([]);
    await pass(visibilityMs / 2);
    expect(queue.poll(10)).toEqual([]);
    queue.ack(delivery);
    await pass(visibilityMs * 2);
    expect(queue.poll(10)).toEqual([]);
  });

  test('[QUE-1] a thousand tasks, three receivers, each task once', async ({ queue }) => {
    await queue.enqueue(Array.from({ length: 1_000 }, (_, index) => task(`n${index}`, index % 10)));
    const seen: string[] = [];
    for (let receiver = 0; (await queue.stats()).depth > 0; receiver++) {
      for (const delivery of queue.poll(1 + (receiver % 3))) {
        seen.push(delivery.task.node);
        queue.ack(delivery);
      }
    }
    expect(new Set(seen).size).toBe(1_000);
    expect(seen).toHaveLength(1_000);
  });

  test('[QUE-2] an unacked task comes back with a new receipt', async ({ queue, visibilityMs, pass }) => {
    await queue.enqueue([task('a')]);
    const first = only(queue.poll(1));
    await pass(visibilityMs);
    const second = only(queue.poll(1));
    expect(second.task).toEqual(first.task);
    expect(second.receipt).not.toBe(first.receipt);
  });

  test('[QUE-2] extend sets the visibility anew', async ({ queue, visibilityMs, pass }) => {
    await queue.enqueue([task('a'), task('b')]);
    const [a] = queue.poll(2) as [Delivery, Delivery];
    await pass(visibilityMs * 0.75);
    queue.extend(a);
    await pass(visibilityMs * 0.75);
    expect(nodes(queue.poll(2))).toEqual(['b']);
    await pass(visibilityMs * 0.5);
    expect(nodes(queue.poll(2))).toEqual(['a']);
  });

  test('[QUE-4] a former receiver changes nothing', async ({ queue, visibilityMs, pass }) => {
    await queue.enqueue([task('a')]);
    const former = only(queue.poll(1));
    await pass(visibilityMs);
    const reportAll = () => {
      queue.ack(former);
      queue.extend(former);
      queue.nack(former, 0);
    };
    reportAll();
    const current = only(queue.poll(1));
    reportAll();
    expect(queue.poll(1)).toEqual([]);
    await pass(visibilityMs);
    const next = only(queue.poll(1));
    queue.ack(current);
    expect((await queue.stats()).depth).toBe(1);
    queue.ack(next);
    queue.ack(next);
    expect((await queue.stats()).depth).toBe(0);
  });

  test('[QUE-6] a nacked task comes back after its delay', async ({ queue, visibilityMs, pass }) => {
    await queue.enqueue([task('a'), task('b')]);
    const [a, b] = queue.poll(2) as [Delivery, Delivery];
    queue.nack(a, visibilityMs * 0.5);
    queue.nack(b, 0);
    expect(nodes(queue.poll(2))).toEqual(['b']);
    await pass(visibilityMs * 0.25);
    expect(queue.poll(2)).toEqual([]);
    await pass(visibilityMs * 0.25);
    expect(nodes(queue.poll(2))).toEqual(['a']);
  });
}

function orderTests(test: QueueTest): void {
  test('[QUE-3] higher priority first, then order of arrival', async ({ queue }) => {
    await queue.enqueue([task('low', 1), task('a'), task('urgent', 9), task('b')]);
    await queue.enqueue([task('c'), task('zero', 0), task('urgent2', 9)]);
    expect(nodes(queue.poll(10))).toEqual(['urgent', 'urgent2', 'a', 'b', 'c', 'low', 'zero']);
  });

  test('[QUE-3] a task that comes back keeps its position', async ({ queue, visibilityMs, pass }) => {
    await queue.enqueue([task('a'), task('b'), task('c')]);
    const [a, b] = queue.poll(2) as [Delivery, Delivery];
    queue.nack(b, 0);
    queue.nack(a, 0);
    expect(nodes(queue.poll(3))).toEqual(['a', 'b', 'c']);
    await queue.enqueue([task('d')]);
    await pass(visibilityMs);
    expect(nodes(queue.poll(4))).toEqual(['a', 'b', 'c', 'd']);
  });

  test('[QUE-3] the most urgent task of all routes comes first', async ({ queue, visibilityMs, pass }) => {
    await queue.enqueue([task('a', 5, 'x'), task('b'), task('c', 9, 'y'), task('d', 5, 'x')]);
    const [c, a] = queue.poll(2, ['x', 'y']) as [Delivery, Delivery];
    expect(nodes([c, a])).toEqual(['c', 'a']);
    queue.nack(a, 0);
    expect(nodes(queue.poll(10, ['x']))).toEqual(['a', 'd']);
    await pass(visibilityMs);
    expect(nodes(queue.poll(10, ['', 'x', 'y']))).toEqual(['c', 'a', 'b', 'd']);
  });

  test('[QUE-5] the same task is enqueued once', async ({ queue, visibilityMs, pass }) => {
    await queue.enqueue([task('a'), task('a')]);
    await queue.enqueue([task('a', 9)]);
    const delivered = only(queue.poll(10));
    await queue.enqueue([task('a')]);
    expect(queue.poll(10)).toEqual([]);
    queue.nack(delivered, visibilityMs);
    await queue.enqueue([task('a')]);
    expect(queue.poll(10)).toEqual([]);
    await pass(visibilityMs);
    queue.ack(only(queue.poll(10)));
    await queue.enqueue([task('a')]);
    only(queue.poll(10));
  });
}

function statsTests(test: QueueTest): void {
  test('[QUE-8] the depth counts tasks that wait, are held or are delayed', async ({ queue, visibilityMs }) => {
    const depth = async () => (await queue.stats()).depth;
    expect(await depth()).toBe(0);
    await queue.enqueue([task('a'), task('b'), task('c')]);
    expect(await depth()).toBe(3);
    const [a, b] = queue.poll(2) as [Delivery, Delivery];
    expect(await depth()).toBe(3);
    queue.nack(b, visibilityMs);
    expect(await depth()).toBe(3);
    queue.ack(a);
    expect(await depth()).toBe(2);
  });

  test('[QUE-11] the stats show since when a task waits for a receiver', async ({ queue, visibilityMs, pass }) => {
    const waitingSince = async () => (await queue.stats()).waitingSince;
    expect(await waitingSince()).toBeNull();
    await queue.enqueue([task('a', 1)]);
    const since = (await waitingSince()) as number;
    await pass(20);
    await queue.enqueue([task('b', 9)]);
    expect(await waitingSince()).toBe(since);
    const [one, other] = queue.poll(2) as [Delivery, Delivery];
    expect(await waitingSince()).toBeNull();
    queue.nack(one, visibilityMs);
    expect(await waitingSince()).toBeNull();
    queue.nack(other, 0);
    expect(await waitingSince()).toBeGreaterThanOrEqual(since + 20);
  });

  test('[QUE-9] poll gives at most the requested number', async ({ queue }) => {
    expect(queue.poll(5)).toEqual([]);
    await queue.enqueue(['a', 'b', 'c'].map((node) => task(node)));
    expect(queue.poll(0)).toEqual([]);
    expect(nodes(queue.poll(2))).toEqual(['a', 'b']);
    expect(nodes(queue.poll(2))).toEqual(['c']);
    expect(queue.poll(2)).toEqual([]);
  });
}

function routeTests(test: QueueTest): void {
  test('[QUE-10] tasks are given to receivers that poll their route', async ({ queue, visibilityMs, pass }) => {
    await queue.enqueue([task('a', 5, 'x'), task('b'), task('c', 9, 'y'), task('d', 5, 'x')]);
    expect([...queue.routes()].sort()).toEqual(['', 'x', 'y']);
    expect(nodes(queue.poll(10))).toEqual(['b']);
    expect(queue.poll(10, ['z'])).toEqual([]);
    expect(queue.poll(10, [])).toEqual([]);
    const c = only(queue.poll(10, ['y']));
    expect(c.task.node).toBe('c');
    expect(queue.routes()).toEqual(['x']);
    queue.nack(c, 0);
    expect([...nodes(queue.poll(10, ['x', 'y']))].sort()).toEqual(['a', 'c', 'd']);
    expect(queue.routes()).toEqual([]);
    await pass(visibilityMs);
    expect([...queue.routes()].sort()).toEqual(['', 'x', 'y']);
    expect([...nodes(queue.poll(10, ['', 'x', 'y']))].sort()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('[QUE-10] receivers are told on which routes tasks wait', async ({ queue, pass }) => {
    const heard: string[] = [];
    queue.onAvailable((routes) => heard.push(...routes));
    await queue.enqueue([task('a', 5, 'x')]);
    await pass(1);
    expect(heard).toContain('x');
    expect(heard).not.toContain('');
  });
}

function hintTests(test: QueueTest): void {
  test('[QUE-7] receivers are told of new tasks, until they stop', async ({ queue, pass }) => {
    const heard = vi.fn();
    const stop = queue.onAvailable(heard);
    await pass(1);
    expect(heard).not.toHaveBeenCalled();
    await queue.enqueue([task('a')]);
    await pass(1);
    expect(heard).toHaveBeenCalled();
    stop();
    heard.mockClear();
    await queue.enqueue([task('b')]);
    await pass(1);
    expect(heard).not.toHaveBeenCalled();
  });

  test('[QUE-7] receivers are told of tasks that come back', async ({ queue, visibilityMs, pass }) => {
    await queue.enqueue([task('a'), task('b')]);
    const heard = vi.fn();
    queue.onAvailable(heard);
    await pass(1);
    expect(heard).toHaveBeenCalled();
    const [a] = queue.poll(2) as [Delivery, Delivery];
    heard.mockClear();
    queue.nack(a, visibilityMs * 0.5);
    await pass(visibilityMs * 0.5);
    expect(heard).toHaveBeenCalled();
    expect(nodes(queue.poll(2))).toEqual(['a']);
    heard.mockClear();
    await pass(visibilityMs * 0.5);
    expect(heard).toHaveBeenCalled();
    expect(nodes(queue.poll(2))).toEqual(['b']);
  });
}
