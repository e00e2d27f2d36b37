/**
 * A clock that stands still until it is told to move: for tests and the simulator.
 *
 *  1. Time moves only inside `advance`, and only forwards.
 *  2. Timers fire in order of their due time, then of their making; `soon` callbacks before any timer.
 *  3. After each callback every promise that can settle does so, before the next callback is called.
 */
import { setImmediate } from 'node:timers';
import { Heap } from '@nebula/core';
import type { Clock, Timer } from '@nebula/ports';

export interface VirtualClock extends Clock {
  /** Moves time forward and runs the callbacks that fall due. */
  advance(ms: number): Promise<void>;
  /** Runs the callbacks of `soon`, and those that they add, without moving time. */
  runSoon(): Promise<void>;
  /** When the next timer is due; null if none is set. */
  nextTimerAt(): number | null;
}

interface Pending {
  readonly at: number;
  readonly order: number;
  callback: (() => void) | undefined;
}

export function virtualClock(startMs = 0): VirtualClock {
  let now = startMs;
  let order = 0;
  let soon: (() => void)[] = [];
  const timers = new Heap<Pending>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));

  const nextTimer = (): Pending | undefined => {
    while (timers.size > 0 && timers.peek()?.callback === undefined) timers.pop();
    return timers.peek();
  };

  const runSoon = async (): Promise<void> => {
    await promiseJobsDone();
    while (soon.length > 0) {
      const callbacks = soon;
      soon = [];
      for (const callback of callbacks) {
        callback();
        await promiseJobsDone();
      }
    }
  };

  return {
    now: () => now,
    timer(delayMs: number, callback: () => void): Timer {
      const pending: Pending = { at: now + Math.max(0, delayMs), order: order++, callback };
      timers.push(pending);
      return {
        cancel() {
          pending.callback = undefined;
        },
      };
    },
    soon(callback: () => void): void {
      soon.push(callback);
    },
    async advance(ms: number): Promise<void> {
      const target = now + ms;
      await runSoon();
      for (let next = nextTimer(); next !== undefined && next.at <= target; next = nextTimer()) {
        timers.pop();
        now = Math.max(now, next.at);
        const callback = next.callback;
        next.callback = undefined;
        callback?.();
        await runSoon();
      }
      now = Math.max(now, target);
    },
    runSoon,
    nextTimerAt: () => nextTimer()?.at ?? null,
  };
}

/** Resolves once no promise job is left: the event loop runs immediates only then. */
function promiseJobsDone(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
