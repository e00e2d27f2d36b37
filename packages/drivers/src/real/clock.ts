import type { Clock, Timer } from '@nebula/ports';

/**
 * The longest single timeout. Longer delays are split: `setTimeout` fires at once above 24.8 days, and it stands still
 * while a laptop sleeps, so a timer of an hour could be a night late.
 */
const MAX_PIECE_MS = 60_000;

/** `setTimeout` counts on a monotonic clock and may fire this much before `Date.now` agrees. */
const MAX_EARLY_MS = 5;

interface Early {
  readonly dueAt: number;
  /** Timers are numbered in order of creation. */
  readonly number: number;
  call(): void;
}

/** Timers that fired slightly too early. A timer that is due later, or was created later, waits for them. */
const early = new Set<Early>();

let created = 0;

export const realClock: Clock = {
  now: () => Date.now(),

  timer(delayMs: number, callback: () => void, options?: { readonly background?: boolean }): Timer {
    const dueAt = Date.now() + delayMs;
    const dueMonotonic = performance.now() + delayMs;
    let handle: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      handle = setTimeout(fire, Math.min(Math.max(0, Math.ceil(leftMs)), MAX_PIECE_MS));
      if (options?.background === true) handle.unref();
    };
    const fire = (): void => {
      const leftMs = dueAt - Date.now();
      // A wall clock that is set back by an hour must not stop heartbeats for an hour.
      const waitedLongEnough = performance.now() >= dueMonotonic && leftMs > MAX_EARLY_MS;
      if (leftMs > 0 && !waitedLongEnough) {
        if (leftMs <= MAX_EARLY_MS) early.add(self);
        return arm(leftMs);
      }
      early.delete(self);
      try {
        for (const one of early) if (isBefore(one, self)) one.call();
      } finally {
        callback();
      }
    };
    const leave = (): void => {
      early.delete(self);
      clearTimeout(handle);
    };
    const self: Early = {
      dueAt,
      number: created++,
      call() {
        leave();
        callback();
      },
    };
    arm(delayMs);
    return { cancel: leave };
  },

  soon(callback: () => void): void {
    setImmediate(callback);
  },
};

function isBefore(one: Early, other: Early): boolean {
  return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.number < other.number);
}
