/**
 * Recovers a run whose frame the store did not accept, or for which something must be read first.
 *
 *  R1 A stimulus is mail until the frame that decides on it is durable: a dropped draft gives its mail back.
 *  R2 A run that is being read, or waits for a retry, is in mode `reading`: no stimulus is decided on meanwhile.
 *  R3 An operation that may succeed later is repeated with growing pauses; a run whose data is damaged or gone is
 *     reported as a fault and leaves memory.
 */

import { NebulaError } from '@nebula/core';
import { blobsToDecide } from '@nebula/core/run';
import type { InboxRow, PermitHolder, WriteOutcome } from '@nebula/ports';
import type { Attempts } from '../attempts/attempts.ts';
import type { EngineContext } from '../context.ts';
import { BlobMissing, type Values } from '../storage/values.ts';
import type { Draft, LiveRun } from './live-run.ts';

/** Pauses after the store did not accept a frame, or could not be read. */
export const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 5_000;

/** A start was refused: `holder` holds the permit that it needs. */
export class StartTaken extends Error {
  readonly holder: PermitHolder;

  constructor(holder: PermitHolder) {
    super(`${holder.executionId} holds the permit '${holder.key}'`);
    this.holder = holder;
  }
}

/** The start of a child, or of a run by a message, was refused: another start had created it, and it was deleted, or its parent was. */
export class ChildGone extends Error {}

type Refusal = Partial<Omit<Extract<WriteOutcome, { readonly ok: false }>, 'ok'>>;

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

  /** Something is being read, or waits for a retry. */
  get isUnderWay(): boolean {
    return this.blocked > 0;
  }

  close(): void {
    this.isClosed = true;
  }

  /** Counts `work` as under way until it is done; then the turn loop looks again. */
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

  /** Puts aside a run whose data is damaged or gone. Any other error may pass, and `again` is called a little later. */
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

  /**
   * The store refused a frame, because another engine wrote to the run: reads the journal and decides on the mail
   * again.
   */
  refused(run: LiveRun, outcome: Refusal = {}): void {
    this.context.meter.add('engine.conflicts');
    if (!run.isNew) {
      this.rewind(run);
      void this.reload(run);
      return;
    }
    this.drop(run);
    const { heldBy, isGone } = outcome;
    if (isGone === true) this.answerStarts(run, new ChildGone(`${run.executionId} was deleted`));
    else if (heldBy !== undefined) this.answerStarts(run, new StartTaken(heldBy));
    else void this.confirm(run);
  }

  /** `error`: undefined if the execution exists. */
  private answerStarts({ onCreated }: LiveRun, error: unknown): void {
    for (const done of onCreated.splice(0)) done(error);
  }

  /**
   * Confirms the start of an execution that exists already (a second start has no effect); otherwise the start fails.
   */
  private async confirm(run: LiveRun): Promise<void> {
    const { executionId } = run;
    let error: unknown;
    try {
      const isThere = (await this.context.store.execution(executionId)) !== undefined;
      if (!isThere) error = new NebulaError('NOT_STARTED', `${executionId} could not be created.`, { retryable: true });
    } catch (failure) {
      error = failure;
    }
    this.answerStarts(run, error);
  }

  /** Puts the mail of the draft back into the mailbox, and releases the attempts that it would have started. */
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
        // A message posted meanwhile may be newer than this inbox, so it is looked up in a newer one.
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

  /** Reconciles a run whose journal was read again: the store may have written a frame whose answer was lost. */
  private reconcile(run: LiveRun): void {
    // Attempts that only the journal, or only this process, knows.
    this.attempts.reconcile(run, (stimulus) => run.mailbox.push(stimulus));
    // Gated nodes repeat the requests of that frame.
    if (run.state.gated.size > 0) run.mailbox.push({ type: 'wake', lost: [], jitter: 1 });
    this.context.mailbox.touch(run);
  }

  /**
   * Folds the journal again if another engine that shares the store has written to the run. Returns false for a run
   * that is being drafted or read, which cannot be compared with the store. `head`: the newest seq in the store, if it
   * is known; `gone` if the store has no such run. Then another engine has ended and deleted it, and it leaves memory.
   */
  async catchUp(run: LiveRun, head?: number | 'gone'): Promise<boolean> {
    const { store } = this.context;
    if (store.exclusive) return true;
    if (isUnderWay(run)) return false;
    const newest = head ?? (await store.heads([run.executionId])).get(run.executionId) ?? 'gone';
    if (isUnderWay(run)) return false;
    if (newest === 'gone' || newest > run.state.seq) await this.reload(run);
    return true;
  }

  /** Like `catchUp`, with one query for all runs. */
  async catchUpAll(runs: readonly LiveRun[]): Promise<void> {
    const { store } = this.context;
    if (store.exclusive || runs.length === 0) return;
    const heads = await store.heads(runs.map(({ executionId }) => executionId));
    for (const run of runs) await this.catchUp(run, heads.get(run.executionId) ?? 'gone');
  }

  /** The store accepted nothing: drops the draft, keeps its mail, and writes again a little later. */
  putOff(run: LiveRun, error: unknown): void {
    if (run.isNew) {
      this.drop(run);
      this.answerStarts(run, error);
      this.later(run, () => void this.recoverAttempts(run));
      return;
    }
    this.rewind(run);
    run.read('pause');
    this.later(run, () => void this.reload(run));
  }

  /** A failed start may have been written nevertheless: then no engine runs the attempts that it began. */
  private async recoverAttempts(lost: LiveRun): Promise<void> {
    try {
      const run = await this.context.runs.load(lost.executionId);
      if (run === undefined) return;
      // The run was started again, or woken: the attempts that this draft begins are not lost.
      if (isUnderWay(run)) return this.later(lost, () => void this.recoverAttempts(lost));
      // The wake time is written anew, so that the waker learns of it.
      run.storedWakeAt = undefined;
      this.reconcile(run);
    } catch (error) {
      this.unreadable(lost, error, () => void this.recoverAttempts(lost));
    }
  }

  /** Drops the draft of the run, and the run from memory. */
  private drop(run: LiveRun): void {
    this.release(run);
    this.context.mailbox.drop(run);
    this.context.runs.forget(run);
  }

  putAside(run: LiveRun, error: unknown): void {
    this.drop(run);
    this.answerStarts(run, error);
    this.context.effects.fault(run.executionId, error);
  }
}

/**
 * A message that is gone from the inbox was journalled by a frame whose answer was lost: it must not be acted on again.
 */
function dropTaken(run: LiveRun, inbox: readonly InboxRow[]): void {
  if (run.messages.length === 0) return;
  const waiting = new Set(inbox.map(({ messageId }) => messageId));
  const done = new Set(run.messages.filter(({ messageId }) => !waiting.has(messageId)).map(({ stimulus }) => stimulus));
  run.messages = run.messages.filter(({ messageId }) => waiting.has(messageId));
  run.mailbox = run.mailbox.filter((stimulus) => !done.has(stimulus));
}

/** The run is new, drafted or read: its state differs from that of the store. */
function isUnderWay(run: LiveRun): boolean {
  return run.mode !== 'idle';
}
