/**
 * The queue of one process.
 *
 *  1. A task is in `#tasks` from `enqueue` until `ack`, and in exactly one of `#ready` (under its route), `#inFlight`, `#delayed`.
 *     A route without ready tasks is not in `#ready`.
 *  2. `#inFlight` is in order of `until`: visibility is the same for all tasks, and `extend` moves a task to the end.
 *  3. A task that comes back keeps its place of arrival.
 *  4. One timer, set for the earliest return or before it. Nothing is scanned until then: walking over the acked tasks
 *     at the front of `#inFlight` with each ack made 100,000 tasks take 3.5 s instead of 0.1 s.
 */

import { Heap } from '@nebula/core';
import type { Clock, Delivery, Queue, QueueStats, Task, Timer } from '@nebula/ports';

export interface MemoryQueueOptions {
  readonly clock: Clock;
  readonly visibilityMs?: number;
}

interface Waiting {
  readonly task: Task;
  readonly arrival: number;
  /** The time at which the task began to wait for a receiver. */
  readonly since: number;
}

const DEFAULT_VISIBILITY_MS = 30_000;

const HERE: readonly string[] = [''];

function goesFirst(a: Waiting, b: Waiting): boolean {
  return a.task.priority > b.task.priority || (a.task.priority === b.task.priority && a.arrival < b.arrival);
}

export function memoryQueue(options: MemoryQueueOptions): Queue {
  return new MemoryQueue(options.clock, options.visibilityMs ?? DEFAULT_VISIBILITY_MS);
}

class MemoryQueue implements Queue {
  readonly local = true;
  readonly #clock: Clock;
  readonly #visibilityMs: number;
  readonly #tasks = new Set<string>();
  readonly #ready = new Map<string, Heap<Waiting>>();
  readonly #inFlight = new Map<number, { readonly waiting: Waiting; readonly until: number }>();
  readonly #delayed = new Heap<{ readonly waiting: Waiting; readonly at: number }>((a, b) => a.at < b.at);
  readonly #listeners = new Set<(routes: readonly string[]) => void>();
  #arrivals = 0;
  #receipts = 0;
  #announced = false;
  #closed = false;
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, visibilityMs: number) {
    this.#clock = clock;
    this.#visibilityMs = visibilityMs;
  }

  enqueue(tasks: readonly Task[]): undefined {
    const since = this.#clock.now();
    for (const task of tasks) {
      if (this.#closed || this.#tasks.has(task.taskId)) continue;
      this.#tasks.add(task.taskId);
      this.#makeReady({ task, arrival: this.#arrivals++, since });
    }
    this.#announce();
  }

  poll(max: number, routes: readonly string[] = HERE): readonly Delivery[] {
    this.#takeBack();
    const deliveries: Delivery[] = [];
    const until = this.#clock.now() + this.#visibilityMs;
    while (deliveries.length < max) {
      const waiting = this.#mostUrgent(routes);
      if (waiting === undefined) break;
      const receipt = ++this.#receipts;
      this.#inFlight.set(receipt, { waiting, until });
      deliveries.push({ task: waiting.task, receipt });
    }
    if (deliveries.length > 0) this.#wakeAt(until);
    return deliveries;
  }

  routes(): readonly string[] {
    this.#takeBack();
    return [...this.#ready.keys()];
  }

  onAvailable(callback: (routes: readonly string[]) => void): () => void {
    const listener = (routes: readonly string[]): void => callback(routes);
    this.#listeners.add(listener);
    this.#announce();
    return () => this.#listeners.delete(listener);
  }

  ack(delivery: Delivery): void {
    const waiting = this.#release(delivery);
    if (waiting !== undefined) this.#tasks.delete(waiting.task.taskId);
  }

  nack(delivery: Delivery, delayMs: number): void {
    const waiting = this.#release(delivery);
    if (waiting === undefined) return;
    if (delayMs <= 0) {
      this.#makeReady({ ...waiting, since: this.#clock.now() });
      this.#announce();
    } else {
      const at = this.#clock.now() + delayMs;
      this.#delayed.push({ waiting, at });
      this.#wakeAt(at);
    }
  }

  extend(delivery: Delivery): void {
    const waiting = this.#release(delivery);
    if (waiting === undefined) return;
    this.#inFlight.set(delivery.receipt, { waiting, until: this.#clock.now() + this.#visibilityMs });
  }

  /** Visits every waiting task. */
  async stats(): Promise<QueueStats> {
    let waitingSince: number | null = null;
    for (const heap of this.#ready.values()) {
      for (const { since } of heap) if (waitingSince === null || since < waitingSince) waitingSince = since;
    }
    const waiting = new Map([...this.#ready].map(([route, heap]) => [route, heap.size]));
    return { depth: this.#tasks.size, waitingSince, waiting };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    this.#listeners.clear();
  }

  #makeReady(waiting: Waiting): void {
    const { route } = waiting.task;
    let heap = this.#ready.get(route);
    if (heap === undefined) {
      heap = new Heap(goesFirst);
      this.#ready.set(route, heap);
    }
    heap.push(waiting);
  }

  #mostUrgent(routes: readonly string[]): Waiting | undefined {
    let first: { readonly route: string; readonly heap: Heap<Waiting>; readonly waiting: Waiting } | undefined;
    for (const route of routes) {
      const heap = this.#ready.get(route);
      const waiting = heap?.peek();
      if (heap === undefined || waiting === undefined) continue;
      if (first === undefined || goesFirst(waiting, first.waiting)) first = { route, heap, waiting };
    }
    first?.heap.pop();
    if (first?.heap.size === 0) this.#ready.delete(first.route);
    return first?.waiting;
  }

  /** Releases the held task; undefined if its visibility has passed. */
  #release(delivery: Delivery): Waiting | undefined {
    this.#takeBack();
    const delivered = this.#inFlight.get(delivery.receipt);
    this.#inFlight.delete(delivery.receipt);
    return delivered?.waiting;
  }

  /** Makes tasks ready whose visibility or delay has passed; scans only when the timer is due. */
  #takeBack(): void {
    const now = this.#clock.now();
    if (now < this.#timerAt) return;
    for (const [receipt, { waiting, until }] of this.#inFlight) {
      if (until > now) break;
      this.#inFlight.delete(receipt);
      this.#makeReady({ ...waiting, since: now });
    }
    for (let next = this.#delayed.peek(); next !== undefined && next.at <= now; next = this.#delayed.peek()) {
      this.#delayed.pop();
      this.#makeReady({ ...next.waiting, since: now });
    }
    this.#timerAt = Number.POSITIVE_INFINITY;
    const oldest = this.#inFlight.values().next();
    if (oldest.done !== true) this.#wakeAt(oldest.value.until);
    const soonest = this.#delayed.peek();
    if (soonest !== undefined) this.#wakeAt(soonest.at);
    this.#announce();
  }

  #wakeAt(at: number): void {
    if (this.#closed || at >= this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = this.#clock.timer(at - this.#clock.now(), () => this.#takeBack(), { background: true });
  }

  #announce(): void {
    if (this.#announced || this.#ready.size === 0 || this.#listeners.size === 0) return;
    this.#announced = true;
    this.#clock.soon(() => {
      this.#announced = false;
      if (this.#ready.size === 0) return;
      const routes = [...this.#ready.keys()];
      for (const listener of [...this.#listeners]) listener(routes);
    });
  }
}
