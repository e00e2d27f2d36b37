/** Long work of the core, in slices: between two of them everybody else gets a turn of the event loop. */
import type { Steps } from '@nebula/core';
import type { Clock } from '@nebula/ports';

const SLICE_MS = 10;

/** As many steps as fit into a slice; undefined when some are left. A virtual clock stands still: there it is all of them. */
export function oneSlice<T>(steps: Steps<T>, clock: Clock): { readonly value: T } | undefined {
  const begunAt = clock.now();
  do {
    const { done, value } = steps.next();
    if (done === true) return { value };
  } while (Math.abs(clock.now() - begunAt) < SLICE_MS);
  return undefined;
}

/** After large work in one piece. */
export async function pause(clock: Clock): Promise<void> {
  await new Promise<void>((resolve) => clock.soon(resolve));
}

export async function inSlices<T>(steps: Steps<T>, clock: Clock): Promise<T> {
  for (;;) {
    const made = oneSlice(steps, clock);
    if (made !== undefined) return made.value;
    await pause(clock);
  }
}
