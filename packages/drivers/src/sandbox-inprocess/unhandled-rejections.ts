/**
 * Promises that an action starts and does not await may reject at any later time; by default that ends the process, and
 * with it every other run in it. Here such a rejection is traced to its attempt and told in its log.
 *
 *  1 Only what was started by an action is contained; any other unhandled rejection ends the process as before.
 *  2 Code of the host that an action calls (logs, progress) runs outside of the action's context, so its faults stay its own.
 *  3 Another listener for `unhandledRejection` in the process still hears of all of them.
 *
 * Not contained, because nothing in a process can: exceptions in callbacks of timers and emitters, endless loops,
 * `process.exit`. Untrusted code belongs in the WASM sandbox.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface RejectionListener {
  onUnhandledRejection(reason: unknown): void;
}

const current = new AsyncLocalStorage<RejectionListener>();
let installed = false;

/** Installed once per process; a sandbox is never closed, so the listener stays. */
export function containRejections(): void {
  if (installed) return;
  installed = true;
  process.on('unhandledRejection', (reason) => {
    const listener = current.getStore();
    if (listener !== undefined) return current.exit(() => listener.onUnhandledRejection(reason));
    if (process.listenerCount('unhandledRejection') === 1) throw reason;
  });
}

export function runContained<Args extends unknown[], Result>(
  listener: RejectionListener,
  action: (...args: Args) => Result,
  ...args: Args
): Result {
  return current.run(listener, action, ...args);
}

export function runUncontained(callback: () => void): void {
  current.exit(callback);
}
