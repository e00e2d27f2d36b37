/**
 * What becomes of a run whose frame the store did not take, or of which something must be read first.
 *
 *  R1 What happened to a run is mail until it is durable: a draft that comes to nothing gives its mail back.
 *  R2 A run that is being read, or waits for a better moment, is busy: nobody decides on it meanwhile.
 *  R3 What may go well later is tried again with growing pauses; what is damaged or gone is told, and put aside.
 */
import { blobsToDecide, NebulaError } from '@nebula/core';
import type { Clock, PlaceHolder, Queue, Store } from '@nebula/ports';
import type { Attempts } from './attempts.ts';
import type { Draft, LiveRun } from './live-run.ts';
import type { Meter } from './metrics.ts';
import type { Runs } from './runs.ts';
import { BlobMissing, type Values } from './values.ts';

/** Pauses after the store did not take a frame, or could not be read. */
export const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5_000;

export interface RecoveryParts {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly runs: Runs;
  readonly values: Values;
  readonly attempts: Attempts;
  readonly meter: Meter;
  /** A run cannot go on in this process; it stays in the store. */
  onFault(run: LiveRun, error: unknown): void;
  onTrouble(error: unknown): void;
  /** There is mail for the next turn. */
  touch(run: LiveRun): void;
  /** There is none. */
  dropMail(run: LiveRun): void;
  kick(): void;
}

/** A start was refused, since this run has the place that it needs. */
export class StartTaken extends Error {
  readonly holder: PlaceHolder;

  constructor(holder: PlaceHolder) {
    super(`${holder.executionId} has the place '${holder.key}'`);
    this.holder = holder;
  }
}

export class Recovery {
  private readonly parts: RecoveryParts;
  /** Runs that are being read, or that wait for a better moment. */
  private blocked = 0;
  private isClosed = false;

  constructor(parts: RecoveryParts) {
    this.parts = parts;
  }

  /** Something is being read, or waits for a better moment. */
  get isUnderWay(): boolean {
    return this.blocked > 0;
  }

  close(): void {
    this.isClosed = true;
  }

  /** Whoever reads something of a run lets others know how long. */
  async whileReading(work: () => Promise<void>): Promise<void> {
    this.blocked++;
    try {
      await work();
    } finally {
      this.blocked--;
      this.parts.kick();
    }
  }

  /** A large value that nobody foresaw is fetched, and all is decided on again; anything else is a fault. */
  undecided(run: LiveRun, error: unknown): void {
    if (!(error instanceof BlobMissing) || run.isNew) return this.putAside(run, error);
    this.rewind(run);
    run.isBusy = true;
    this.fetch(run, [error.blob], () => void this.reload(run));
  }

  mustFetch(run: LiveRun): boolean {
    const missing = this.parts.values.missing(blobsToDecide(run.state, run.mailbox));
    if (missing.length === 0) return false;
    run.isBusy = true;
    this.fetch(run, missing, () => {
      run.isBusy = false;
      this.parts.touch(run);
    });
    return true;
  }

  fetch(run: LiveRun, blobs: Parameters<Values['fetch']>[1], then: () => void): void {
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
        this.parts.kick();
      });
  }

  /** What is damaged or gone stays so, and the run is put aside; anything else may go well a little later. */
  unreadable(run: LiveRun, error: unknown, again: () => void): void {
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

  /** Somebody else wrote to this run: read what, and decide again. */
  refused(run: LiveRun, heldBy: PlaceHolder | undefined): void {
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
    for (const { delivery, claim } of draft?.starting ?? []) {
      if (claim === undefined) this.parts.attempts.unreserve();
      this.parts.queue.ack(delivery);
      claim?.refused();
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
      this.parts.touch(run);
    } catch (error) {
      this.unreadable(run, error, () => void this.reload(run));
    } finally {
      this.blocked--;
      this.parts.kick();
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
    const head = (await this.parts.store.heads([run.executionId])).get(run.executionId) ?? 0;
    if (run.isBusy || run.draft !== null) return false;
    if (head > run.state.seq) await this.reload(run);
    return true;
  }

  /** The store took nothing: what was decided is forgotten, what happened is kept, and it is tried again a little later. */
  putOff(run: LiveRun, error: unknown): void {
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
      this.parts.touch(run);
    } catch (error) {
      this.unreadable(lost, error, () => void this.lookAfter(lost));
    }
  }

  /** It leaves memory, and nothing is written of it. */
  drop(run: LiveRun): void {
    this.release(run);
    run.mailbox = [];
    this.parts.dropMail(run);
    this.parts.runs.forget(run);
  }

  putAside(run: LiveRun, error: unknown): void {
    this.drop(run);
    for (const done of run.onCreated.splice(0)) done(error);
    this.parts.onFault(run, error);
  }
}
