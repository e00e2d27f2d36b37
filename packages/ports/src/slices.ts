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

/** The work that waits for the event loop. */
const waiting = new WeakMap<Clock, (() => void)[]>();

/**
 * Lets the event loop run, after a piece of work that takes milliseconds. One piece continues per turn of the loop, the
 * longest-waiting first: many callers at once do not add up to one long block.
 */
export function pause(clock: Clock): Promise<void> {
  const queue = waiting.get(clock) ?? [];
  if (queue.length === 0) {
    waiting.set(clock, queue);
    // Twice: `soon` of a callback of a socket comes before timers and other sockets.
    clock.soon(() => clock.soon(() => resumeNext(clock, queue)));
  }
  return new Promise((resolve) => void queue.push(resolve));
}

/** Values of more characters are read, written and encoded in turns of the event loop of their own: 1 ms and more. */
const SHARED_TURN_CHARS = 64 * 1024;

/** Pauses before work on a value of this size, unless it is small. */
export function pauseFor(size: number, clock: Clock): Promise<void> | undefined {
  return size > SHARED_TURN_CHARS ? pause(clock) : undefined;
}

function resumeNext(clock: Clock, queue: (() => void)[]): void {
  queue.shift()?.();
  if (queue.length > 0) clock.soon(() => resumeNext(clock, queue));
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
