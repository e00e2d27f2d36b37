/**
 * Finds what is due: timers, back-off, time limits, lost workers, messages. One query, one timer.
 *
 *  W1 The timer stands at the earliest wake time that this process knows of; foreign writes and new wake times move it.
 *  W2 A claimed run is always posted a wake-up, and so always gets a new wake time.
 *  W3 One round at a time; what does not fit into memory is left for the next one. What is in memory needs no room.
 *  W4 Whoever shares a store begins attempts only while its own lease is good: after that others may give them up.
 */
import {
  type BlobRef,
  hold,
  type Json,
  NebulaError,
  nodeAt,
  openAttempts,
  recallDispatched,
  type Stimulus,
} from '@nebula/core';
import type { Clock, InboxRow, Random, Store, Timer } from '@nebula/ports';
import type { Attempts } from './attempts.ts';
import type { Cache } from './cache.ts';
import type { LiveRun, TakenMessage } from './live-run.ts';
import { stimulusOf } from './messages.ts';
import type { Meter } from './metrics.ts';
import type { Runs } from './runs.ts';
import type { Values } from './values.ts';

/** A claimed run comes back after this if its claimer dies. */
const CLAIM_MS = 30_000;
const CLAIM_BATCH = 256;
/** How soon to look again when memory is full of unfinished runs. */
const CROWDED_MS = 200;
/** How soon to try again what the store did not do. */
const TROUBLE_MS = 1_000;
/** Of the names of engines among the workers. */
export const WORKER_PREFIX = 'wrk';
const LEASE_MS = 30_000;
const HEARTBEAT_MS = LEASE_MS / 3;
/** How often to look, when others have written, whether they wrote to runs of which something runs here. */
const LOOK_MS = 1_000;

export interface WakerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly runs: Runs;
  readonly attempts: Attempts;
  readonly values: Values;
  readonly cache: Cache;
  readonly meter: Meter;
  readonly workerId: string;
  readonly maxCachedRuns: number;
  post(run: LiveRun, stimulus: Stimulus): void;
  /** Reads what another engine wrote to it. */
  catchUp(run: LiveRun): Promise<boolean>;
  onFault(executionId: string, error: unknown): void;
  onTrouble(error: unknown): void;
  /** The store has taken something. */
  onWritten(): void;
  /** The lease was extended. */
  onLease(): void;
  /** A start came too late to put the run off: it has begun. */
  startAnew(run: LiveRun, messageId: string, input: Json): Promise<void>;
}

export class Waker {
  private readonly parts: WakerParts;
  private timer: Timer | undefined;
  private timerAt = Number.POSITIVE_INFINITY;
  private heartbeat: Timer | undefined;
  private round: Promise<void> | undefined;
  private unwatch: (() => void) | undefined;
  private isOpen = false;
  private only: Set<string> | undefined;
  private lookedAt = Number.NEGATIVE_INFINITY;
  private leaseUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: WakerParts) {
    this.parts = parts;
  }

  async open(only?: readonly string[]): Promise<void> {
    this.only = only === undefined ? undefined : new Set(only);
    const { store, clock, workerId } = this.parts;
    this.isOpen = true;
    await this.extendLease();
    // Alone on the store, whoever else worked here is gone; workers outside keep what they have.
    await store.reapWorkers(clock.now(), workerId, clock.now(), store.exclusive ? WORKER_PREFIX : undefined);
    this.unwatch = store.watch(() => this.wakeAt(clock.now()));
    this.beatLater(HEARTBEAT_MS);
    this.wakeAt(clock.now());
  }

  /** As far as this process can tell nobody takes it for dead. */
  isLeased(): boolean {
    return this.parts.store.exclusive || this.parts.clock.now() < this.leaseUntil;
  }

  async close(): Promise<void> {
    this.isOpen = false;
    this.unwatch?.();
    this.timer?.cancel();
    this.heartbeat?.cancel();
    await this.round;
  }

  /** A run that was started here is cared for, whatever runs the engine was opened for. */
  include(executionId: string): void {
    if (this.only === undefined || this.only.has(executionId)) return;
    this.only.add(executionId);
    this.wakeAt(this.parts.clock.now());
  }

  /** False for a run that this engine was not opened for. */
  isIncluded(executionId: string): boolean {
    return this.only?.has(executionId) ?? true;
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
        this.wakeAt(this.parts.clock.now() + TROUBLE_MS);
      })
      .finally(() => {
        this.round = undefined;
      });
  }

  private async claim(): Promise<void> {
    const { store, clock, runs, workerId, maxCachedRuns, meter } = this.parts;
    const now = clock.now();
    const room = Math.min(CLAIM_BATCH, maxCachedRuns - runs.size);
    const isCrowded = room <= 0;
    const limit = isCrowded ? CLAIM_BATCH : room;
    const only = isCrowded ? this.wanted(runs.ids()) : this.only && [...this.only];
    const claim = await store.claimDue(now, now + CLAIM_MS, workerId, limit, only);
    const { executionIds, nextWakeAt, dueSince } = claim;
    if (dueSince !== null) meter.observe('engine.wake_late_ms', Math.max(0, clock.now() - dueSince));
    for (const executionId of executionIds) await this.tryWake(executionId, now + CLAIM_MS);
    if (!store.exclusive) await this.lookAfterAttempts(now);
    if (isCrowded) this.wakeAt(now + CROWDED_MS);
    if (nextWakeAt !== null) this.wakeAt(nextWakeAt);
  }

  /** Another engine may have been told to stop what runs here, long before it would have to give it up. */
  private async lookAfterAttempts(now: number): Promise<void> {
    const { attempts, runs, catchUp } = this.parts;
    if (attempts.size === 0) return;
    if (now - this.lookedAt < LOOK_MS) return this.wakeAt(this.lookedAt + LOOK_MS);
    this.lookedAt = now;
    for (const executionId of attempts.executionIds()) {
      const run = runs.get(executionId);
      if (run !== undefined) await catchUp(run);
    }
  }

  private wanted(executionIds: readonly string[]): readonly string[] {
    const { only } = this;
    return only === undefined ? executionIds : executionIds.filter((executionId) => only.has(executionId));
  }

  /** What is damaged or missing stays so, and is a fault; anything else may go well a little later. */
  private async tryWake(executionId: string, claimedUntil: number): Promise<void> {
    try {
      await this.wake(executionId, claimedUntil);
    } catch (error) {
      if (error instanceof NebulaError && !error.retryable) return this.parts.onFault(executionId, error);
      this.parts.onTrouble(error);
      this.parts.clock.timer(TROUBLE_MS, () => {
        if (this.isOpen) void this.tryWake(executionId, claimedUntil);
      });
    }
  }

  private async wake(executionId: string, claimedUntil: number): Promise<void> {
    const { store, runs, random } = this.parts;
    const run = await runs.load(executionId);
    if (run === undefined) return;
    if (run.isNew) {
      // It is being started a second time, and the store will refuse that: what is told to this one would be lost.
      await new Promise<void>((resolve) => run.onCreated.push(() => resolve()));
      return this.wake(executionId, claimedUntil);
    }
    await this.parts.catchUp(run);
    const inbox = await this.understood(run, await store.inbox(executionId));
    const gone = await this.goneWorkers(run);
    // Nothing is awaited from here on. If it left memory meanwhile, what was read of it is of no use.
    if (runs.get(executionId) !== run) return this.wake(executionId, claimedUntil);
    run.isClaimed = true;
    run.claims++;
    run.storedWakeAt = claimedUntil;
    // A queue may have lost what it was given; offering it again is harmless.
    recallDispatched(run.state);
    for (const { messageId, stimulus } of inbox) {
      // A message stays in the inbox until a frame has journalled it; it is taken up once.
      if (run.heard.has(messageId)) continue;
      run.heard.add(messageId);
      run.messages.push({ messageId, stimulus });
      if (stimulus !== undefined) this.parts.post(run, stimulus);
    }
    this.parts.post(run, { type: 'wake', lost: this.lostAttempts(run, gone), jitter: random.fraction() });
  }

  /** A child's large output lies with the child: it is brought here, and becomes the parent's own. */
  private async understood(run: LiveRun, inbox: readonly InboxRow[]): Promise<TakenMessage[]> {
    const messages: TakenMessage[] = [];
    for (const { messageId, body } of inbox) {
      const stimulus = await this.lookedUp(run, stimulusOf(body));
      // Before the message is taken: whatever dies in between, the start is not lost.
      if (stimulus?.type === 'restart' && run.state.heldUntil === null && !run.heard.has(messageId)) {
        await this.parts.startAnew(run, messageId, stimulus.input);
        messages.push({ messageId, stimulus: undefined });
        continue;
      }
      const blob = stimulus?.type === 'child' ? stimulus.result.output.blob : undefined;
      if (stimulus?.type !== 'child' || blob === undefined) messages.push({ messageId, stimulus });
      else messages.push({ messageId, stimulus: await this.broughtHere(stimulus, blob) });
    }
    return messages;
  }

  /** A child may have been deleted before anybody read what it gave: then it has failed, and its parent goes on. */
  private async broughtHere(stimulus: Stimulus & { type: 'child' }, blob: BlobRef): Promise<Stimulus> {
    const { values } = this.parts;
    try {
      await values.fetch(stimulus.executionId, [blob]);
      return { ...stimulus, result: { ...stimulus.result, output: hold(values.lookup(blob)) } };
    } catch (error) {
      if (!(error instanceof NebulaError) || error.code !== 'BLOB_MISSING') throw error;
      const { code, message } = error;
      const output = { value: null };
      return { ...stimulus, result: { status: 'failed', output, error: { code, kind: 'USER', message } } };
    }
  }

  /** Whoever waited for another run to work out an output looks first whether it is there now. */
  private async lookedUp(run: LiveRun, stimulus: Stimulus | undefined): Promise<Stimulus | undefined> {
    if (stimulus?.type !== 'granted' || stimulus.gate !== 'reserve') return stimulus;
    const node = nodeAt(run.state, stimulus.node);
    if (node === undefined) return stimulus;
    const look = await this.parts.cache.look(run, node);
    return 'hit' in look ? { type: 'cached', node: stimulus.node, ...look } : stimulus;
  }

  private async goneWorkers(run: LiveRun): Promise<ReadonlySet<string>> {
    const { store, clock, workerId } = this.parts;
    const foreign = new Set(openAttempts(run.state).map(({ worker }) => worker));
    foreign.delete(workerId);
    if (foreign.size === 0) return foreign;
    for (const live of await store.liveWorkers([...foreign], clock.now())) foreign.delete(live);
    return foreign;
  }

  private lostAttempts(run: LiveRun, gone: ReadonlySet<string>): Extract<Stimulus, { type: 'wake' }>['lost'] {
    const { workerId, attempts } = this.parts;
    const drafted = new Set(run.draft?.starting.map(({ attempt }) => `${attempt.node}:${attempt.attempt}`));
    return openAttempts(run.state).filter(({ worker, node, attempt }) => {
      if (drafted.has(`${node}:${attempt}`)) return false;
      return worker === workerId ? !attempts.has(run.executionId, node, attempt) : gone.has(worker);
    });
  }

  private beatLater(delayMs: number): void {
    this.heartbeat = this.parts.clock.timer(delayMs, () => void this.beat(), { background: true });
  }

  private async extendLease(): Promise<void> {
    const { store, clock, workerId } = this.parts;
    const until = clock.now() + LEASE_MS;
    await store.heartbeat([{ worker: workerId, expiresAt: until }]);
    this.leaseUntil = until;
    this.parts.onWritten();
  }

  private async beat(): Promise<void> {
    const { store, clock, workerId } = this.parts;
    let nextMs = HEARTBEAT_MS;
    try {
      await this.extendLease();
      this.parts.onLease();
      await store.reapWorkers(clock.now(), workerId, clock.now());
      if (!store.exclusive) {
        // Long due, and not given to this engine: another one goes on with them, or has ended them.
        for (const run of this.parts.runs.dueBefore(clock.now() - CLAIM_MS)) await this.parts.catchUp(run);
      }
    } catch (error) {
      this.parts.onTrouble(error);
      nextMs = TROUBLE_MS;
    }
    if (!this.isOpen) return;
    this.beatLater(nextMs);
    // Hints may be lost: what nobody was told of is found now.
    this.wakeAt(clock.now());
  }
}
