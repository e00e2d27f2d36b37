/**
 * The clock of a simulated world.
 *
 *  1 Time moves only inside `advance`.
 *  2 Timers fire in order of their due time, then of their creation; `soon` callbacks before any timer.
 *  3 After each callback every promise that can settle does so before the next callback runs. Node runs next-tick
 *    callbacks when no promise job is left, and waits for nothing else meanwhile: nothing real may be awaited here.
 */
import { nextTick } from 'node:process';
import { Heap } from '@nebula/core';
import type { Clock, Timer } from '@nebula/ports';

interface Pending {
  readonly at: number;
  readonly order: number;
  callback: (() => void) | undefined;
}

export class WorldClock implements Clock {
  private time: number;
  private order = 0;
  private waiting: (() => void)[] = [];
  private readonly timers = new Heap<Pending>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));

  constructor(startMs: number) {
    this.time = startMs;
  }

  now(): number {
    return this.time;
  }

  timer(delayMs: number, callback: () => void): Timer {
    const pending: Pending = { at: this.time + Math.max(0, delayMs), order: this.order++, callback };
    this.timers.push(pending);
    return {
      cancel() {
        pending.callback = undefined;
      },
    };
  }

  soon(callback: () => void): void {
    this.waiting.push(callback);
  }

  /** Moves time forward and runs the callbacks that fall due; stops early when `until` holds. */
  async advance(ms: number, until: () => boolean = () => false): Promise<void> {
    const target = this.time + ms;
    await this.drain();
    for (let next = this.next(); next !== undefined && next.at <= target; next = this.next()) {
      if (until()) return;
      this.timers.pop();
      this.time = Math.max(this.time, next.at);
      const { callback } = next;
      next.callback = undefined;
      callback?.();
      await this.drain();
    }
    if (!until()) this.time = Math.max(this.time, target);
  }

  private next(): Pending | undefined {
    while (this.timers.size > 0 && this.timers.peek()?.callback === undefined) this.timers.pop();
    return this.timers.peek();
  }

  private async drain(): Promise<void> {
    await promiseJobsDone();
    while (this.waiting.length > 0) {
      const callbacks = this.waiting;
      this.waiting = [];
      for (const callback of callbacks) {
        callback();
        await promiseJobsDone();
      }
    }
  }
}

function promiseJobsDone(): Promise<void> {
  return new Promise((resolve) => nextTick(resolve));
}
