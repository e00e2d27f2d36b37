/**
 * Takes over a run whose frame the store did not take, or of which something must be read first.
 *
 *  R1 A stimulus is mail until the frame that decided on it is durable: a draft that is thrown away gives its mail back.
 *  R2 A run that is being read, or waits for the next try, is in mode `reading`: no stimulus is decided on meanwhile.
 *  R3 An operation that may succeed later is repeated with growing pauses; a run whose data is damaged or gone is
 *     reported as a fault and leaves memory.
 */
import { blobsToDecide, NebulaError } from '@nebula/core';
import type { InboxRow, PermitHolder } from '@nebula/ports';
import type { Attempts } from '../attempts/attempts.ts';
import type { EngineContext } from '../context.ts';
import { BlobMissing, type Values } from '../storage/values.ts';
import type { Draft, LiveRun } from './live-run.ts';

/** Pauses after the store did not take a frame, or could not be read. */
export const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5_000;

/** A start was refused: this run holds the permit that it needs. */
export class StartTaken extends Error {
  readonly holder: PermitHolder;

  constructor(holder: PermitHolder) {
    super(`${holder.executionId} has the place '${holder.key}'`);
    this.holder = holder;
  }
}

export class Recovery {
  private readonly context: EngineContext;
  private readonly attempts: Attempts;
  /** Reads and pauses under way. */
  private blocked = 0;
  private isClosed = false;

  constructor(context: EngineContext, attempts: Attempts) {
    this.context = context;
    this.attempts = attempts;
  }

  /** Something is being read, or waits for the next try. */
  get isUnderWay(): boolean {
    return this.blocked > 0;
  }

  close(): void {
    this.isClosed = true;
  }

  /** Counts as under way until `work` is done; then the turn loop looks again. */
  async whileReading(work: () => Promise<void>): Promise<void> {
    this.blocked++;
    try {
      await work();
    } finally {
      this.blocked--;
      this.context.mailbox.kick();
    }
  }

  /** Fetches a large value that `blobsToDecide` did not foresee and decides again; any other error is a fault. */
  undecided(run: LiveRun, error: unknown): void {
    if (!(error instanceof BlobMissing) || run.isNew) return this.putAside(run, error);
    this.rewind(run);
    run.read('values');
    this.fetch(run, [error.blob], () => void this.reload(run));
  }

  mustFetch(run: LiveRun): boolean {
    const { values, mailbox } = this.context;
    const missing = values.missing(blobsToDecide(run.state, run.mailbox));
    if (missing.length === 0) return false;
    run.read('values');
    this.fetch(run, missing, () => {
      run.ready();
      mailbox.touch(run);
    });
    return true;
  }

  fetch(run: LiveRun, blobs: Parameters<Values['fetch']>[1], then: () => void): void {
    const fetching = async (): Promise<void> => {
      try {
        await this.context.values.fetch(run.executionId, blobs);
      } catch (error) {
        return this.unreadable(run, error, then);
      }
      run.refusals = 0;
      then();
    };
    void this.whileReading(fetching);
  }

  /** A run whose data is damaged or gone is put aside; any other error may pass, and `again` is called a little later. */
  private unreadable(run: LiveRun, error: unknown, again: () => void): void {
    if (error instanceof NebulaError && !error.retryable) {
      this.putAside(run, error);
      return;
    }
    this.context.effects.trouble(error);
    this.later(run, again);
  }

  private later(run: LiveRun, then: () => void): void {
    this.blocked++;
    const delayMs = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** run.refusals++);
    this.context.clock.timer(delayMs, () => {
      this.blocked--;
      if (!this.isClosed) then();
    });
  }

  /** Another engine wrote to this run: its journal is read, and the mail decided on again. */
  refused(run: LiveRun, heldBy: PermitHolder | undefined): void {
    this.context.meter.add('engine.conflicts');
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

  /** The execution exists already, and starting it twice is starting it once; or the store refused it for no reason. */
  private async confirm({ executionId, onCreated }: LiveRun): Promise<void> {
    let error: unknown;
    try {
      const isThere = (await this.context.store.execution(executionId)) !== undefined;
      if (!isThere) error = new NebulaError('NOT_STARTED', `${executionId} could not be created.`, { retryable: true });
    } catch (failure) {
      error = failure;
    }
    for (const done of onCreated.splice(0)) done(error);
  }

  /** The mail of the draft goes back into the mailbox; the attempts that it would have started are released. */
  private rewind(run: LiveRun): void {
    const draft = this.release(run);
    if (draft === null) return;
    run.mailbox = [...draft.stimuli, ...run.mailbox];
    run.messages = [...draft.messages, ...run.messages];
  }

  private release(run: LiveRun): Draft | null {
    const draft = run.draftUndone();
    for (const { delivery, claim } of draft?.starting ?? []) {
      if (claim === undefined) this.attempts.unreserve();
      this.context.queue.ack(delivery);
      claim?.refused();
    }
    return draft;
  }

  private async reload(run: LiveRun): Promise<void> {
    const { meter, runs, store } = this.context;
    meter.add('engine.reloads');
    run.read('journal');
    await this.whileReading(async () => {
      try {
        let count = run.messages.length;
        let inbox = await runs.reload(run);
        // A message that was posted meanwhile may be newer than this inbox, and is looked for in a newer one.
        while (run.messages.length > count) {
          count = run.messages.length;
          inbox = await store.inbox(run.executionId);
        }
        dropTaken(run, inbox);
        run.ready();
        this.reconcile(run);
      } catch (error) {
        this.unreadable(run, error, () => void this.reload(run));
      }
    });
  }

  /** After the journal was read again: an answer of the store that was lost may have been for a frame that is written. */
  private reconcile(run: LiveRun): void {
    // Attempts of this process that only the journal, or only this process, knows of.
    this.attempts.reconcile(run, (stimulus) => run.mailbox.push(stimulus));
    // Gated nodes ask again for what that frame asked for.
    if (run.state.gated.size > 0) run.mailbox.push({ type: 'wake', lost: [], jitter: 1 });
    this.context.mailbox.touch(run);
  }

  /**
   * Where several engines share a store, another one may have written since: then the journal is folded again.
   * False for a run that is being drafted or read: it could not be compared with the store. `head` is the newest seq in
   * the store, where it is known already.
   */
  async catchUp(run: LiveRun, head?: number): Promise<boolean> {
    const { store } = this.context;
    if (store.exclusive) return true;
    if (isUnderWay(run)) return false;
    const newest = head ?? (await store.heads([run.executionId])).get(run.executionId) ?? 0;
    if (isUnderWay(run)) return false;
    if (newest > run.state.seq) await this.reload(run);
    return true;
  }

  /** As `catchUp`, with one question to the store for all of them. */
  async catchUpAll(runs: readonly LiveRun[]): Promise<void> {
    const { store } = this.context;
    if (store.exclusive || runs.length === 0) return;
    const heads = await store.heads(runs.map(({ executionId }) => executionId));
    for (const run of runs) await this.catchUp(run, heads.get(run.executionId) ?? 0);
  }

  /** The store took nothing: the draft is thrown away, its mail is kept, and the write is tried again a little later. */
  putOff(run: LiveRun, error: unknown): void {
    if (run.isNew) {
      this.drop(run);
      for (const done of run.onCreated.splice(0)) done(error);
      this.later(run, () => void this.lookAfter(run));
      return;
    }
    this.rewind(run);
    run.read('pause');
    this.later(run, () => void this.reload(run));
  }

  /** A start that failed may have been written all the same: then no engine runs the attempts that it began. */
  private async lookAfter(lost: LiveRun): Promise<void> {
    try {
      const run = await this.context.runs.load(lost.executionId);
      if (run === undefined) return;
      // The run was started again, or woken: the attempts that this draft begins are not lost.
      if (isUnderWay(run)) return this.later(lost, () => void this.lookAfter(lost));
      // The wake time is written anew, so that the waker learns of it.
      run.storedWakeAt = undefined;
      this.reconcile(run);
    } catch (error) {
      this.unreadable(lost, error, () => void this.lookAfter(lost));
    }
  }

  /** The run leaves memory, and its draft is not written. */
  private drop(run: LiveRun): void {
    this.release(run);
    this.context.mailbox.drop(run);
    this.context.runs.forget(run);
  }

  putAside(run: LiveRun, error: unknown): void {
    this.drop(run);
    for (const done of run.onCreated.splice(0)) done(error);
    this.context.effects.fault(run.executionId, error);
  }
}

/** A message that is gone from the inbox was journalled by a frame whose answer was lost: it is not acted on again. */
function dropTaken(run: LiveRun, inbox: readonly InboxRow[]): void {
  if (run.messages.length === 0) return;
  const waiting = new Set(inbox.map(({ messageId }) => messageId));
  const done = new Set(run.messages.filter(({ messageId }) => !waiting.has(messageId)).map(({ stimulus }) => stimulus));
  run.messages = run.messages.filter(({ messageId }) => waiting.has(messageId));
  run.mailbox = run.mailbox.filter((stimulus) => !done.has(stimulus));
}

/** The run is new, drafted or read: its state is not that of the store. */
function isUnderWay(run: LiveRun): boolean {
  return run.mode !== 'idle';
}
