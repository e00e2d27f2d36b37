/**
 * A simulated process: one engine and its connections. Once killed, it does nothing and receives nothing: its calls
 * have no effect and never resolve, its timers do not fire.
 */
import type { Clock, Store, Write } from '@nebula/ports';

/** Called around every append. Returning true kills the process at that point. */
export interface Edge {
  beforeAppend(writes: readonly Write[]): boolean;
  afterAppend(writes: readonly Write[]): boolean;
}

export class Process {
  isDead = false;
  readonly clock: Clock;
  readonly died: Promise<void>;
  private readonly bury: () => void;

  constructor(clock: Clock) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.died = promise;
    this.bury = resolve;
    const alive = (callback: () => void) => () => {
      if (!this.isDead) callback();
    };
    this.clock = {
      now: () => clock.now(),
      timer: (delayMs, callback, options) => clock.timer(delayMs, alive(callback), options),
      soon: (callback) => clock.soon(alive(callback)),
    };
  }

  kill(): void {
    this.isDead = true;
    this.bury();
  }

  /** The store as seen by this process. Runs are kept as long as the test needs them. */
  store(store: Store, edge: Edge): Store {
    const append: Store['append'] = async (writes) => {
      if (this.isDead || edge.beforeAppend(writes)) return never();
      const outcomes = await store.append(writes);
      if (this.isDead || edge.afterAppend(writes)) return never();
      return outcomes;
    };
    const own: Partial<Store> = { append, expired: async () => [] };
    return new Proxy(store, {
      get: (target, key) => {
        const value = (Reflect.get(own, key) ?? Reflect.get(target, key, target)) as unknown;
        if (typeof value !== 'function') return value;
        return (...args: readonly unknown[]): unknown => (this.isDead ? never() : Reflect.apply(value, target, args));
      },
    });
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
