/**
 * Finds what is due: timers, back-off, time limits, lost workers, messages. One query, one timer.
 *
 *  W1 The timer stands at the earliest wake time that this process knows of; foreign writes and new wake times move it.
 *  W2 A claimed run is always posted a wake-up, and so always gets a new wake time.
 *  W3 One round at a time; what does not fit into memory is left for the next one.
 */
import { openAttempts, recallDispatched, type Stimulus } from '@nebula/core';
import type { Clock, Random, Store, Timer } from '@nebula/ports';
import type { Attempts } from './attempts.ts';
import type { LiveRun } from './live-run.ts';
import { stimulusOf } from './messages.ts';
import type { Runs } from './runs.ts';

/** A claimed run comes back after this if its claimer dies. */
const CLAIM_MS = 30_000;
const CLAIM_BATCH = 256;
/** How soon to look again when memory is full of unfinished runs. */
const CROWDED_MS = 50;
const LEASE_MS = 30_000;
const HEARTBEAT_MS = LEASE_MS / 3;

export interface WakerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly runs: Runs;
  readonly attempts: Attempts;
  readonly workerId: string;
  readonly maxCachedRuns: number;
  post(run: LiveRun, stimulus: Stimulus): void;
  onFault(executionId: string, error: unknown): void;
  onTrouble(error: unknown): void;
}

export class Waker {
  private readonly parts: WakerParts;
  private timer: Timer | undefined;
  private timerAt = Number.POSITIVE_INFINITY;
  private heartbeat: Timer | undefined;
  private round: Promise<void> | undefined;
  private unwatch: (() => void) | undefined;
  private isOpen = false;
  private only: readonly string[] | undefined;

  constructor(parts: WakerParts) {
    this.parts = parts;
  }

  async open(only?: readonly string[]): Promise<void> {
    this.only = only;
    const { store, clock, workerId } = this.parts;
    this.isOpen = true;
    await store.heartbeat(workerId, clock.now() + LEASE_MS);
    await store.reapWorkers(store.exclusive ? null : clock.now(), workerId, clock.now());
    this.unwatch = store.watch(() => this.wakeAt(clock.now()));
    this.beatLater();
    this.wakeAt(clock.now());
  }

  async close(): Promise<void> {
    this.isOpen = false;
    this.unwatch?.();
    this.timer?.cancel();
    this.heartbeat?.cancel();
    await this.round;
  }

  /** Somebody will be due at this time. */
  wakeAt(at: number): void {
    if (!this.isOpen || at >= this.timerAt) return;
    this.timer?.cancel();
    this.timerAt = at;
    const delayMs = Math.max(0, at - this.parts.clock.now());
    // Not in the background: while a run waits for its time, its process must not end.
    this.timer = this.parts.clock.timer(delayMs, () => this.startRound());
  }

  private startRound(): void {
    this.timerAt = Number.POSITIVE_INFINITY;
    if (this.round !== undefined) {
      // The round that is under way may have looked already: look again after it.
      void this.round.then(() => this.wakeAt(this.parts.clock.now()));
      return;
    }
    this.round = this.claim()
      .catch((error: unknown) => {
        this.parts.onTrouble(error);
        this.wakeAt(this.parts.clock.now() + 1_000);
      })
      .finally(() => {
        this.round = undefined;
      });
  }

  private async claim(): Promise<void> {
    const { store, clock, runs, workerId, maxCachedRuns } = this.parts;
    const now = clock.now();
    const room = Math.min(CLAIM_BATCH, maxCachedRuns - runs.size);
    if (room <= 0) {
      this.wakeAt(now + CROWDED_MS);
      return;
    }
    const { executionIds, nextWakeAt } = await store.claimDue(now, now + CLAIM_MS, workerId, room, this.only);
    for (const executionId of executionIds) {
      try {
        await this.wake(executionId, now + CLAIM_MS);
      } catch (error) {
        this.parts.onFault(executionId, error);
      }
    }
    if (nextWakeAt !== null) this.wakeAt(nextWakeAt);
  }

  private async wake(executionId: string, claimedUntil: number): Promise<void> {
    const { store, runs, random } = this.parts;
    const run = await runs.load(executionId);
    if (run === undefined) return;
    run.isClaimed = true;
    run.claims++;
    run.storedWakeAt = claimedUntil;
    // A queue may have lost what it was given; offering it again is harmless.
    recallDispatched(run.state);
    for (const message of await store.inbox(executionId)) {
      // A message stays in the inbox until a frame has journalled it; it is taken up once.
      if (run.messages.includes(message.messageId) || run.draft?.messages.includes(message.messageId)) continue;
      run.messages.push(message.messageId);
      const stimulus = stimulusOf(message.body);
      if (stimulus !== undefined) this.parts.post(run, stimulus);
    }
    this.parts.post(run, { type: 'wake', lost: await this.lostAttempts(run), jitter: random.fraction() });
  }

  private async lostAttempts(run: LiveRun): Promise<Extract<Stimulus, { type: 'wake' }>['lost']> {
    const { store, clock, workerId, attempts } = this.parts;
    const open = openAttempts(run.state);
    const foreign = [...new Set(open.map(({ worker }) => worker))].filter((worker) => worker !== workerId);
    const live = foreign.length === 0 ? new Set<string>() : await store.liveWorkers(foreign, clock.now());
    const drafted = new Set(run.draft?.starting.map(({ attempt }) => `${attempt.node}:${attempt.attempt}`));
    return open.filter(({ worker, node, attempt }) => {
      if (worker !== workerId) return !live.has(worker);
      return !attempts.has(run.executionId, node, attempt) && !drafted.has(`${node}:${attempt}`);
    });
  }

  private beatLater(): void {
    this.heartbeat = this.parts.clock.timer(HEARTBEAT_MS, () => void this.beat(), { background: true });
  }

  private async beat(): Promise<void> {
    const { store, clock, workerId } = this.parts;
    try {
      await store.heartbeat(workerId, clock.now() + LEASE_MS);
      if (!store.exclusive) {
        const gone = await store.reapWorkers(clock.now(), workerId, clock.now());
        if (gone > 0) this.wakeAt(clock.now());
      }
    } catch (error) {
      this.parts.onTrouble(error);
    }
    if (this.isOpen) this.beatLater();
  }
}
