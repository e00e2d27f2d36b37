/**
 * The queue that a fleet shares. The queue is notified after the commit. A notification may be lost, come twice, late
 * or out of order. A task that is not acked comes back.
 */
import type { Delivery, Queue, Task } from '@nebula/ports';
import type { Chance } from '../chance.ts';
import type { WorldClock } from '../clock.ts';
import type { Injector } from '../injector.ts';
import type { Process } from '../process.ts';

const VISIBILITY_MS = 30_000;
const DELAYS_MS = [5, 300, 8_000];

interface Message {
  readonly task: Task;
  arrival: number;
  /** The task is not delivered before this time. */
  from: number;
  receipt: number | undefined;
}

export class Broker {
  private readonly clock: WorldClock;
  private readonly chance: Chance;
  private readonly faults: Injector;
  private readonly messages = new Set<Message>();
  private readonly listeners = new Map<() => void, Process>();
  private arrivals = 0;
  private receipts = 0;
  private isAnnounced = false;

  constructor(clock: WorldClock, chance: Chance, faults: Injector) {
    this.clock = clock;
    this.chance = chance;
    this.faults = faults;
  }

  get depth(): number {
    return this.messages.size;
  }

  /** The queue as one process sees it. */
  seenBy(process: Process): Queue {
    return {
      local: false,
      enqueue: (tasks) =>
        process.call('queue.enqueue', async () => {
          for (const task of tasks) this.accept(task);
          this.announce();
        }),
      poll: (max, routes) => process.callNow('queue.poll', [], () => this.handOut(max, routes)),
      routes: () => this.routes(),
      onAvailable: (callback) => {
        const listener = process.callback('queue.onAvailable', () => callback(this.routes()));
        this.listeners.set(listener, process);
        this.announce();
        return () => this.listeners.delete(listener);
      },
      ack: (delivery) => process.callNow('queue.ack', undefined, () => this.release(delivery, undefined)),
      nack: (delivery, delayMs) => process.callNow('queue.nack', undefined, () => this.release(delivery, delayMs)),
      extend: (delivery) => process.callNow('queue.extend', undefined, () => this.extend(delivery)),
      stats: async () => ({ depth: this.depth, waitingSince: null, waiting: new Map() }),
      close: async () => {},
    };
  }

  /** Offers waiting tasks again. */
  heal(): void {
    this.announce();
  }

  private accept(task: Task): void {
    const targets = (): Task[] => [task];
    if (this.faults.strikes('delivery lost', targets)) return;
    const isRepeated = this.faults.strikes('delivery repeated', targets);
    for (const message of this.messages) if (message.task.taskId === task.taskId && !isRepeated) return;
    for (let copies = isRepeated ? 2 : 1; copies > 0; copies--) this.add(task);
  }

  private add(task: Task): void {
    const targets = (): Task[] => [task];
    const message: Message = { task, arrival: this.arrivals++, from: 0, receipt: undefined };
    if (this.faults.strikes('delivery reordered', targets)) message.arrival -= this.chance.below(20);
    this.messages.add(message);
    if (this.faults.strikes('delivery delayed', targets)) this.hide(message, this.chance.pick(DELAYS_MS));
  }

  private hide(message: Message, ms: number): void {
    message.from = this.clock.now() + ms;
    this.clock.timer(ms, () => this.announce());
  }

  private routes(): string[] {
    const now = this.clock.now();
    return [...new Set([...this.messages].filter(({ from }) => from <= now).map(({ task }) => task.route))];
  }

  private handOut(max: number, routes: readonly string[] = ['']): Delivery[] {
    const now = this.clock.now();
    const ready = [...this.messages]
      .filter(({ from, task }) => from <= now && routes.includes(task.route))
      .sort((a, b) => b.task.priority - a.task.priority || a.arrival - b.arrival);
    return ready.slice(0, max).map((message) => {
      message.receipt = ++this.receipts;
      this.hide(message, VISIBILITY_MS);
      return { task: message.task, receipt: message.receipt };
    });
  }

  private delivered({ receipt }: Delivery): Message | undefined {
    for (const message of this.messages) if (message.receipt === receipt) return message;
    return undefined;
  }

  /** Removes a delivered task for good or, with a delay, makes it visible again after that. */
  private release(delivery: Delivery, delayMs: number | undefined): void {
    const message = this.delivered(delivery);
    if (message === undefined || message.from <= this.clock.now()) return;
    message.receipt = undefined;
    if (delayMs === undefined) this.messages.delete(message);
    else this.hide(message, delayMs);
  }

  private extend(delivery: Delivery): void {
    const message = this.delivered(delivery);
    if (message !== undefined && message.from > this.clock.now()) this.hide(message, VISIBILITY_MS);
  }

  private announce(): void {
    if (this.isAnnounced) return;
    this.isAnnounced = true;
    this.clock.soon(() => {
      this.isAnnounced = false;
      const now = this.clock.now();
      const targets = (): Task[] => [...this.messages].filter(({ from }) => from <= now).map(({ task }) => task);
      if (targets().length === 0) return;
      for (const [listener, process] of [...this.listeners]) {
        if (process.isDead) this.listeners.delete(listener);
        else if (!this.faults.strikes('hint lost', targets)) {
          listener();
          if (this.faults.strikes('hint repeated', targets)) listener();
        }
      }
    });
  }
}
