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
 *  T6 A task may name a run that is not here, or more than is known here: the journal is read, and it is offered again.
 *
 * Long because all that touches a draft is here: spread over files, T1 to T6 could not be seen to hold.
 */
import {
  type Attempt,
  blobsToDecide,
  blobsToStart,
  decide,
  goOnWith,
  type Held,
  hasLeftOver,
  NebulaError,
  newTurn,
  nextReady,
  nodeAt,
  type RunState,
  recallDispatched,
  type Stimulus,
  take,
} from '@nebula/core';
import type { Clock, Delivery, Queue, Random, Store, Write, WriteOutcome } from '@nebula/ports';
import type { Attempts } from './attempts.ts';
import { cacheBlobs } from './cache.ts';
import type { Durations } from './durations.ts';
import type { Holds } from './holds.ts';
import type { Draft, LiveRun } from './live-run.ts';
import type { Meter } from './metrics.ts';
import type { Runs } from './runs.ts';
import { BlobMissing, type Values } from './values.ts';
import { cacheRows, largeIn, writeOf } from './write.ts';

/** How soon to offer a task again whose run is being read. */
const BUSY_MS = 5;
/** Pauses after the store did not take a frame, or could not be read. */
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5_000;
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
  onNothing(run: LiveRun): void;
  /** A run cannot go on in this process; it stays in the store. */
  onFault(run: LiveRun, error: unknown): void;
  /** The store does not take appends; it is tried again. */
  onTrouble(error: unknown): void;
  /** A run's wake time was written. */
  onWake(at: number): void;
  /** A node wants to know whether the cache has its output. */
  onCacheAsk(run: LiveRun, node: string): void;
  /** Nobody takes this process for dead. */
  isLeased(): boolean;
}

/** A task that waited for its run to be read. `isFresh`: nothing newer is known of the run. */
interface Offer {
  readonly delivery: Delivery;
  readonly isFresh: boolean;
}

/** A start was refused, since this run stands for all starts with its key. */
export class StartTaken extends Error {
  readonly executionId: string;

  constructor(executionId: string) {
    super(`${executionId} stands for this start`);
    this.executionId = executionId;
  }
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
  private offers: Offer[] = [];
  /** Runs that are being read, or that wait for a better moment. */
  private blocked = 0;
  private idleWaiters: (() => void)[] = [];
  /** Lets the sweeper have what was copied in this turn, once it is written whose it is. */
  private readonly kept: (() => void)[] = [];

  constructor(parts: TurnsParts) {
    this.parts = parts;
    parts.queue.onAvailable(() => this.kick());
  }

  /** From now on ready nodes are started. */
  openForWork(): void {
    this.takesWork = true;
    this.kick();
  }

  stopTakingWork(): void {
    this.takesWork = false;
  }

  /** No turn begins after this. */
  close(): void {
    this.isClosed = true;
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
    if (this.isClosed || (this.mode === 'idle' && this.dirty.size === 0 && this.blocked === 0)) return;
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
    if (this.mode !== 'idle' || this.blocked > 0) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  private async runTurn(): Promise<void> {
    const now = this.parts.clock.now();
    const drafted = new Set<LiveRun>();
    for (const run of this.dirty) if (this.decideOn(run, now)) drafted.add(run);
    this.dirty = new Set();
    if (this.takesWork && this.parts.isLeased()) this.startReady(drafted, now);

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
    if (this.blocked === 0) this.parts.values.trim();
    if (together.length > 0) await this.append(together);
    let failures = 0;
    for (const sealed of alone) {
      if (failures === MAX_FAILURES_PER_TURN) this.putOff(sealed.run, undefined);
      else if (!(await this.append([sealed]))) failures++;
    }
  }

  /** False when the store took nothing. */
  private async append(frames: readonly Sealed[]): Promise<boolean> {
    let outcomes: readonly WriteOutcome[];
    try {
      outcomes = await this.parts.store.append(frames.map(({ write }) => write));
    } catch (error) {
      this.parts.onTrouble(error);
      for (const { run } of frames) this.putOff(run, error);
      return false;
    }
    for (const [index, { run, write }] of frames.entries()) {
      run.refusals = 0;
      try {
        const outcome = outcomes[index];
        if (outcome?.ok) this.carryOut(run, write, outcome.rates ?? []);
        else this.refused(run, outcome?.heldBy);
      } catch (error) {
        this.putAside(run, error);
      }
    }
    return true;
  }

  /** Decides on a run's mail. False when there is nothing to write yet. */
  private decideOn(run: LiveRun, now: number): boolean {
    if (run.isBusy) return false;
    const { state, mailbox } = run;
    try {
      if (state.spilled > 0 && this.mustFetch(run)) return false;
      const draft = this.draftOf(run, now);
      run.mailbox = [];
      for (const message of run.messages) draft.messages.push(message);
      run.messages = [];
      // All of it before any is decided on: if it has to be decided on again, none may be missing.
      for (const stimulus of mailbox) draft.stimuli.push(stimulus);
      for (const stimulus of mailbox) {
        if (isTooLate(state, stimulus)) draft.late.add(stimulus);
        else decide(draft.turn, stimulus);
      }
      if (mailbox.length === 0 && hasLeftOver(state)) goOnWith(draft.turn);
      if (this.parts.queue.local) this.enqueueReady(run);
      return true;
    } catch (error) {
      this.undecided(run, error);
      return false;
    }
  }

  /** A large value that nobody foresaw is fetched, and all is decided on again; anything else is a fault. */
  private undecided(run: LiveRun, error: unknown): void {
    if (!(error instanceof BlobMissing) || run.isNew) return this.putAside(run, error);
    this.rewind(run);
    run.isBusy = true;
    this.fetch(run, [error.blob], () => void this.reload(run));
  }

  private draftOf(run: LiveRun, now: number): Draft {
    if (run.draft === null) {
      const at = Math.max(now, run.lastAt);
      const turn = newTurn(run.state, at, this.parts.values.lookup, () => this.parts.random.id('exe'));
      run.draft = { turn, stimuli: [], messages: [], late: new Set(), starting: [], claims: run.claims };
    }
    return run.draft;
  }

  private enqueueReady(run: LiveRun): void {
    const { executionId, state } = run;
    // What this process can run at once says nothing about the others that a shared queue serves.
    const ready = nextReady(state, this.parts.queue.local ? this.parts.concurrency : Number.POSITIVE_INFINITY);
    if (ready.length === 0) return;
    const tasks = ready.map((task) => ({
      ...task,
      executionId,
      taskId: `${executionId}:${task.node}:${task.attempt}`,
    }));
    // What the queue did not take is offered again when the run resyncs.
    this.parts.queue.enqueue(tasks)?.catch((error: unknown) => this.parts.onTrouble(error));
  }

  /** Fills free slots from the queue, so that priority and limits hold over all runs. */
  private startReady(drafted: Set<LiveRun>, now: number): void {
    const { queue, attempts } = this.parts;
    for (;;) {
      const free = attempts.free();
      if (free <= 0) return;
      const waited = this.offers.splice(0, free);
      const fresh = waited.length < free ? queue.poll(free - waited.length) : [];
      const offers = [...waited, ...fresh.map((delivery) => ({ delivery, isFresh: false }))];
      if (offers.length === 0) return;
      for (const offer of offers) this.start(offer, drafted, now);
    }
  }

  private start(offer: Offer, drafted: Set<LiveRun>, now: number): void {
    const { delivery } = offer;
    const { queue, runs, values, attempts, workerId } = this.parts;
    const { executionId, node, attempt: number } = delivery.task;
    const run = runs.get(executionId);
    if (run === undefined) {
      // Our own queue has it left over from a run that is gone from here. From one that others fill, too, it is work.
      if (queue.local) queue.ack(delivery);
      else void this.read(offer);
      return;
    }
    if (run.isBusy) {
      queue.nack(delivery, BUSY_MS);
      return;
    }
    const missing = run.state.spilled > 0 ? values.missing(blobsToStart(run.state, node)) : [];
    if (missing.length > 0) {
      this.fetch(run, missing, () => this.offers.push(offer));
      return;
    }
    try {
      const draft = this.draftOf(run, now);
      drafted.add(run);
      const attempt = take(draft.turn, node, number, workerId) ?? this.takeAnyway(draft, offer);
      if (attempt === undefined) {
        if (this.mayBeBehind(run, offer)) void this.read(offer, run);
        else queue.ack(delivery);
        if (queue.local) this.enqueueReady(run);
        return;
      }
      attempts.reserve();
      draft.starting.push({ attempt, delivery });
    } catch (error) {
      queue.ack(delivery);
      drafted.delete(run);
      this.undecided(run, error);
    }
  }

  /** What this process once handed to the shared queue may be lost there: it does not stand in the way of what is not. */
  private takeAnyway({ turn }: Draft, { delivery, isFresh }: Offer): Attempt | undefined {
    if (!isFresh || turn.state.dispatched === 0) return undefined;
    recallDispatched(turn.state);
    return take(turn, delivery.task.node, delivery.task.attempt, this.parts.workerId);
  }

  /** A task of an attempt that this process does not know of yet: another engine has written to the run since. */
  private mayBeBehind(run: LiveRun, { delivery, isFresh }: Offer): boolean {
    const { queue, store } = this.parts;
    if (queue.local || store.exclusive || isFresh) return false;
    const { node, attempt } = delivery.task;
    return attempt > (nodeAt(run.state, node)?.attempts ?? 0);
  }

  /** Reads a run for one of its tasks, and offers the task again. */
  private async read({ delivery }: Offer, live?: LiveRun): Promise<void> {
    const { queue, runs, onTrouble } = this.parts;
    this.blocked++;
    try {
      // The turn has a draft of it: once that is written there is something to compare.
      if (live !== undefined) await new Promise<void>((resolve) => this.parts.clock.soon(resolve));
      const isFresh = live === undefined || (await this.catchUp(live));
      const run = await runs.load(delivery.task.executionId);
      if (run === undefined) queue.ack(delivery);
      else this.offers.push({ delivery, isFresh });
    } catch (error) {
      onTrouble(error);
      // What is damaged stays so; the run's wake-up tells it.
      if (error instanceof NebulaError && !error.retryable) queue.ack(delivery);
      else queue.nack(delivery, RETRY_MIN_MS);
    } finally {
      this.blocked--;
      this.kick();
    }
  }

  private mustFetch(run: LiveRun): boolean {
    const missing = this.parts.values.missing(blobsToDecide(run.state, run.mailbox));
    if (missing.length === 0) return false;
    run.isBusy = true;
    this.fetch(run, missing, () => {
      run.isBusy = false;
      this.touch(run);
    });
    return true;
  }

  private fetch(run: LiveRun, blobs: Parameters<Values['fetch']>[1], then: () => void): void {
    this.blocked++;
    this.parts.values
      .fetch(run.executionId, blobs)
      .then(
        () => {
          run.refusals = 0;
          then();
        },
        (error: unknown) => this.unreadable(run, error, then),
      )
      .finally(() => {
        this.blocked--;
        this.kick();
      });
  }

  /** What is damaged or gone stays so, and the run is put aside; anything else may go well a little later. */
  private unreadable(run: LiveRun, error: unknown, again: () => void): void {
    if (error instanceof NebulaError && !error.retryable) {
      this.putAside(run, error);
      return;
    }
    this.parts.onTrouble(error);
    this.later(run, again);
  }

  private later(run: LiveRun, then: () => void): void {
    this.blocked++;
    const delayMs = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** run.refusals++);
    this.parts.clock.timer(delayMs, () => {
      this.blocked--;
      if (!this.isClosed) then();
    });
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
      this.putOff(run, error);
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
      const { turn } = run.draft;
      run.draft = null;
      // Asked again: that it stands before the cache was written earlier.
      this.answer(run, turn, []);
      if (!this.parts.queue.local) this.enqueueReady(run);
      this.parts.onNothing(run);
      return undefined;
    } catch (error) {
      this.putAside(run, error);
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
    for (const { attempt, delivery } of draft.starting) {
      if (mayBegin) this.parts.attempts.begin(run, attempt, delivery, turn.now);
      else this.parts.attempts.giveBack(run, attempt, delivery);
    }
    for (const abort of turn.aborts) this.parts.attempts.abort(run.executionId, abort);
    if (turn.aborts.some(({ isOver }) => isOver)) this.kick();
    if (!this.parts.queue.local) this.enqueueReady(run);
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

  /** Somebody else wrote to this run: read what, and decide again. */
  private refused(run: LiveRun, heldBy: string | undefined): void {
    this.parts.meter.add('engine.conflicts');
    if (run.isNew) {
      this.drop(run);
      if (heldBy !== undefined) {
        for (const done of run.onCreated.splice(0)) done(new StartTaken(heldBy));
        return;
      }
      void this.confirm(run);
      return;
    }
    this.rewind(run);
    void this.reload(run);
  }

  /** The execution exists already, and starting it twice is starting it once; or the store was wrong about that. */
  private async confirm({ executionId, onCreated }: LiveRun): Promise<void> {
    let error: unknown;
    try {
      const isThere = (await this.parts.store.execution(executionId)) !== undefined;
      if (!isThere) error = new NebulaError('NOT_STARTED', `${executionId} could not be created.`, { retryable: true });
    } catch (failure) {
      error = failure;
    }
    for (const done of onCreated.splice(0)) done(error);
  }

  /** The draft's mail goes back into the box; what it would have started is let go. */
  private rewind(run: LiveRun): void {
    const draft = this.release(run);
    if (draft === null) return;
    run.mailbox = [...draft.stimuli, ...run.mailbox];
    run.messages = [...draft.messages, ...run.messages];
  }

  private release(run: LiveRun): Draft | null {
    const { draft } = run;
    run.draft = null;
    for (const { delivery } of draft?.starting ?? []) {
      this.parts.attempts.unreserve();
      this.parts.queue.ack(delivery);
    }
    return draft;
  }

  private async reload(run: LiveRun): Promise<void> {
    this.parts.meter.add('engine.reloads');
    run.isBusy = true;
    this.blocked++;
    try {
      await this.parts.runs.reload(run);
      if (run.messages.length > 0) await this.dropTaken(run);
      run.isBusy = false;
      // What this process started and the journal does not know of is looked at like any lost attempt.
      this.parts.attempts.reconcile(run, (stimulus) => run.mailbox.push(stimulus));
      // A frame whose answer was lost may have been written, and nobody heard what it asks for.
      if (run.state.gated.size > 0) run.mailbox.push({ type: 'wake', lost: [], jitter: 1 });
      this.touch(run);
    } catch (error) {
      this.unreadable(run, error, () => void this.reload(run));
    } finally {
      this.blocked--;
      this.kick();
    }
  }

  /** A frame whose answer was lost may have been written, and its messages with it: these have been acted on. */
  private async dropTaken(run: LiveRun): Promise<void> {
    const inbox = new Set((await this.parts.store.inbox(run.executionId)).map(({ messageId }) => messageId));
    const done = new Set(run.messages.filter(({ messageId }) => !inbox.has(messageId)).map(({ stimulus }) => stimulus));
    run.messages = run.messages.filter(({ messageId }) => inbox.has(messageId));
    run.mailbox = run.mailbox.filter((stimulus) => !done.has(stimulus));
  }

  /**
   * Where several engines share a store, another one may have written since: then the journal is folded again.
   * False when it could not look, since the run is in the middle of something.
   */
  async catchUp(run: LiveRun): Promise<boolean> {
    if (this.parts.store.exclusive) return true;
    if (run.isBusy || run.draft !== null) return false;
    const news = await this.parts.store.frames(run.executionId, run.state.seq);
    if (run.isBusy || run.draft !== null) return false;
    if ((news.at(-1)?.seq ?? 0) > run.state.seq) await this.reload(run);
    return true;
  }

  /** The store took nothing: what was decided is forgotten, what happened is kept, and it is tried again a little later. */
  private putOff(run: LiveRun, error: unknown): void {
    if (run.isNew) {
      this.drop(run);
      for (const done of run.onCreated.splice(0)) done(error);
      this.later(run, () => void this.lookAfter(run));
      return;
    }
    this.rewind(run);
    run.isBusy = true;
    this.later(run, () => void this.reload(run));
  }

  /** A start that failed may have been written all the same: then nobody runs what it began. */
  private async lookAfter(lost: LiveRun): Promise<void> {
    try {
      const run = await this.parts.runs.load(lost.executionId);
      if (run === undefined) return;
      // It was started again, or woken, and is in the middle of that: what it has begun is not lost.
      if (run.isNew || run.isBusy || run.draft !== null) return this.later(lost, () => void this.lookAfter(lost));
      // Written anew, so that the waker hears of it.
      run.storedWakeAt = undefined;
      this.parts.attempts.reconcile(run, (stimulus) => run.mailbox.push(stimulus));
      if (run.state.gated.size > 0) run.mailbox.push({ type: 'wake', lost: [], jitter: 1 });
      this.touch(run);
    } catch (error) {
      this.unreadable(lost, error, () => void this.lookAfter(lost));
    }
  }

  /** It leaves memory, and nothing is written of it. */
  private drop(run: LiveRun): void {
    this.release(run);
    run.mailbox = [];
    this.dirty.delete(run);
    this.parts.runs.forget(run);
  }

  private putAside(run: LiveRun, error: unknown): void {
    this.drop(run);
    for (const done of run.onCreated.splice(0)) done(error);
    this.parts.onFault(run, error);
  }
}

/** A run that has begun, or ended, cannot be put off any more: the start is another run's. */
function isTooLate({ heldUntil, status }: RunState, { type }: Stimulus): boolean {
  return type === 'restart' && heldUntil === null && status !== 'pending';
}
