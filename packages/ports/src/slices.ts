/** Runs long work of the core in slices, between which the event loop runs. */
import { isUnfinished, type Json, type SchemaCheck, type SchemaProblem, type Steps } from '@nebula/core';
import type { Clock } from './clock.ts';

export const SLICE_MS = 10;

/**
 * Runs as many steps as fit into a slice; undefined if some are left. On a virtual clock, which stands still, all fit.
 */
export function oneSlice<T>(steps: Steps<T>, clock: Clock): { readonly value: T } | undefined {
  const begunAt = clock.now();
  do {
    const { done, value } = steps.next();
    if (done === true) return { value };
  } while (!isSliceOver(clock, begunAt));
  return undefined;
}

export function isSliceOver(clock: Clock, begunAt: number): boolean {
  return Math.abs(clock.now() - begunAt) >= SLICE_MS;
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

/** Checks a value against a schema: a small one at once, a large one in slices. */
export function checkInSlices(
  check: SchemaCheck,
  value: Json,
  clock: Clock,
): readonly SchemaProblem[] | undefined | Promise<readonly SchemaProblem[] | undefined> {
  const begun = check.begin(value);
  return isUnfinished(begun) ? inSlices(begun, clock) : begun;
}
