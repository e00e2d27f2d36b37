/**
 * A remote worker: a process without an engine, which claims tasks from engines and reports outcomes.
 *
 *  1 Each request goes to any engine. A request without a reply is repeated, to the same engine or another.
 *  2 While an action runs its lease is extended; if that is refused, or the run cancels it, the action is aborted.
 *  3 A dead worker does nothing and receives nothing. Its leases stay as they are.
 */
import { type Json, mayServe, NebulaError } from '@nebula/core';
import type { Engine, LeaseState, RemoteOutcome, RemoteTask } from '@nebula/engine';
import { type Clock, later } from '@nebula/ports';
import { ActionError } from '@nebula/sdk';
import type { Chance } from './chance.ts';
import type { Target } from './coverage.ts';
import type { ExternalWorld, Performer } from './external-world.ts';
import type { Injector } from './injector.ts';
import { type Leases, leaseName } from './leases.ts';
import type { Process } from './process.ts';
import type { Wire } from './wire.ts';

const LEASES_MS = [4_000, 10_000, 30_000];
const WAITS_MS = [0, 1_000, 5_000];
const RESTS_MS = [5, 50, 500];
const NO_ENGINE_MS = 500;
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 5_000;

/** The skills of a worker. */
export interface Skills {
  readonly actions: readonly string[];
  readonly labels: readonly string[];
}

export interface WorkerParts {
  readonly name: string;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly faults: Injector;
  readonly wire: Wire;
  readonly externalWorld: ExternalWorld;
  readonly leases: Leases;
  readonly skills: Skills;
  readonly living: () => readonly Process[];
  readonly say: (what: string) => void;
  readonly onDeath: () => void;
}

interface Attempt {
  readonly work: RemoteTask;
  readonly controller: AbortController;
  readonly leaseMs: number;
  /** The worker reports outcomes even after it was told that they are no longer needed. */
  readonly isStubborn: boolean;
  isOver: boolean;
  isLost: boolean;
}

export class Worker implements Performer {
  readonly name: string;
  readonly clock: Clock;
  readonly inFlight = new Map<string, number>();
  readonly granted = new Set<string>();
  isDead = false;
  endedAt: number | undefined;
  /** The process that it currently asks for work. */
  asks: Process | undefined;
  private readonly parts: WorkerParts;
  private readonly attempts = new Set<Attempt>();
  private readonly gone = new AbortController();
  private readonly max: number;
  private turn = 0;
  private stallsUntil = 0;

  constructor(parts: WorkerParts) {
    this.parts = parts;
    this.name = parts.name;
    const { clock } = parts;
    // Callbacks of a dead worker are dropped.
    const alive = (callback: () => void) => () => {
      if (!this.isDead) callback();
    };
    this.clock = {
      now: () => clock.now(),
      timer: (ms, callback) => clock.timer(ms, alive(callback)),
      soon: (callback) => clock.soon(alive(callback)),
    };
    this.max = 1 + parts.chance.below(3);
  }

  async open(): Promise<void> {
    while (!this.isDead) {
      const process = this.nextEngine();
      const room = this.max - this.attempts.size;
      if (process !== undefined && room > 0) await this.claim(process, room);
      await later(this.clock, process === undefined ? NO_ENGINE_MS : this.parts.chance.pick(RESTS_MS));
    }
  }

  /** `isSeen`: the engines notice that it has gone. */
  kill(isSeen: boolean): void {
    if (this.isDead) return;
    this.isDead = true;
    this.endedAt = this.clock.now();
    this.inFlight.clear();
    this.granted.clear();
    this.parts.say('dies');
    if (isSeen) this.gone.abort();
    this.parts.onDeath();
  }

  heal(): void {
    this.stallsUntil = 0;
  }

  private nextEngine(): Process | undefined {
    const living = this.parts.living();
    return living[this.turn++ % Math.max(1, living.length)];
  }

  private async claim(process: Process, max: number): Promise<void> {
    const { chance, skills, wire } = this.parts;
    const [actions, labels] = [new Set(skills.actions), new Set(skills.labels)];
    const leaseMs = chance.pick(LEASES_MS);
    const request = {
      serves: (route: string) => mayServe(route, actions, labels),
      max,
      leaseMs,
      waitMs: chance.pick(WAITS_MS),
      holder: this.name,
      signal: this.gone.signal,
    };
    this.asks = process;
    try {
      const work = await wire.send(process, {
        site: 'claim',
        targets: [],
        targetsIn: (given: readonly RemoteTask[]) => given,
        ask: (engine) => engine.remote.claim(request),
      });
      if (this.isDead) return;
      for (const one of work) this.begin(one, leaseMs);
    } catch {
      // No reply arrived: the worker asks again.
    } finally {
      this.asks = undefined;
      this.granted.clear();
    }
  }

  private begin(work: RemoteTask, leaseMs: number): void {
    const { chance, faults, say } = this.parts;
    const { executionId, node, attempt: number, leaseId } = work;
    if (this.dies(work)) return;
    const controller = new AbortController();
    const attempt = { work, controller, leaseMs, isStubborn: chance.oneIn(3), isOver: false, isLost: false };
    this.attempts.add(attempt);
    say(`has ${executionId} ${node}#${number}, ${leaseId.slice(0, 12)} for ${leaseMs} ms`);
    if (faults.strikes('worker stalls', () => [work])) this.stallsUntil = this.clock.now() + 2 * leaseMs;
    if (!faults.isOver && chance.oneIn(15)) return void this.tell(attempt, { status: 'returned' });
    void this.beat(attempt);
    void this.perform(attempt);
  }

  private async perform(attempt: Attempt): Promise<void> {
    const { work, controller } = attempt;
    const { leaseId, executionId, node, attempt: number, idempotencyKey } = work;
    const { externalWorld } = this.parts;
    const [id = ''] = work.action.split('@');
    const context = { executionId, node, attempt: number, idempotencyKey, signal: controller.signal, heartbeat() {} };
    let outcome: RemoteOutcome;
    try {
      const output = await externalWorld.perform(this, id, leaseName(leaseId, this.name), context, work.input);
      outcome = { status: 'completed', output };
    } catch (error) {
      outcome = failureOf(error);
    }
    await this.tell(attempt, outcome);
  }

  /** Sends heartbeats at a third of the lease. */
  private async beat(attempt: Attempt): Promise<void> {
    const { leaseMs, controller } = attempt;
    for (;;) {
      await later(this.clock, leaseMs / 3);
      await this.awake();
      if (attempt.isOver) return;
      try {
        const { cancel } = await this.lifeSign(attempt);
        if (cancel !== null) controller.abort(new Error(cancel));
      } catch (error) {
        if (!isStale(error)) continue;
        attempt.isLost = true;
        controller.abort(error);
        return;
      }
    }
  }

  private lifeSign({ work, leaseMs }: Attempt): Promise<LeaseState> {
    const { leaseId } = work;
    const isLine = this.parts.chance.oneIn(4);
    return this.ask(isLine ? 'log' : 'extend', work, ({ remote }) =>
      isLine ? remote.log(leaseId, [{ message: 'still here' }]) : remote.extend(leaseId, { leaseMs, progress: 0.5 }),
    );
  }

  /** Reports the outcome until it is accepted or no longer needed. */
  private async tell(attempt: Attempt, outcome: RemoteOutcome): Promise<void> {
    const { work } = attempt;
    await this.awake();
    if (this.dies(work)) return;
    let pauseMs = PAUSE_MIN_MS;
    while (!attempt.isLost || attempt.isStubborn) {
      if (this.parts.faults.strikes('outcome repeated', () => [work])) void this.end(attempt, outcome);
      if ((await this.end(attempt, outcome)) || this.dies(work)) break;
      await later(this.clock, pauseMs);
      pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS);
    }
    attempt.isOver = true;
    this.attempts.delete(attempt);
  }

  /** Returns false if no reply arrived. */
  private async end({ work }: Attempt, outcome: RemoteOutcome): Promise<boolean> {
    const { leases } = this.parts;
    const { leaseId } = work;
    try {
      await this.ask(
        'end',
        work,
        ({ remote }) => remote.end(leaseId, outcome),
        () => leases.onAccepted(leaseName(leaseId, this.name), outcome.status),
      );
      return true;
    } catch (error) {
      return isStale(error);
    }
  }

  private async ask<T>(
    site: 'extend' | 'log' | 'end',
    work: RemoteTask,
    ask: (engine: Engine) => Promise<T>,
    onReply: (reply: T) => void = () => {},
  ): Promise<T> {
    const { wire, leases } = this.parts;
    const { leaseId } = work;
    const process = this.nextEngine();
    if (process === undefined) throw new Error('there is nobody');
    const judged = (engine: Engine): Promise<T> =>
      ask(engine).catch((error: unknown) => {
        if (isStale(error) && !process.isDead) leases.onRefused(leaseName(leaseId, this.name));
        throw error;
      });
    return wire.send(process, { site, targets: [work], ask: judged, onReply });
  }

  /** The worker may die with this attempt in hand. */
  private dies(attempt: Target): boolean {
    const { chance, faults } = this.parts;
    if (!this.isDead && faults.strikes('worker dies', () => [attempt])) this.kill(chance.oneIn(2));
    return this.isDead;
  }

  private async awake(): Promise<void> {
    while (this.clock.now() < this.stallsUntil) await later(this.clock, this.stallsUntil - this.clock.now());
  }
}

function isStale(error: unknown): error is NebulaError {
  return error instanceof NebulaError && error.code === 'STALE_LEASE';
}

/** The outcome as a worker of the SDK reports it: an aborted attempt may have taken effect. */
function failureOf(error: unknown): RemoteOutcome {
  const { message } = error as Error;
  if (!(error instanceof ActionError)) {
    const isBug = error instanceof TypeError;
    return { status: isBug ? 'failed' : 'unknown', error: { code: isBug ? 'BUG' : 'ABORTED', kind: 'USER', message } };
  }
  const { code, kind, details } = error;
  const isUnknown = (details as { readonly outcome?: Json } | undefined)?.outcome === 'unknown';
  return { status: isUnknown ? 'unknown' : 'failed', error: { code, kind, message } };
}
