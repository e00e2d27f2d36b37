/**
 * Time in a test: it stands still until it is moved, and then jumps.
 *
 *  1 Time moves only inside `moveTo`, and only forwards.
 *  2 Timers fire in order of their due time, then of their making; `soon` callbacks before any timer.
 *  3 What is due in the background (heartbeats, sweeps) fires once when time has jumped over it, however far that was:
 *    30 days are one jump, not 260,000 heartbeats.
 *  4 After each callback every promise that can settle does so, before the next callback is called.
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

  /** When the next timer is due that somebody waits for. */
  nextAt(): number {
    return next(this.#timers)?.at ?? Number.POSITIVE_INFINITY;
  }

  nextInBackgroundAt(): number {
    return next(this.#background)?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Calls back what waits for this turn, and what that asks for in turn, without moving time. */
  async drain(): Promise<void> {
    await promisesSettled();
    while (this.#soon.length > 0) {
      const callbacks = this.#soon;
      this.#soon = [];
      for (const callback of callbacks) {
        callback();
        await promisesSettled();
      }
    }
  }

  /** Jumps to a moment and calls back what is due then; what falls due before it must have been moved to first. */
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

/** The event loop comes back here only when no promise job is left. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
