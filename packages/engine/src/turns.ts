/**
 * The turn loop: the only place that appends frames.
 *
 *   mail of all runs ─▶ decide ─▶ queue ─▶ take ─▶ seal ─▶ one append for everybody ─▶ carry out
 *
 * One suspension point: the append. While it is under way mail gathers for the next turn, so a slow disk makes
 * larger batches, not longer queues.
 *
 *  T1 One turn at a time; a run has at most one draft.
 *  T2 Nothing is carried out before the frame that says so is durable.
 *  T3 A refused frame costs its run a reload, and nobody else anything; its mail is decided on again.
 *  T4 A fault while deciding on one run puts that run aside and leaves the others alone.
 *  T5 A run whose frame the store did not take writes alone until one is taken: it holds up nobody else.
 *
 * What fills the slots is in `tasks.ts`; what becomes of a run that could not be written or read, in `recovery.ts`.
 */
import {
  decide,
  goOnWith,
  HERE,
  type Held,
  hasLeftOver,
  isOpen,
  newTurn,
  type RunState,
  type Stimulus,
  stepsBefore,
} from '@nebula/core';
import type { Clock, Delivery, Queue, Random, Store, Write, WriteOutcome } from '@nebula/ports';
import type { Attempts } from './attempts.ts';
import { cacheBlobs } from './cache.ts';
import type { Durations } from './durations.ts';
import type { Holds } from './holds.ts';
import type { Claim, Draft, LiveRun } from './live-run.ts';
import type { Meter } from './metrics.ts';
import { Recovery } from './recovery.ts';
import type { Runs } from './runs.ts';
import { inSlices, oneSlice } from './slices.ts';
import { Tasks } from './tasks.ts';
import type { Values } from './values.ts';
import { cacheRows, largeIn, writeOf } from './write.ts';

/** After so many in one turn it is the store that is in trouble, not a run. */
const MAX_FAILURES_PER_TURN = 2;

export interface TurnsParts {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly random: Random;
  readonly runs: Runs;
  readonly values: Values;
  readonly attempts: Attempts;
  readonly holds: Holds;
  readonly durations: Durations;
  readonly meter: Meter;
  readonly workerId: string;
  readonly concurrency: number;
  readonly retentionMs: number | null;
  /** A frame is durable. */
  onFrame(run: LiveRun, draft: Draft, at: number): void;
  /** What happened to a run changes nothing. */
  onNothing(run: LiveRun, draft: Draft): void;
  /** A run cannot go on in this process; it stays in the store. */
  onFault(run: LiveRun, error: unknown): void;
  /** The store does not take appends; it is tried again. */
  onTrouble(error: unknown): void;
  /** The store has taken something. */
  onWritten(): void;
  /** A run's wake time was written. */
  onWake(at: number): void;
  /** A node wants to know whether the cache has its output. */
  onCacheAsk(run: LiveRun, node: string): void;
  /** Nobody takes this process for dead. */
  isLeased(): boolean;
}

interface Sealed {
  readonly run: LiveRun;
  readonly write: Write;
}

export class Turns {
  private readonly parts: TurnsParts;
  private dirty = new Set<LiveRun>();
  private mode: 'idle' | 'scheduled' | 'turning' = 'idle';
  /** Something came while a turn was under way that may be too late for it: a task, a slot. */
  private isWanted = false;
  private isClosed = false;
  private takesWork = false;
  private readonly recovery: Recovery;
  private readonly tasks: Tasks;
  private idleWaiters: (() => void)[] = [];
  /** Whose graph has been compiled. */
  private readonly prepared = new WeakSet<Stimulus>();
  /** Lets the sweeper have what was copied in this turn, once it is written whose it is. */
  private readonly kept: (() => void)[] = [];

  constructor(parts: TurnsParts) {
    this.parts = parts;
    this.recovery = new Recovery({
      ...parts,
      touch: (run) => this.touch(run),
      dropMail: (run) => this.dirty.delete(run),
      kick: () => this.kick(),
    });
    const draftOf = (run: LiveRun, now: number): Draft => this.draftOf(run, now);
    this.tasks = new Tasks({ ...parts, recovery: this.recovery, draftOf });
    parts.queue.onAvailable((routes) => {
      if (routes.includes(HERE)) this.kick();
    });
  }

  /** From now on ready nodes are started. */
  openForWork(): void {
    this.takesWork = true;
    this.kick();
  }

  stopTakingWork(): void {
    this.takesWork = false;
    this.tasks.refuseClaimed();
  }

  /** A worker outside has taken a task from the queue. */
  claim(delivery: Delivery, claim: Claim): void {
    this.tasks.claim(delivery, claim);
    this.kick();
  }

  /** No turn begins after this. */
  close(): void {
    this.isClosed = true;
    this.recovery.close();
  }

  post(run: LiveRun, stimulus: Stimulus): void {
    run.mailbox.push(stimulus);
    this.touch(run);
  }

  touch(run: LiveRun): void {
    this.dirty.add(run);
    this.kick();
  }

  kick(): void {
    this.isWanted = true;
    if (this.mode !== 'idle' || this.isClosed) return;
    this.mode = 'scheduled';
    this.parts.clock.soon(() => void this.turn());
  }

  /** Resolves when no mail is left, or after the given time: a store in trouble takes nothing. */
  async idle(withinMs: number): Promise<void> {
    if (this.isClosed || (this.mode === 'idle' && this.dirty.size === 0 && !this.recovery.isUnderWay)) return;
    await new Promise<void>((resolve) => {
      const timer = this.parts.clock.timer(withinMs, resolve);
      this.idleWaiters.push(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  private async turn(): Promise<void> {
    if (this.isClosed) return;
    this.mode = 'turning';
    this.isWanted = false;
    try {
      await this.runTurn();
    } catch (error) {
      this.parts.onTrouble(error);
    } finally {
      this.mode = 'idle';
      if (this.dirty.size > 0 || this.isWanted) this.kick();
      else this.settleIdle();
    }
  }

  private settleIdle(): void {
    if (this.mode !== 'idle' || this.recovery.isUnderWay) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  private async runTurn(): Promise<void> {
    const now = this.parts.clock.now();
    const drafted = new Set<LiveRun>();
    for (const run of this.dirty) if (this.decideOn(run, now)) drafted.add(run);
    this.dirty = new Set();
    if (!this.takesWork) this.tasks.refuseClaimed();
    else if (this.parts.isLeased()) {
      this.tasks.startReady(drafted, now);
      this.tasks.startClaimed(drafted, now);
    }

    for (const run of drafted) {
      const large = largeIn(run, this.parts.values);
      if (large.length > 0) await this.spill(run, large);
      if (run.state.spilled > 0) await this.keepForOthers(run);
    }
    try {
      await this.write(drafted);
    } finally {
      for (const letGo of this.kept.splice(0)) letGo();
    }
  }

  private async write(drafted: Iterable<LiveRun>): Promise<void> {
    const together: Sealed[] = [];
    const alone: Sealed[] = [];
    for (const run of drafted) {
      const write = this.sealed(run);
      if (write !== undefined) (run.refusals === 0 ? together : alone).push({ run, write });
    }
    if (!this.recovery.isUnderWay) this.parts.values.trim();
    if (together.length > 0) await this.append(together);
    let failures = 0;
    for (const sealed of alone) {
      if (failures === MAX_FAILURES_PER_TURN) this.recovery.putOff(sealed.run, undefined);
      else if (!(await this.append([sealed]))) failures++;
    }
  }

  /** False when the store took nothing. */
  private async append(frames: readonly Sealed[]): Promise<boolean> {
    const { clock, meter, store } = this.parts;
    const begunAt = clock.now();
    let outcomes: readonly WriteOutcome[];
    try {
      outcomes = await store.append(frames.map(({ write }) => write));
      meter.observe('engine.commit_ms', Math.max(0, clock.now() - begunAt));
      this.parts.onWritten();
    } catch (error) {
      this.parts.onTrouble(error);
      for (const { run } of frames) this.recovery.putOff(run, error);
      return false;
    }
    for (const [index, { run, write }] of frames.entries()) {
      run.refusals = 0;
      try {
        const outcome = outcomes[index];
        if (outcome?.ok) this.carryOut(run, write, outcome.rates ?? []);
        else this.recovery.refused(run, outcome?.heldBy);
      } catch (error) {
        this.recovery.putAside(run, error);
      }
    }
    return true;
  }

  /** Decides on a run's mail. False when there is nothing to write yet. */
  private decideOn(run: LiveRun, now: number): boolean {
    if (run.isBusy) return false;
    const { state, mailbox } = run;
    // Told with whatever comes next: a snapshot alone is worth no frame.
    if (run.checkpoint !== null && mailbox.length > 0) {
      mailbox.unshift({ type: 'checkpointed', seq: run.checkpoint });
      run.checkpoint = null;
    }
    try {
      if (state.spilled > 0 && this.recovery.mustFetch(run)) return false;
      if (run.plan.draws && this.mustPrepare(run)) return false;
      const draft = this.draftOf(run, now);
      run.mailbox = [];
      for (const message of run.messages) draft.messages.push(message);
      run.messages = [];
      // All of it before any is decided on: if it has to be decided on again, none may be missing.
      for (const stimulus of mailbox) draft.stimuli.push(stimulus);
      for (const stimulus of mailbox) {
        if (stimulus.type === 'ended' && !isOpen(state, stimulus)) draft.refused.add(stimulus);
        if (isTooLate(state, stimulus)) draft.late.add(stimulus);
        else decide(draft.turn, stimulus);
      }
      if (mailbox.length === 0 && hasLeftOver(state)) goOnWith(draft.turn);
      if (this.parts.queue.local) this.tasks.enqueueReady(run);
      return true;
    } catch (error) {
      this.recovery.undecided(run, error);
      return false;
    }
  }

  /** A graph that a node returned is compiled in slices first; each stimulus waits once. */
  private mustPrepare(run: LiveRun): boolean {
    for (const stimulus of run.mailbox) {
      if (this.prepared.has(stimulus)) continue;
      const steps = stepsBefore(run.state, stimulus, this.parts.values.lookup);
      if (steps === undefined) continue;
      this.prepared.add(stimulus);
      if (oneSlice(steps, this.parts.clock) !== undefined) continue;
      run.isBusy = true;
      const prepare = async (): Promise<void> => {
        await inSlices(steps, this.parts.clock);
        run.isBusy = false;
        this.touch(run);
      };
      this.recovery.whileReading(prepare).catch((error: unknown) => this.recovery.putAside(run, error));
      return true;
    }
    return false;
  }

  catchUp(run: LiveRun): Promise<boolean> {
    return this.recovery.catchUp(run);
  }

  private draftOf(run: LiveRun, now: number): Draft {
    if (run.draft === null) {
      const at = Math.max(now, run.lastAt);
      const turn = newTurn(run.state, at, this.parts.values.lookup, () => this.parts.random.id('exe'));
      run.draft = {
        turn,
        stimuli: [],
        messages: [],
        late: new Set(),
        refused: new Set(),
        starting: [],
        claims: run.claims,
      };
    }
    return run.draft;
  }

  /** Values above the inline limit become blobs before the frame that names them is written. */
  private async spill(run: LiveRun, large: readonly Held[]): Promise<void> {
    try {
      for (const held of large) {
        await this.parts.values.spill(run.executionId, held);
        run.state.spilled++;
      }
    } catch (error) {
      this.parts.onTrouble(error);
      this.recovery.putOff(run, error);
    }
  }

  /** Large outputs that others may use again outlive this run. Where that fails they work them out for themselves. */
  private async keepForOthers(run: LiveRun): Promise<void> {
    if (run.draft === null) return;
    for (const { key, output } of cacheRows(run, run.draft.turn)) {
      const { blob } = JSON.parse(output) as Held;
      if (blob === undefined) continue;
      const name = cacheBlobs(key);
      this.kept.push(this.parts.holds.hold(name));
      await this.parts.values.copy(run.executionId, name, blob).catch((error) => this.parts.onTrouble(error));
    }
  }

  /** The draft as a write; undefined when there is nothing to say. */
  private sealed(run: LiveRun): Write | undefined {
    try {
      const write = writeOf(run, this.parts);
      if (write !== undefined || run.draft === null) return write;
      const { draft } = run;
      const { turn } = draft;
      run.draft = null;
      // Asked again: that it stands before the cache was written earlier.
      this.answer(run, turn, []);
      if (!this.parts.queue.local) this.tasks.enqueueReady(run);
      this.parts.onNothing(run, draft);
      return undefined;
    } catch (error) {
      this.recovery.putAside(run, error);
      return undefined;
    }
  }

  private carryOut(run: LiveRun, write: Write, rates: readonly number[]): void {
    const draft = run.draft as Draft;
    const { turn } = draft;
    run.draft = null;
    if (write.frame !== undefined) {
      run.state.seq = write.frame.seq;
      run.journalBytes += write.frame.entries.length;
      this.parts.meter.add('engine.frames');
    }
    run.isNew = false;
    run.lastAt = turn.now;
    for (const { messageId, stimulus } of draft.messages) {
      if (stimulus !== undefined && draft.late.has(stimulus)) run.heard.delete(messageId);
    }
    if (write.wakeAt !== undefined) {
      // A claim that came while the frame was on its way may have been stored before or after it.
      if (draft.claims === run.claims) {
        run.storedWakeAt = write.wakeAt;
        run.isClaimed = false;
      }
      if (write.wakeAt !== null) this.parts.onWake(write.wakeAt);
    }
    // Whom it wrote to is due now, and so is whoever was granted something.
    if ((write.sends ?? write.permits ?? write.listeners) !== undefined) this.parts.onWake(turn.now);
    this.answer(run, turn, rates);
    // A long loop that needs no worker goes on in the next turn, after everybody else had theirs.
    if (hasLeftOver(run.state)) this.touch(run);
    // The answer of the store may have taken so long that others have given up what this process would begin, or that it
    // has been told to close since: then nobody would wait for what it begins.
    const mayBegin = draft.starting.length === 0 || (this.takesWork && this.parts.isLeased());
    for (const { attempt, delivery, claim } of draft.starting) {
      if (claim !== undefined) {
        this.parts.queue.ack(delivery);
        claim.given({ run, attempt, at: turn.now });
      } else if (mayBegin) this.parts.attempts.begin(run, attempt, delivery, turn.now);
      else this.parts.attempts.giveBack(run, attempt, delivery);
    }
    for (const abort of turn.aborts) this.parts.attempts.abort(run.executionId, abort);
    if (turn.aborts.some(({ isOver }) => isOver)) this.kick();
    if (!this.parts.queue.local) this.tasks.enqueueReady(run);
    this.parts.onFrame(run, draft, turn.now);
  }

  /** What the gates of its nodes say, as far as this process is the one who tells. */
  private answer(run: LiveRun, { asks }: Draft['turn'], rates: readonly number[]): void {
    const moments = [...rates];
    for (const { node, gate } of asks) {
      if (gate.kind === 'cache') this.parts.onCacheAsk(run, node);
      if (gate.kind !== 'rate') continue;
      this.post(run, { type: 'granted', node, gate: 'rate', until: moments.shift() ?? run.lastAt });
    }
  }
}

/** A run that has begun, or ended, cannot be put off any more: the start is another run's. */
function isTooLate({ heldUntil, status }: RunState, { type }: Stimulus): boolean {
  return type === 'restart' && heldUntil === null && status !== 'pending';
}
