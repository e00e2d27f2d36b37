/**
 * A process: one engine and its edge to the world. When it is killed it does nothing and hears nothing: its calls take
 * no effect and are never answered, its timers are still.
 */
import type { Clock, Store, Write } from '@nebula/ports';
import type { TestClock } from './clock.ts';

/** Around every append. True: the process dies there. */
export interface Edge {
  beforeAppend(writes: readonly Write[]): boolean;
  afterAppend(writes: readonly Write[]): boolean;
}

export class Process {
  isDead = false;
  readonly clock: Clock;
  readonly died: Promise<void>;
  private readonly bury: () => void;

  constructor(clock: TestClock) {
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

  /** The store as this process sees it. Runs are kept for as long as the test looks at them. */
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
