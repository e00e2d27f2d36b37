/** Runs long work of the core in slices, between which the event loop runs. */
import { beginCopy, isUnfinished, type Json, type SchemaCheck, type SchemaProblem, type Steps } from '@nebula/core';
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

/** Turns of the engine and its attempts, other work (compiling, checking, folding), and requests from outside. */
const KINDS = ['turn', 'work', 'request'] as const;

type Kind = (typeof KINDS)[number];

interface Waiting {
  readonly queues: Readonly<Record<Kind, (() => void)[]>>;
  isScheduled: boolean;
  /** The kind that continued last: the next one is another kind, if one waits. */
  last: Kind;
}

const waiting = new WeakMap<Clock, Waiting>();

/**
 * Lets the event loop run, after a piece of work that takes milliseconds. One piece continues per turn of the loop: many
 * callers at once do not add up to one long block. The kinds take turns, so that no number of requests holds up the
 * engine; within a kind the longest-waiting piece comes first.
 */
export function pause(clock: Clock, kind: Kind = 'work'): Promise<void> {
  const all = waitingOn(clock);
  // Twice: `soon` of a callback of a socket comes before timers and other sockets.
  if (!all.isScheduled) clock.soon(() => clock.soon(() => resumeNext(clock, all)));
  all.isScheduled = true;
  return new Promise((resolve) => void all.queues[kind].push(resolve));
}

/** Whether long work waits: what takes milliseconds should wait with it. */
export function isLongWorkWaiting(clock: Clock): boolean {
  return waiting.get(clock)?.isScheduled === true;
}

function waitingOn(clock: Clock): Waiting {
  const known = waiting.get(clock);
  if (known !== undefined) return known;
  const all: Waiting = { queues: { turn: [], work: [], request: [] }, isScheduled: false, last: 'request' };
  waiting.set(clock, all);
  return all;
}

function resumeNext(clock: Clock, all: Waiting): void {
  const after = KINDS.indexOf(all.last) + 1;
  const next = [...KINDS.slice(after), ...KINDS].find((kind) => all.queues[kind].length > 0);
  if (next !== undefined) {
    all.last = next;
    all.queues[next].shift()?.();
  }
  all.isScheduled = KINDS.some((kind) => all.queues[kind].length > 0);
  if (all.isScheduled) clock.soon(() => resumeNext(clock, all));
}

/** Values of more characters are read, written and encoded in turns of the event loop of their own: 1 ms and more. */
const SHARED_TURN_CHARS = 64 * 1024;

/** Pauses before work on a value of this size, unless it is small. */
export function pauseFor(size: number, clock: Clock, kind: Kind = 'work'): Promise<void> | undefined {
  return size > SHARED_TURN_CHARS ? pause(clock, kind) : undefined;
}

export async function inSlices<T>(steps: Steps<T>, clock: Clock, kind?: Kind): Promise<T> {
  for (;;) {
    const made = oneSlice(steps, clock);
    if (made !== undefined) return made.value;
    await pause(clock, kind);
  }
}

/** Copies a value: a small one at once, a large one in slices. */
export function copyInSlices(value: Json, clock: Clock): Json | Promise<Json> {
  const begun = beginCopy(value);
  return 'copy' in begun ? begun.copy : inSlices(begun, clock);
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
