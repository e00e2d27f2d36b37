/**
 * A process: one engine and its edge to the world. Every call across that edge is a crash point.
 *
 *  1 A dead process does nothing and receives nothing: its calls have no effect and are never answered, its timers do
 *    not fire. Code on its stack runs on, and reaches nothing.
 *  2 A paused process receives nothing until it continues; then everything at once, in order.
 *  3 Its clock may be wrong by any amount; its timers follow the clock of the world.
 */

import type { Engine } from '@nebula/engine';
import { type Clock, later, type Store } from '@nebula/ports';
import type { Chance } from './chance.ts';
import type { WorldClock } from './clock.ts';
import type { Target } from './coverage.ts';
import type { Performer } from './external-world.ts';
import type { Injector } from './injector.ts';

const JUMPS_MS = [500, 5_000, 40_000, 600_000];
const PAUSES_MS = [100, 5_000, 35_000, 60_000];

export interface ProcessParts {
  readonly name: string;
  readonly world: WorldClock;
  readonly chance: Chance;
  readonly faults: Injector;
  readonly say: (what: string) => void;
  /** Called when the process has died. */
  readonly onDeath: (process: Process) => void;
}

export class Process implements Performer {
  readonly name: string;
  readonly clock: Clock;
  readonly world: WorldClock;
  /** Set by the code that builds the process. */
  engine!: Engine;
  store!: Store;
  workerId: string | undefined;
  isDead = false;
  /** When it was killed, or told to close. */
  endedAt: number | undefined;
  /** Calls of the process that are under way, each about a run or with the entries of a write. */
  private readonly underWay = new Set<Target>();
  /** Names of nodes whose actions are under way in it, and of those that were granted and have not begun. */
  readonly inFlight = new Map<string, number>();
  readonly granted = new Set<string>();
  /** Called when the process dies: these callers wait for an answer that will not come. */
  readonly callers = new Set<() => void>();
  private offsetMs = 0;
  private backlog: (() => void)[] | undefined;
  private readonly parts: ProcessParts;

  constructor(parts: ProcessParts) {
    this.parts = parts;
    this.name = parts.name;
    const { world } = parts;
    this.world = world;
    this.clock = {
      now: () => world.now() + this.offsetMs,
      timer: (delayMs, callback) => world.timer(delayMs, this.callback('timer', callback)),
      soon: (callback) => world.soon(this.callback('soon', callback)),
    };
  }

  /** What a fault of this process hits: its calls about runs, its writes, and the nodes whose actions run in it. */
  readonly targets = (): Target[] => [...this.underWay, ...[...this.inFlight.keys()].map(targetOf)];

  /** Runs `work`, and counts its targets as under way. */
  async during<T>(targets: readonly Target[], work: () => Promise<T>): Promise<T> {
    for (const target of targets) this.underWay.add(target);
    try {
      return await work();
    } finally {
      for (const target of targets) this.underWay.delete(target);
    }
  }

  /** A call out of this process. */
  async call<T>(site: string, work: () => Promise<T>): Promise<T> {
    if (this.dies(site, 'before')) return never();
    let result: T;
    try {
      result = await work();
    } catch (error) {
      if (this.isDead) return never();
      await this.awake();
      throw error;
    }
    if (this.dies(site, 'after')) return never();
    this.mayFalter();
    await this.awake();
    return result;
  }

  /** A call that is answered at once. `ifDead`: any value of its type; nothing acts on it. */
  callNow<T>(site: string, ifDead: T, work: () => T): T {
    if (this.dies(site, 'before')) return ifDead;
    const result = work();
    return this.dies(site, 'after') ? ifDead : result;
  }

  /** A callback into this process. */
  callback(site: string, work: () => void): () => void {
    const run = (): void => {
      if (this.isDead) return;
      if (this.backlog !== undefined) {
        this.backlog.push(run);
        return;
      }
      if (this.dies(site, 'before')) return;
      work();
      this.dies(site, 'after');
      this.mayFalter();
    };
    return run;
  }

  later(ms: number): Promise<void> {
    return later(this.parts.world, ms);
  }

  kill(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.endedAt ??= this.parts.world.now();
    this.backlog = undefined;
    this.inFlight.clear();
    this.granted.clear();
    this.parts.onDeath(this);
    for (const hangUp of this.callers) this.parts.world.soon(hangUp);
    this.callers.clear();
  }

  jump(ms: number): void {
    this.offsetMs += ms;
    this.parts.say(`clock jumps by ${ms} ms`);
  }

  pause(ms: number): void {
    if (this.isDead || this.backlog !== undefined) return;
    this.backlog = [];
    this.parts.say(`stands still for ${ms} ms`);
    this.parts.world.timer(ms, () => this.unpause());
  }

  /** Corrects its clock, and lets it continue. */
  heal(): void {
    this.offsetMs = 0;
    this.unpause();
  }

  private unpause(): void {
    const backlog = this.backlog ?? [];
    this.backlog = undefined;
    for (const run of backlog) this.parts.world.soon(run);
  }

  private dies(site: string, side: 'before' | 'after'): boolean {
    if (!this.isDead && this.parts.faults.kills({ by: this.name, site, side }, this.targets)) this.kill();
    return this.isDead;
  }

  private mayFalter(): void {
    const { faults, chance } = this.parts;
    if (faults.strikes('pause', this.targets)) this.pause(chance.pick(PAUSES_MS));
    if (faults.strikes('clock forward', this.targets)) this.jump(chance.pick(JUMPS_MS));
    if (faults.strikes('clock back', this.targets)) this.jump(-chance.pick(JUMPS_MS));
  }

  private async awake(): Promise<void> {
    while (this.backlog !== undefined) await new Promise<void>((resolve) => this.backlog?.push(resolve));
    if (this.isDead) await never();
  }
}

/** The node of a name that `workName` made. */
function targetOf(name: string): Target {
  const cut = name.indexOf(' ');
  return { executionId: name.slice(0, cut), node: name.slice(cut + 1) };
}

function never(): Promise<never> {
  return new Promise(() => {});
}
