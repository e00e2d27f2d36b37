import { setTimeout as passed } from 'node:timers/promises';

/** Waits for the given time, or until the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await passed(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}
