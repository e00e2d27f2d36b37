/** An engine on memory drivers and a virtual clock, with actions that the test ends by hand. */
import type { Action, Json, RunError } from '@nebula/core';
import {
  memoryBlobs,
  memoryData,
  memoryLogs,
  memoryQueue,
  memoryStore,
  seededRandom,
  type VirtualClock,
  virtualClock,
} from '@nebula/drivers/memory';
import { sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import type { Blobs, Clock, Secrets, Store } from '@nebula/ports';
import { ActionError } from '@nebula/sdk';
import type { LiveEvent } from '../src/api.ts';
import { createEngine, type Drivers, type Engine, type EngineOptions } from '../src/index.ts';

/** A call of the action `hand`, waiting for the test to end it. */
export interface Call {
  readonly node: string;
  readonly attempt: number;
  readonly input: Json;
  readonly key: string;
  readonly signal: AbortSignal;
  complete(output?: Json): void;
  fail(error?: Partial<RunError>): void;
}

export interface BenchOptions extends Partial<EngineOptions> {
  /** Wraps the store, to make it fail. */
  readonly wrapStore?: (store: Store) => Store;
  readonly only?: readonly string[];
  readonly secrets?: Secrets;
}

/** A process's view of the clock: when it is dead, nothing calls it back. */
class Process {
  isDead = false;
  readonly clock: Clock;

  constructor(clock: VirtualClock) {
    const alive = (callback: () => void) => () => {
      if (!this.isDead) callback();
    };
    this.clock = {
      now: () => clock.now(),
      timer: (delayMs, callback) => clock.timer(delayMs, alive(callback)),
      soon: (callback) => clock.soon(alive(callback)),
    };
  }
}

/** The bench: its data survives a crash of the engine, and nothing else does. */
export class BenchTop {
  readonly clock: VirtualClock = virtualClock(1_700_000_000_000);
  readonly random = seededRandom(7, () => this.clock.now());
  readonly data = memoryData();
  readonly blobs: Blobs = memoryBlobs();
  readonly calls: Call[] = [];
  readonly events: LiveEvent[] = [];
  readonly ran: string[] = [];
  private process = new Process(this.clock);
  engine!: Engine;
  store!: Store;
  drivers!: Drivers;

  readonly actions: readonly Action[] = [
    this.handAction('hand', 'idempotent'),
    this.handAction('pay', 'once'),
    {
      id: 'echo',
      version: '1',
      effect: 'pure',
      run: (ctx, input) => {
        this.ran.push(ctx.node);
        return input;
      },
    },
    { id: 'hang', version: '1', effect: 'pure', run: () => new Promise<Json>(() => {}) },
  ];

  private handAction(id: string, effect: 'idempotent' | 'once'): Action {
    return {
      id,
      version: '1',
      effect,
      run: (ctx, input) =>
        new Promise<Json>((resolve, reject) => {
          ctx.signal.addEventListener('abort', () => reject(new Error('aborted')));
          this.ran.push(ctx.node);
          this.calls.push({
            node: ctx.node,
            attempt: ctx.attempt,
            input,
            key: ctx.idempotencyKey,
            signal: ctx.signal,
            complete: (output = null) => resolve(output),
            fail: (error = {}) => reject(new ActionError(error.message ?? 'broken', error)),
          });
        }),
    };
  }

  /** Opens an engine on the existing data: the first one, or the next after a crash. */
  async open({ wrapStore = (store) => store, only, secrets, ...options }: BenchOptions = {}): Promise<Engine> {
    this.crash();
    const { random, blobs } = this;
    this.process = new Process(this.clock);
    const { clock } = this.process;
    this.store = wrapStore(memoryStore({ data: this.data, exclusive: true }));
    this.drivers = {
      store: this.store,
      queue: memoryQueue({ clock }),
      blobs,
      logs: memoryLogs(),
      sandbox: createInProcessSandbox({ projectDir: '/', clock }),
      clock: this.process.clock,
      random,
      digest: sha256,
      ...(secrets && { secrets }),
    };
    this.engine = createEngine(this.drivers, { actions: this.actions, ...options });
    this.engine.on((event) => this.events.push(event));
    const opened = this.engine.open(only === undefined ? {} : { only });
    await this.clock.advance(0);
    await opened;
    return this.engine;
  }

  /** Kills the engine like kill -9: nothing of it has an effect afterwards. */
  crash(): void {
    this.process.isDead = true;
  }

  async untilIdle(): Promise<void> {
    await this.clock.advance(0);
  }

  async register(definition: Record<string, unknown>): Promise<{ workflowId: string; version: number }> {
    const registered = this.engine.register({ id: 'test', ...definition } as Json);
    await this.untilIdle();
    return registered;
  }

  /** Registers and starts; the run has had its first turn when this returns. */
  async start(definition: Record<string, unknown>, input: Json = {}): Promise<string> {
    const { workflowId, version } = await this.register(definition);
    const started = this.engine.start(workflowId, version, { input });
    await this.untilIdle();
    return started;
  }

  call(node: string): Call {
    const call = this.calls.findLast((one) => one.node === node);
    if (call === undefined) throw new Error(`'${node}' was not called`);
    return call;
  }

  async complete(node: string, output: Json = null): Promise<void> {
    this.call(node).complete(output);
    await this.untilIdle();
  }

  async fail(node: string, error: Partial<RunError> = {}): Promise<void> {
    this.call(node).fail(error);
    await this.untilIdle();
  }

  async statuses(executionId: string): Promise<Record<string, string>> {
    const document = await this.engine.document(executionId);
    return Object.fromEntries(Object.entries(document?.nodes ?? {}).map(([path, node]) => [path, node.status]));
  }

  /** Messages that the run has not acted on. */
  inboxOf(executionId: string): number {
    return this.data.runs.get(executionId)?.inbox.size ?? 0;
  }

  async cachedRuns(): Promise<number | undefined> {
    return (await this.engine.metrics()).gauges['engine.cached_runs'];
  }

  async status(executionId: string): Promise<string | undefined> {
    return (await this.engine.document(executionId))?.status;
  }
}

/** A store with some methods replaced. */
export function changed(store: Store, changes: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, key) {
      const own = Reflect.get(changes, key) as unknown;
      if (own !== undefined) return own;
      const value = Reflect.get(target, key) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A function for `wrapStore`. */
export function altered(change: (store: Store) => Partial<Store>): (store: Store) => Store {
  return (store) => changed(store, change(store));
}
