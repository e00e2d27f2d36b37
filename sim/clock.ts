/**
 * The clock of a simulated world. Node runs next-tick callbacks when no promise job is left, and waits for nothing else
 * meanwhile: nothing real may be awaited here.
 */
import { nextTick } from 'node:process';
import { type VirtualClock, virtualClock } from '@nebula/drivers/memory';

export type WorldClock = VirtualClock;

export function worldClock(startMs: number): WorldClock {
  return virtualClock(startMs, () => new Promise((resolve) => nextTick(resolve)));
}
