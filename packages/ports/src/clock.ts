/** Time, passed in: the real clock in production, a virtual one in the simulator. */

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once, not earlier than `delayMs` from now. Does not keep the process alive when `background`. */
  timer(delayMs: number, callback: () => void, options?: { readonly background?: boolean }): Timer;
  /** Calls back after everything that is already scheduled in this turn of the event loop. */
  soon(callback: () => void): void;
}

export function later(clock: Pick<Clock, 'timer'>, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.timer(ms, resolve));
}
