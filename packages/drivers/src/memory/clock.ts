/**
 * A clock that stands still until it is told to move: for tests and the simulator.
 *
 *  1. Time moves only inside `advance` and `moveTo`, and only forwards.
 *  2. Timers fire in order of their due time, then of their making; `soon` callbacks before any timer.
 *  3. After each callback every promise that can settle does so, before the next callback is called.
 */
import { setImmediate } from 'node:timers';
import { Heap } from '@nebula/core';
import type { Clock, Timer } from '@nebula/ports';

export interface VirtualClock extends Clock {
  /** Moves time forward, timer by timer, and runs the callbacks that fall due; stops early when `until` holds. */
  advance(ms: number, until?: () => boolean): Promise<void>;
  /**
   * Jumps to a time and runs the callbacks due then, background timers first; earlier due times must have been moved to
   * first. A background timer (a heartbeat, a sweep) fires once per jump, however far it is: 30 days are one jump, not
   * 260,000 heartbeats.
   */
  moveTo(at: number): Promise<void>;
  /** Runs the callbacks of `soon`, and those that they add, without moving time. */
  runSoon(): Promise<void>;
  /** When the next timer is due, in the background or not, or of any kind; null if none is set. */
  nextTimerAt(kind?: { readonly background: boolean }): number | null;
}

interface Pending {
  readonly at: number;
  readonly order: number;
  callback: (() => void) | undefined;
}

/** `settled`: resolves once no promise job is left. */
export function virtualClock(startMs = 0, settled: () => Promise<void> = promiseJobsDone): VirtualClock {
  let now = startMs;
  let order = 0;
  let soon: (() => void)[] = [];
  const [timers, background] = [new Heap<Pending>(isEarlier), new Heap<Pending>(isEarlier)];

  const earliest = (): Pending | undefined => earlierOf(first(timers), first(background));

  const runSoon = async (): Promise<void> => {
    await settled();
    while (soon.length > 0) {
      const callbacks = soon;
      soon = [];
      for (const callback of callbacks) {
        callback();
        await settled();
      }
    }
  };

  /** A timer without a callback leaves its heap when it comes first. */
  const fire = async (pending: Pending): Promise<void> => {
    const { callback } = pending;
    pending.callback = undefined;
    callback?.();
    await runSoon();
  };

  return {
    now: () => now,
    timer(delayMs, callback, options): Timer {
      const pending: Pending = { at: now + Math.max(0, delayMs), order: order++, callback };
      (options?.background === true ? background : timers).push(pending);
      return {
        cancel() {
          pending.callback = undefined;
        },
      };
    },
    soon(callback) {
      soon.push(callback);
    },
    async advance(ms, until = () => false) {
      const target = now + ms;
      await runSoon();
      for (let next = earliest(); next !== undefined && next.at <= target; next = earliest()) {
        if (until()) return;
        now = Math.max(now, next.at);
        await fire(next);
      }
      if (!until()) now = Math.max(now, target);
    },
    async moveTo(at) {
      now = Math.max(now, at);
      const due: Pending[] = [];
      for (const heap of [background, timers]) {
        for (let next = first(heap); next !== undefined && next.at <= now; next = first(heap)) {
          heap.pop();
          due.push(next);
        }
      }
      for (const pending of due) await fire(pending);
    },
    runSoon,
    nextTimerAt(kind) {
      const next = kind === undefined ? earliest() : first(kind.background ? background : timers);
      return next?.at ?? null;
    },
  };
}

function isEarlier(a: Pending, b: Pending): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function earlierOf(one: Pending | undefined, other: Pending | undefined): Pending | undefined {
  return one === undefined || (other !== undefined && isEarlier(other, one)) ? other : one;
}

/** The next timer that was not cancelled. */
function first(heap: Heap<Pending>): Pending | undefined {
  while (heap.size > 0 && heap.peek()?.callback === undefined) heap.pop();
  return heap.peek();
}

/** The event loop runs immediates only when no promise job is left. */
function promiseJobsDone(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
