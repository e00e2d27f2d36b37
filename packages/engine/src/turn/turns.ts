/**
 * The turn loop: the only place that appends frames.
 *
 *   mail of all runs ─▶ decide ─▶ queue ─▶ start ─▶ seal ─▶ one append for all runs ─▶ carry out
 *
 * The loop waits in one place: the append. While it is under way mail gathers for the next turn, so a slow disk makes
 * larger batches, not longer queues.
 *
 *  T1 One turn at a time; a run has at most one draft.
 *  T2 Nothing is carried out before the frame that says so is durable.
 *  T3 A refused frame costs its run a reload, and no other run anything; its mail is decided on again.
 *  T4 A fault while deciding on one run puts that run aside and leaves the others alone.
 *  T5 A run whose frame the store did not take writes alone until one is taken: it holds up no other run.
 *  T6 No input keeps the event loop: a turn decides for one slice. A run that needs longer is suspended between two steps
 *     and goes on in the next turns; nothing of it is written before it is done.
 *
 * `tasks.ts` fills the slots; `recovery.ts` takes over a run that could not be written or read.
 */
import {
  completeTurn,
  countFrame,
  decide,
  gateRequestId,
  HERE,
  hasEndChecks,
  hasPayload,
  nodeAt,
  type RunState,
  resumeTurn,
  type Stimulus,
  seal,
  stepsBefore,
} from '@nebula/core/run';
import { inSlices, isLongWorkWaiting, oneSlice, pause, type Write, type WriteOutcome } from '@nebula/ports';
import type { Attempts } from '../attempts/attempts.ts';
import { type Cache, cacheBlobs } from '../attempts/cache.ts';
import type { Tasks } from '../attempts/tasks.ts';
import type { EngineContext } from '../context.ts';
import type { NewBlobs } from '../storage/values.ts';
import type { Draft, LiveRun } from './live-run.ts';
import type { Recovery } from './recovery.ts';
import { type WriteParts, writeOf } from './write.ts';

/** After this many failures in one turn the store is in trouble, not a run. */
const MAX_FAILURES_PER_TURN = 2;

export interface TurnsParts {
  readonly attempts: Attempts;
  readonly recovery: Recovery;
  readonly tasks: Tasks;
  readonly cache: Cache;
  /** How long finished runs are kept if their workflow does not say; null keeps them for ever. */
  readonly retentionMs: number | null;
  /** How long the decisions of one turn may take before other work runs. */
  readonly sliceMs: number;
}

interface Sealed {
  readonly run: LiveRun;
  readonly write: Write;
}

export class Turns {
  private readonly context: EngineContext;
  private readonly parts: TurnsParts;
  private readonly writing: WriteParts;
  private mode: 'idle' | 'scheduled' | 'turning' = 'idle';
  /** A task or slot became available during a turn, perhaps too late for it. */
  private isWanted = false;
  private isClosed = false;
  private takesWork = false;
  private idleWaiters: (() => void)[] = [];
  /** Runs whose turn took longer than a slice, in the order in which they continue. */
  private readonly suspended = new Set<LiveRun>();
  private sliceBegunAt = 0;
  /** The last decisions took a whole slice: the next ones wait for their own turn of the event loop. */
  private wasLong = false;
  /** Stimuli whose graph has been compiled. */
  private readonly prepared = new WeakSet<Stimulus>();
  /** Pins of blobs copied in this turn, released once the frame that names them is written. */
  private readonly pins: (() => void)[] = [];

  constructor(context: EngineContext, parts: TurnsParts) {
    this.context = context;
    this.parts = parts;
    this.writing = { ...context, retentionMs: parts.retentionMs };
    context.mailbox.onWork(() => this.kick());
    context.queue.onAvailable((routes) => {
      if (routes.includes(HERE)) this.kick();
    });
  }

  /** Starts ready nodes from now on. */
  openForWork(): void {
    this.takesWork = true;
    this.kick();
  }

  stopTakingWork(): void {
    this.takesWork = false;
    this.parts.tasks.refuseClaimed();
  }

  /** No turn begins after this. */
  close(): void {
    this.isClosed = true;
    this.parts.recovery.close();
  }

  private kick(): void {
    this.isWanted = true;
    if (this.mode !== 'idle' || this.isClosed) return;
    this.mode = 'scheduled';
    const { clock } = this.context;
    if (this.wasLong || isLongWorkWaiting(clock)) void pause(clock, 'turn').then(() => this.turn());
    else clock.soon(() => void this.turn());
  }

  /** Resolves when no mail is left, or after the given time: a store in trouble accepts nothing. */
  async idle(withinMs: number): Promise<void> {
    if (this.isClosed || (this.mode === 'idle' && this.context.mailbox.isEmpty && !this.isBusy)) return;
    await new Promise<void>((resolve) => {
      const timer = this.context.clock.timer(withinMs, resolve);
      this.idleWaiters.push(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  /**
   * Decides for one slice: continues one suspended turn, then decides on mail. Mail that is left waits for the next
   * turn.
   */
  private async turn(): Promise<void> {
    if (this.isClosed) return;
    this.mode = 'turning';
    this.isWanted = false;
    const { clock, lease, mailbox } = this.context;
    const { tasks } = this.parts;
    const now = clock.now();
    const drafted = new Set<LiveRun>();
    try {
      this.sliceBegunAt = now;
      const [first] = this.suspended;
      if (first !== undefined) {
        this.suspended.delete(first);
        if (first.isSuspended && this.decideOn(first, now)) drafted.add(first);
      }
      let isLeft = false;
      for (const run of mailbox.take()) {
        // A draft that was just completed is written first: mail that came meanwhile may have to be prepared or fetched.
        if (isLeft || run === first) mailbox.touch(run);
        else if (!run.isSuspended && this.decideOn(run, now)) drafted.add(run);
        isLeft ||= this.mustPause();
      }
      // A decision and the start of an attempt may each store a large value: 25 ms for 99,000 items.
      this.wasLong = this.mustPause();
      if (this.wasLong) await pause(clock, 'turn');
      this.sliceBegunAt = clock.now();
      if (!this.takesWork) tasks.refuseClaimed();
      else if (lease.isGood()) tasks.startReady(drafted, now, this.mustPause);
      for (const run of drafted) if (run.isSuspended) this.suspend(run, drafted);
      await this.write(drafted);
    } catch (error) {
      this.context.effects.trouble(error);
    } finally {
      for (const unpin of this.pins.splice(0)) unpin();
      this.mode = 'idle';
      tasks.turnOver();
      if (!mailbox.isEmpty || this.isWanted || this.suspended.size > 0) this.kick();
      else this.notifyIdle();
    }
  }

  private notifyIdle(): void {
    if (this.mode !== 'idle' || this.isBusy) return;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  private get isBusy(): boolean {
    return this.parts.recovery.isUnderWay || this.suspended.size > 0;
  }

  private readonly mustPause = (): boolean =>
    Math.abs(this.context.clock.now() - this.sliceBegunAt) >= this.parts.sliceMs;

  /** Suspends a turn until the other runs had theirs; nothing of it is written before. */
  private suspend(run: LiveRun, drafted?: Set<LiveRun>): void {
    drafted?.delete(run);
    this.suspended.add(run);
  }

  /** Appends the frames of all drafts, and carries them out. */
  private async write(drafted: Iterable<LiveRun>): Promise<void> {
    // The attempts that begin with these frames copy their inputs, which takes time as well.
    if (this.mustPause()) await pause(this.context.clock, 'turn');
    for (const run of drafted) {
      if (run.draft !== null && run.draft.blobs.length > 0) await this.storeBlobs(run, run.draft.blobs);
      if (run.state.spilled > 0) await this.keepForOthers(run);
    }
    const together: Sealed[] = [];
    const alone: Sealed[] = [];
    for (const run of drafted) {
      const write = this.sealed(run);
      if (write !== undefined) (run.refusals === 0 ? together : alone).push({ run, write });
    }
    // New blobs of a suspended draft are only in the cache.
    if (!this.parts.recovery.isUnderWay && this.suspended.size === 0) this.context.values.trim();
    if (together.length > 0) await this.append(together);
    let failures = 0;
    for (const sealed of alone) {
      if (failures === MAX_FAILURES_PER_TURN) this.parts.recovery.putOff(sealed.run, undefined);
      else if (!(await this.append([sealed]))) failures++;
    }
  }

  /** Returns false if the store accepted nothing. */
  private async append(frames: readonly Sealed[]): Promise<boolean> {
    const { clock, effects, meter, store } = this.context;
    const begunAt = clock.now();
    let outcomes: readonly WriteOutcome[];
    try {
      outcomes = await store.append(frames.map(({ write }) => write));
      meter.observe('engine.commit_ms', Math.max(0, clock.now() - begunAt));
      effects.written();
    } catch (error) {
      effects.trouble(error);
      for (const { run } of frames) this.parts.recovery.putOff(run, error);
      return false;
    }
    for (const [index, { run, write }] of frames.entries()) {
      run.refusals = 0;
      try {
        const outcome = outcomes[index];
        if (outcome?.ok) this.carryOut(run, write, outcome.rates ?? []);
        else this.parts.recovery.refused(run, outcome);
      } catch (error) {
        this.parts.recovery.putAside(run, error);
      }
    }
    return true;
  }

  /** Decides on the mail of a run, or goes on with its suspended turn. Returns false if there is nothing to write yet. */
  private decideOn(run: LiveRun, now: number): boolean {
    try {
      const draft = run.isSuspended ? run.draft : this.drafted(run, now);
      if (draft === null) return false;
      const { turn, stimuli } = draft;
      if (turn.isSuspended) resumeTurn(turn);
      while (!turn.isSuspended && draft.decided < stimuli.length) {
        const stimulus = stimuli[draft.decided++] as Stimulus;
        if (isTooLate(run.state, stimulus)) draft.late.push(stimulus);
        else if (!decide(turn, stimulus)) draft.refused.push(stimulus);
      }
      if (turn.isSuspended) {
        this.suspend(run);
        return false;
      }
      if (this.context.queue.local) this.parts.tasks.enqueueReady(run);
    } catch (error) {
      this.parts.recovery.undecided(run, error);
      return false;
    }
    // Mail may have arrived while the turn was suspended.
    if (run.mailbox.length > 0) this.context.mailbox.touch(run);
    return true;
  }

  /** Moves the mail of a run into its draft. Returns null if something must be read first. */
  private drafted(run: LiveRun, now: number): Draft | null {
    if (run.mode === 'reading') return null;
    const { state, mailbox } = run;
    // The checkpoint is journalled with the next stimulus: a snapshot alone is not worth a frame.
    if (run.checkpoint !== null && mailbox.length > 0) {
      mailbox.unshift({ type: 'checkpointed', seq: run.checkpoint });
      run.checkpoint = null;
    }
    if (state.spilled > 0 && this.parts.recovery.mustFetch(run)) return null;
    if ((run.plan.draws || mailbox.some(hasPayload)) && this.mustPrepare(run)) return null;
    const draft = run.draftAt(now, this.context);
    draft.turn.mustPause = this.mustPause;
    run.mailbox = [];
    for (const message of run.messages) draft.messages.push(message);
    run.messages = [];
    // The draft keeps all stimuli before any is decided on: a second decision must not miss one.
    for (const stimulus of mailbox) draft.stimuli.push(stimulus);
    if (mailbox.length === 0 && hasEndChecks(state)) completeTurn(draft.turn);
    return draft;
  }

  /**
   * Compiles the graph that a node returned, or checks the payload that arrived for a node, in slices, before the
   * decision; each stimulus waits once.
   */
  private mustPrepare(run: LiveRun): boolean {
    for (const stimulus of run.mailbox) {
      if (this.prepared.has(stimulus)) continue;
      const steps = stepsBefore(run.state, stimulus, this.context.values.lookup);
      if (steps === undefined) continue;
      this.prepared.add(stimulus);
      if (oneSlice(steps, this.context.clock) !== undefined) continue;
      run.read('graph');
      const prepare = async (): Promise<void> => {
        await inSlices(steps, this.context.clock);
        run.ready();
        this.context.mailbox.touch(run);
      };
      this.parts.recovery.whileReading(prepare).catch((error: unknown) => this.parts.recovery.putAside(run, error));
      return true;
    }
    return false;
  }

  /** Blobs are stored before the frame that names them. */
  private async storeBlobs(run: LiveRun, blobs: NewBlobs): Promise<void> {
    try {
      await this.context.values.put(run.executionId, blobs);
    } catch (error) {
      this.context.effects.trouble(error);
      this.parts.recovery.putOff(run, error);
    }
  }

  /**
   * Copies large outputs for the cache, because they outlive this run. Without the copy a later run computes them
   * again.
   */
  private async keepForOthers(run: LiveRun): Promise<void> {
    if (run.draft === null) return;
    for (const {
      miss: { key },
      output: { blob },
    } of run.draft.turn.cacheFills) {
      if (blob === undefined) continue;
      const name = cacheBlobs(key);
      this.pins.push(this.context.blobPins.pin(name));
      await this.context.values.copy(run.executionId, name, blob).catch((error) => this.context.effects.trouble(error));
    }
  }

  /** The draft as a write; undefined if it changes nothing. */
  private sealed(run: LiveRun): Write | undefined {
    try {
      const { draft } = run;
      if (draft === null) return undefined;
      const { turn } = draft;
      seal(turn);
      const durations = this.context.durations.learn(run, turn.entries, turn.now);
      const write = writeOf(run, draft, this.writing, durations);
      if (write !== undefined) return write;
      run.draftDone();
      // A node that asks the cache again was journalled as gated earlier.
      this.answer(run, turn, []);
      if (!this.context.queue.local) this.parts.tasks.enqueueReady(run);
      this.context.effects.decided(run, draft, false);
      return undefined;
    } catch (error) {
      this.parts.recovery.putAside(run, error);
      return undefined;
    }
  }

  private carryOut(run: LiveRun, write: Write, rates: readonly number[]): void {
    const draft = run.draft as Draft;
    const { turn } = draft;
    const { effects, lease, mailbox, queue } = this.context;
    const { attempts, tasks } = this.parts;
    run.draftDone();
    if (write.frame !== undefined) {
      countFrame(run.state, write.frame.seq);
      run.journalBytes += write.frame.entries.length;
      this.context.meter.add('engine.frames');
    }
    run.lastAt = turn.now;
    for (const { node, messageId } of write.permits?.requests ?? []) {
      if (node !== '') run.requestedPermits.add(messageId);
    }
    if (draft.late.length > 0) {
      const late = new Set<Stimulus | undefined>(draft.late);
      for (const { messageId, stimulus } of draft.messages) {
        if (late.has(stimulus)) run.receivedMessages.delete(messageId);
      }
    }
    if (write.wakeAt !== undefined) {
      // A claim during the append may have been stored before or after the frame.
      if (draft.claims === run.claims) {
        run.storedWakeAt = write.wakeAt;
        run.isClaimed = false;
      }
      if (write.wakeAt !== null) effects.wake(write.wakeAt);
    }
    // Runs that the frame sent a message to, or granted a permit, are due now.
    if ((write.sends ?? write.permits ?? write.subscriptions) !== undefined) effects.wake(turn.now);
    this.answer(run, turn, rates);
    // A long loop that needs no worker continues in the next turn, after the other runs had theirs.
    if (hasEndChecks(run.state)) mailbox.touch(run);
    // The lease may have expired, or the engine been closed, during the append: then no attempt begins.
    const mayBegin = draft.starting.length === 0 || (this.takesWork && lease.isGood());
    for (const { attempt, delivery, claim } of draft.starting) {
      if (claim !== undefined) {
        queue.ack(delivery);
        claim.granted({ run, attempt, at: turn.now });
      } else if (mayBegin) attempts.begin(run, attempt, delivery, turn.now);
      else attempts.giveBack(run, attempt, delivery);
    }
    for (const abort of turn.aborts) attempts.abort(run.executionId, abort);
    if (turn.aborts.some(({ isOver }) => isOver)) this.kick();
    if (!queue.local) tasks.enqueueReady(run);
    effects.decided(run, draft, true);
  }

  /** Answers the gates that this process answers: the cache and rates. */
  private answer(run: LiveRun, { gateRequests }: Draft['turn'], rates: readonly number[]): void {
    const moments = [...rates];
    for (const { node, gate } of gateRequests) {
      if (gate.kind === 'cache') this.parts.cache.ask(run, node);
      if (gate.kind !== 'rate') continue;
      const until = moments.shift() ?? run.lastAt;
      const asking = nodeAt(run.state, node);
      // The node may begin anew before the grant is decided on, and request another moment.
      if (asking !== undefined) {
        const ask = gateRequestId(run.state, asking);
        this.context.mailbox.post(run, { type: 'granted', node, gate: 'rate', ask, until });
      }
    }
  }
}

/** A debounced start that arrives after the run has begun or ended is the start of another run. */
function isTooLate({ delayedUntil, phase: { status } }: RunState, { type }: Stimulus): boolean {
  return type === 'restart' && delayedUntil === null && status !== 'pending';
}
