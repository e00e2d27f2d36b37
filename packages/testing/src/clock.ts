/**
 * The virtual clock of a test: time stands still until it is moved, and then jumps.
 *
 *  1. Time moves only inside `moveTo`, and only forwards.
 *  2. Timers fire in order of their due time, then of their creation; `soon` callbacks run before any timer.
 *  3. Background timers (heartbeats, sweeps) fire once per jump, however far it is: 30 days are one jump, not 260,000
 *     heartbeats.
 *  4. After each callback, all promises that can settle do so before the next callback runs.
 */
import { setImmediate } from 'node:timers';
import { Heap } from '@nebula/core';
import type { Clock, Timer } from '@nebula/ports';

interface Pending {
  readonly at: number;
  readonly order: number;
  callback: (() => void) | undefined;
}

const isEarlier = (a: Pending, b: Pending): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

export class TestClock implements Clock {
  #now: number;
  #order = 0;
  #soon: (() => void)[] = [];
  readonly #timers = new Heap<Pending>(isEarlier);
  readonly #background = new Heap<Pending>(isEarlier);

  constructor(startMs: number) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  timer(delayMs: number, callback: () => void, options: { readonly background?: boolean } = {}): Timer {
    const pending: Pending = { at: this.#now + Math.max(0, delayMs), order: this.#order++, callback };
    (options.background === true ? this.#background : this.#timers).push(pending);
    return {
      cancel() {
        pending.callback = undefined;
      },
    };
  }

  soon(callback: () => void): void {
    this.#soon.push(callback);
  }

  /** The due time of the next foreground timer. */
  nextAt(): number {
    return next(this.#timers)?.at ?? Number.POSITIVE_INFINITY;
  }

  nextInBackgroundAt(): number {
    return next(this.#background)?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Runs pending `soon` callbacks, and those that they schedule, without moving time. */
  async drain(): Promise<void> {
    await promiseJobsDone();
    while (this.#soon.length > 0) {
      const callbacks = this.#soon;
      this.#soon = [];
      for (const callback of callbacks) {
        callback();
        await promiseJobsDone();
      }
    }
  }

  /** Jumps to a time and runs the callbacks due then; earlier due times must have been moved to first. */
  async moveTo(at: number): Promise<void> {
    this.#now = Math.max(this.#now, at);
    const now = this.#now;
    const due: Pending[] = [];
    for (const heap of [this.#background, this.#timers]) {
      for (let first = next(heap); first !== undefined && first.at <= now; first = next(heap)) {
        heap.pop();
        due.push(first);
      }
    }
    for (const pending of due) {
      const { callback } = pending;
      pending.callback = undefined;
      callback?.();
      await this.drain();
    }
  }
}

function next(heap: Heap<Pending>): Pending | undefined {
  while (heap.size > 0 && heap.peek()?.callback === undefined) heap.pop();
  return heap.peek();
}

/** Resolves once the queue of promise jobs is empty: the event loop runs immediates only then. */
function promiseJobsDone(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
