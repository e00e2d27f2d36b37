/** Runs long work of the core in slices, between which the event loop runs. */
import type { Steps } from '@nebula/core/run';
import type { Clock } from '@nebula/ports';

export const SLICE_MS = 10;

/**
 * Runs as many steps as fit into a slice; undefined if some are left. On a virtual clock, which stands still, all fit.
 */
export function oneSlice<T>(steps: Steps<T>, clock: Clock): { readonly value: T } | undefined {
  const begunAt = clock.now();
  do {
    const { done, value } = steps.next();
    if (done === true) return { value };
  } while (Math.abs(clock.now() - begunAt) < SLICE_MS);
  return undefined;
}

/**
 * Lets the event loop run, after a piece of work that takes milliseconds. Twice: `soon` of a callback of a socket comes
 * before timers and other sockets.
 */
export async function pause(clock: Clock): Promise<void> {
  await new Promise<void>((resolve) => clock.soon(() => clock.soon(resolve)));
}

export async function inSlices<T>(steps: Steps<T>, clock: Clock): Promise<T> {
  for (;;) {
    const made = oneSlice(steps, clock);
    if (made !== undefined) return made.value;
    await pause(clock);
  }
}
