/**
 * A world that goes wrong: engines that are killed at any moment, a store that refuses, delays, takes and does not say so,
 * actions that end as they like. Everything comes from one seed.
 *
 *  1 The data and the world's memory of what was called outlive the engines; nothing else does.
 *  2 A dead process hears nothing: its clock is still, and what it asked of the store is never answered.
 *  3 `heal` ends all faults; what is unfinished then must end.
 */
import type { Action, Json, Settlement } from '@nebula/core';
import {
  memoryBlobs,
  memoryData,
  memoryLogs,
  memoryQueue,
  memoryStore,
  seededRandom,
  virtualClock,
} from '@nebula/drivers/memory';
import { sha256 } from '@nebula/drivers/real';
import { createInProcessSandbox } from '@nebula/drivers/sandbox-inprocess';
import type { Blobs, Clock, Queue, Store, Write, WriteOutcome } from '@nebula/ports';
import { ActionError } from '@nebula/sdk';
import { createEngine, type Engine } from '../src/index.ts';
import type { Chance } from './random-chance.ts';

/** One time that the body of an action was entered. */
export interface Call {
  readonly executionId: string;
  readonly node: string;
  readonly attempt: number;
  readonly process: Process;
  /** Journal entries of its run at that moment. */
  readonly journal: readonly Entry[];
}

export interface Entry {
  readonly type: string;
  readonly node?: string;
  readonly nodes?: readonly string[];
  readonly attempt?: number;
  readonly outcome?: string;
  readonly by?: string;
  readonly error?: { readonly code: string };
  /** Time of its frame. */
  readonly at: number;
}

export interface Process {
  readonly engine: Engine;
  readonly queue: Queue;
  /** How far its clock is off. */
  readonly skewMs: number;
  isDead: boolean;
  /** When it was killed, or told to close. */
  endedAt: number | undefined;
}

export interface WorldOptions {
  /** Engines that share the data. */
  readonly engines: number;
  /** The queue is told only after the commit, as a remote one is. */
  readonly remoteQueue: boolean;
}

const INLINE_LIMIT_BYTES = 400;

export class World {
  readonly clock = virtualClock(1_700_000_000_000);
  readonly data = memoryData();
  readonly calls: Call[] = [];
  readonly faults: unknown[] = [];
  /** How often something was asked for. */
  readonly asked = new Map<string, number>();
  /** How often each kind of fault was injected: a world in which nothing went wrong proves nothing. */
  readonly injected: Record<string, number> = {};
  readonly processes: (Process | undefined)[];
  private readonly chance: Chance;
  private readonly options: WorldOptions;
  private readonly random;
  private readonly stored: Blobs = memoryBlobs();
  private readonly hanging: (() => void)[] = [];
  private isHealed = false;

  constructor(chance: Chance, options: WorldOptions) {
    this.chance = chance;
    this.options = options;
    this.random = seededRandom(chance.below(2 ** 31), () => this.clock.now());
    this.processes = Array.from({ length: options.engines }, () => undefined);
  }

  journalOf(executionId: string): Entry[] {
    const frames = this.data.runs.get(executionId)?.frames ?? [];
    return frames.flatMap(({ entries, at }) => (JSON.parse(entries) as Entry[]).map((entry) => ({ ...entry, at })));
  }

  living(): Process[] {
    return this.processes.filter((process) => process !== undefined);
  }

  /** As kill -9 does. */
  kill(index: number): void {
    const process = this.processes[index];
    if (process === undefined) return;
    process.isDead = true;
    process.endedAt = this.clock.now();
    this.processes[index] = undefined;
    this.count('kill');
  }

  async close(index: number): Promise<void> {
    const process = this.processes[index];
    if (process === undefined) return;
    this.count('close');
    this.processes[index] = undefined;
    process.endedAt = this.clock.now();
    process.engine.close({ graceMs: this.chance.pick([0, 100, 3_000]) }).catch(() => {});
    await this.clock.advance(10_000);
    process.isDead = true;
  }

  async open(index: number): Promise<void> {
    if (this.processes[index] !== undefined) return;
    const { random } = this;
    const process = { isDead: false } as { -readonly [K in keyof Process]: Process[K] };
    // Engines that share a store agree on the time to within the margin of time limits; one alone may jump as it likes.
    process.skewMs = this.options.engines === 1 ? this.chance.pick([0, 0, -7_000, 7_000]) : this.chance.pick([0, 300]);
    const clock = clockOf(this.clock, process);
    const queue = memoryQueue({ clock });
    process.queue = this.options.remoteQueue ? afterCommit(queue) : queue;
    const store = this.shaky(process);
    const sandbox = createInProcessSandbox({ projectDir: '/', clock });
    const drivers = {
      store,
      queue: process.queue,
      blobs: this.shakyBlobs(process),
      logs: memoryLogs(),
      sandbox,
      clock,
      random,
      digest: sha256,
    };
    process.engine = createEngine(drivers, {
      actions: this.actions(process),
      concurrency: 1 + this.chance.below(4),
      inlineLimitBytes: INLINE_LIMIT_BYTES,
      maxCachedRuns: this.chance.pick([2, 100]),
    });
    process.engine.on((event) => {
      if (event.type === 'fault') this.faults.push(event.error);
    });
    this.processes[index] = process;
    // An engine that cannot open is a process that ends.
    process.engine.open().catch(() => this.kill(index));
    await this.clock.advance(1_000);
  }

  /** From now on everything goes well. */
  heal(): void {
    this.isHealed = true;
    for (const end of this.hanging) end();
  }

  ask(what: string): void {
    this.asked.set(what, (this.asked.get(what) ?? 0) + 1);
  }

  private count(what: string): void {
    this.injected[what] = (this.injected[what] ?? 0) + 1;
  }

  private goesWrong(what: string, times: number): boolean {
    if (this.isHealed || !this.chance.oneIn(times)) return false;
    this.count(what);
    return true;
  }

  private later(process: Process, ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.timer(ms, () => !process.isDead && resolve()));
  }

  private actions(process: Process): Action[] {
    const run: Action['run'] = (ctx, _input) => {
      const { executionId, node, attempt, signal } = ctx;
      this.calls.push({ executionId, node, attempt, process, journal: this.journalOf(executionId) });
      return new Promise<Json>((resolve, reject) => {
        const deaf = this.goesWrong('deaf', 8);
        if (!deaf) signal.addEventListener('abort', () => reject(signal.reason));
        const fate = this.isHealed ? 0 : this.chance.below(12);
        const fail = (error: object): void => reject(new ActionError('it broke', error));
        // The last fate is to hang until somebody aborts it, or the world is healed.
        if (fate === 11) {
          this.count('hang');
          this.hanging.push(() => resolve(null));
          return;
        }
        this.clock.timer(this.chance.pick([0, 1, 50, 1_000, 4_000]), () => {
          if (fate < 7) resolve({ large: fate === 6 ? 'x'.repeat(2 * INLINE_LIMIT_BYTES) : 'small' });
          else if (fate === 7) fail({ code: 'USERS', kind: 'USER' });
          else if (fate === 8) fail({ code: 'SYSTEMS', kind: 'SYSTEM' });
          else if (fate === 9) fail({ code: 'ECONNRESET', kind: 'SYSTEM', details: { outcome: 'unknown' } });
          else reject(new TypeError('no good'));
        });
      });
    };
    const verify = () =>
      this.chance.pick([{ happened: true, output: null }, { happened: false }, { happened: 'unknown' }] as const);
    return [
      { id: 'work', version: '1', effect: 'idempotent', run },
      { id: 'pay', version: '1', effect: 'once', run },
      { id: 'sure', version: '1', effect: 'once', run, verify },
    ];
  }

  /** The store as one process sees it. */
  private shaky(process: Process): Store {
    const store = memoryStore({ data: this.data, exclusive: this.options.engines === 1 });
    const answered = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
      if (process.isDead) return new Promise<never>(() => {});
      if (this.goesWrong(`${what} refused`, 40)) throw new Error(`${what} is not possible now`);
      const result = await work();
      if (process.isDead) return new Promise<never>(() => {});
      return result;
    };
    const append = async (writes: readonly Write[]): Promise<readonly WriteOutcome[]> => {
      if (this.goesWrong('append delayed', 6)) await this.later(process, this.chance.pick([1, 20, 400]));
      return answered('append', async () => {
        const outcomes = this.goesWrong('conflict', 25)
          ? writes.map(() => ({ ok: false }) as const)
          : await store.append(writes);
        if (this.goesWrong('answer delayed', 10)) await this.later(process, this.chance.pick([1, 20, 400]));
        if (this.goesWrong('answer lost', 30)) throw new Error('the connection broke');
        return outcomes;
      });
    };
    return new Proxy(store, {
      get: (target, key) => {
        if (key === 'append') return append;
        const value = Reflect.get(target, key) as unknown;
        if (typeof value !== 'function') return value;
        if (key === 'watch') return (watcher: () => void) => store.watch(() => !process.isDead && watcher());
        const call = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) => answered(String(key), () => call(...args));
      },
    });
  }

  private shakyBlobs(process: Process): Blobs {
    const { stored } = this;
    return {
      ...stored,
      put: async (...blob) => {
        if (this.goesWrong('blob refused', 8)) throw new Error('no room for blobs');
        if (this.goesWrong('blob delayed', 5)) await this.later(process, 30);
        return stored.put(...blob);
      },
      get: async (...name) => {
        if (this.goesWrong('blob unreadable', 8)) throw new Error('bad sector');
        if (this.goesWrong('blob delayed', 5)) await this.later(process, 30);
        return stored.get(...name);
      },
    };
  }

  settlement(): Settlement {
    const options: Settlement[] = [
      { happened: true, output: null },
      { happened: false, then: 'retry' },
      { happened: false, then: 'fail' },
    ];
    return this.isHealed ? (options[0] as Settlement) : this.chance.pick(options);
  }
}

function clockOf(clock: Clock, process: Process): Clock {
  const alive = (callback: () => void) => () => {
    if (!process.isDead) callback();
  };
  return {
    now: () => clock.now() + process.skewMs,
    timer: (delayMs, callback) => clock.timer(delayMs, alive(callback)),
    soon: (callback) => clock.soon(alive(callback)),
  };
}

function afterCommit(queue: Queue): Queue {
  return new Proxy(queue, {
    get: (target, key) => {
      if (key === 'local') return false;
      const value = Reflect.get(target, key) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
