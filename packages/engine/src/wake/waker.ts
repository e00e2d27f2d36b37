/**
 * Finds what is due: timers, backoff, time limits, lost workers, messages. One query, one timer.
 *
 *  W1 The timer is set to the earliest wake time that this process knows; writes of others and new wake times move it.
 *  W2 A claimed run is always posted a wake-up, and so always gets a new wake time.
 *  W3 One pass at a time; runs that do not fit into memory are left for the next one. Runs in memory need no room.
 *  W4 An engine that shares its store begins attempts only while its own lease is good: after that others may give them
 *     up (`engine-lease.ts`).
 *  W5 No message is posted from an inbox that is older than the state of the run: another engine may have journalled it
 *     in between. A state that is older than the inbox does no harm: the store refuses its next frame.
 */
import { type ExecutionId, NebulaError } from '@nebula/core';
import { nodeAt, openAttempts, type RunState, recallDispatched, type Stimulus } from '@nebula/core/run';
import { type InboxRow, pauseFor, type Timer } from '@nebula/ports';
import type { Attempts } from '../attempts/attempts.ts';
import type { Cache } from '../attempts/cache.ts';
import type { EngineContext } from '../context.ts';
import { RETRY_MS } from '../lifecycle.ts';
import type { Authority } from '../start/authority.ts';
import type { Plans } from '../start/plans.ts';
import type { Starts } from '../start/starts.ts';
import type { LiveRun, TakenMessage } from '../turn/live-run.ts';
import { type ChildEnded, type MigrationRequest, type ReceivedMessage, receivedMessage } from '../turn/messages.ts';
import type { Recovery } from '../turn/recovery.ts';
import { HEARTBEAT_MS, WORKER_PREFIX } from './engine-lease.ts';

/** A claimed run becomes due again after this time if its claimer dies. */
const CLAIM_MS = 30_000;
const CLAIM_BATCH = 256;
/** Pause before the next pass when memory is full of unfinished runs. */
const CROWDED_MS = 200;
/** How often runs with attempts here are compared with the store while other engines write. */
const CHECK_MS = 1_000;

export interface WakerParts {
  readonly attempts: Attempts;
  readonly recovery: Recovery;
  readonly starts: Starts;
  readonly cache: Cache;
  readonly authority: Authority;
  readonly plans: Plans;
  /** Unfinished runs that may be in memory at once. */
  readonly maxCachedRuns: number;
}

export class Waker {
  private readonly context: EngineContext;
  private readonly parts: WakerParts;
  private timer: Timer | undefined;
  private timerAt = Number.POSITIVE_INFINITY;
  private heartbeat: Timer | undefined;
  private inProgress: Promise<void> | undefined;
  private unwatch: (() => void) | undefined;
  private isOpen = false;
  private checkedAt = Number.NEGATIVE_INFINITY;

  constructor(context: EngineContext, parts: WakerParts) {
    this.context = context;
    this.parts = parts;
  }

  async open(): Promise<void> {
    const { store, clock, lease, workerId } = this.context;
    this.isOpen = true;
    await lease.extend();
    // With an exclusive store every other engine is dead; remote workers keep their leases.
    await store.reapWorkers(clock.now(), workerId, clock.now(), store.exclusive ? WORKER_PREFIX : undefined);
    this.unwatch = store.watch(() => this.wakeAt(clock.now()));
    this.beatLater(HEARTBEAT_MS);
    this.wakeAt(clock.now());
  }

  async close(): Promise<void> {
    this.isOpen = false;
    this.unwatch?.();
    this.timer?.cancel();
    this.heartbeat?.cancel();
    await this.inProgress;
  }

  /** Sets the timer for a run that is due at this time. */
  wakeAt(at: number): void {
    if (!this.isOpen || at >= this.timerAt) return;
    this.timer?.cancel();
    this.timerAt = at;
    const delayMs = Math.max(0, at - this.context.clock.now());
    // The timer keeps the process alive: it must not end while a run waits for its time.
    this.timer = this.context.clock.timer(delayMs, () => this.startPass());
  }

  private startPass(): void {
    this.timerAt = Number.POSITIVE_INFINITY;
    if (this.inProgress !== undefined) {
      // The pass under way may have queried the store already, so another one follows.
      void this.inProgress.then(() => this.wakeAt(this.context.clock.now()));
      return;
    }
    this.inProgress = this.claim()
      .catch((error: unknown) => {
        this.context.effects.trouble(error);
        this.wakeAt(this.context.clock.now() + RETRY_MS);
      })
      .finally(() => {
        this.inProgress = undefined;
      });
  }

  private async claim(): Promise<void> {
    const { store, clock, runs, selection, workerId, meter } = this.context;
    const now = clock.now();
    const room = Math.min(CLAIM_BATCH, this.parts.maxCachedRuns - runs.size);
    const isCrowded = room <= 0;
    const limit = isCrowded ? CLAIM_BATCH : room;
    const only = isCrowded ? runs.ids().filter((id) => selection.has(id)) : selection.list();
    const claim = await store.claimDue(now, now + CLAIM_MS, workerId, limit, only);
    const { executionIds, nextWakeAt, dueSince } = claim;
    if (dueSince !== null) meter.observe('engine.wake_late_ms', Math.max(0, clock.now() - dueSince));
    for (const executionId of executionIds) await this.tryWake(executionId, now + CLAIM_MS);
    if (!store.exclusive) await this.compareAttempts(now);
    if (isCrowded) this.wakeAt(now + CROWDED_MS);
    if (nextWakeAt !== null) this.wakeAt(nextWakeAt);
  }

  /** Compares runs with attempts here with the store: another engine may have journalled that an attempt must stop. */
  private async compareAttempts(now: number): Promise<void> {
    const { attempts, recovery } = this.parts;
    if (attempts.size === 0) return;
    if (now - this.checkedAt < CHECK_MS) return this.wakeAt(this.checkedAt + CHECK_MS);
    this.checkedAt = now;
    const ids = [...attempts.executionIds()];
    await recovery.catchUpAll(ids.flatMap((executionId) => this.context.runs.get(executionId) ?? []));
  }

  /**
   * Reports a fault for a run whose data is damaged or missing. Any other error may pass, and the run is tried again.
   */
  private async tryWake(executionId: ExecutionId, claimedUntil: number): Promise<void> {
    try {
      await this.wake(executionId, claimedUntil);
    } catch (error) {
      const { effects, clock } = this.context;
      if (error instanceof NebulaError && !error.retryable) return effects.fault(executionId, error);
      effects.trouble(error);
      clock.timer(RETRY_MS, () => {
        if (this.isOpen) void this.tryWake(executionId, claimedUntil);
      });
    }
  }

  private async wake(executionId: ExecutionId, claimedUntil: number): Promise<void> {
    const { runs, random, mailbox } = this.context;
    const loaded = await runs.loadWithInbox(executionId);
    if (loaded === undefined) return;
    const { run, inbox: read } = loaded;
    const { state, inbox: rows } = read === undefined ? await this.caughtUp(run) : { state: loaded.state, inbox: read };
    const inbox = await this.understood(run, state, rows);
    const gone = await this.goneWorkers(run);
    // Nothing is awaited from here on. A run that left memory meanwhile is loaded again, and so is one whose journal
    // was read again (W5).
    if (runs.get(executionId) !== run || run.state !== state) return this.wake(executionId, claimedUntil);
    run.isClaimed = true;
    run.claims++;
    run.storedWakeAt = claimedUntil;
    // A queue may have lost tasks; a second offer is harmless.
    recallDispatched(run.state);
    for (const { messageId, stimulus } of inbox) {
      // A message stays in the inbox until a frame has journalled it; it is posted once.
      if (run.receivedMessages.has(messageId)) continue;
      run.receivedMessages.add(messageId);
      run.messages.push({ messageId, stimulus });
      if (stimulus !== undefined) mailbox.post(run, stimulus);
    }
    mailbox.post(run, { type: 'wake', lost: this.lostAttempts(run, gone), jitter: random.fraction() });
  }

  /** Brings a run in memory up to date with its journal, and reads its inbox in the same round trip. */
  private async caughtUp(run: LiveRun): Promise<{ readonly state: RunState; readonly inbox: readonly InboxRow[] }> {
    const { store } = this.context;
    const { executionId, state } = run;
    if (store.exclusive) return { state, inbox: await store.inbox(executionId) };
    const news = await store.load(executionId, { after: state.seq });
    await this.parts.recovery.catchUp(run, news?.frames.at(-1)?.seq ?? 0);
    return run.state === state ? { state, inbox: news?.inbox ?? [] } : this.caughtUp(run);
  }

  /** The stimuli of the messages, completed with data from the store. */
  private async understood(run: LiveRun, state: RunState, inbox: readonly InboxRow[]): Promise<TakenMessage[]> {
    const messages: TakenMessage[] = [];
    for (const { messageId, body } of inbox) {
      await pauseFor(body.length, this.context.clock);
      const stimulus = await this.stimulusOf(run, receivedMessage(body));
      // The start comes before the message is taken: if this process dies in between, the start is not lost.
      if (stimulus?.type === 'restart' && hasBegun(run, state) && !run.receivedMessages.has(messageId)) {
        await this.parts.starts.anew(run, messageId, stimulus.input);
        messages.push({ messageId, stimulus: undefined });
        continue;
      }
      messages.push({ messageId, stimulus });
    }
    return messages;
  }

  private async stimulusOf(run: LiveRun, message: ReceivedMessage | undefined): Promise<Stimulus | undefined> {
    if (message?.type === 'child') return this.broughtHere(message);
    return message?.type === 'migrate' ? this.withPlan(run, message) : this.lookedUp(run, message);
  }

  /** Adds the plan of the version. A request whose version cannot run here any more is dropped. */
  private async withPlan(run: LiveRun, { version, ...rest }: MigrationRequest): Promise<Stimulus | undefined> {
    try {
      return { ...rest, plan: await this.parts.plans.get(run.plan.workflowId, version) };
    } catch (error) {
      if (!(error instanceof NebulaError) || error.retryable) throw error;
      this.context.effects.trouble(error);
      return undefined;
    }
  }

  /**
   * Reads the output of a child, which the parent stores as its own. A child that was deleted before counts as failed.
   */
  private async broughtHere(message: ChildEnded): Promise<Stimulus> {
    const { executionId, result } = message;
    try {
      const output = await this.context.values.read(executionId, result.output);
      return { ...message, result: { ...result, output }, jitter: 1 };
    } catch (error) {
      if (!(error instanceof NebulaError) || error.code !== 'BLOB_MISSING') throw error;
      const failure = { code: error.code, kind: 'USER', message: error.message } as const;
      return { ...message, result: { status: 'failed', output: null, error: failure }, jitter: 1 };
    }
  }

  /**
   * Adds the current ceiling to a request that reopens the run. For a node that waited for another run to compute an
   * output, looks into the cache first.
   */
  private async lookedUp(
    run: LiveRun,
    stimulus: Exclude<ReceivedMessage, ChildEnded | MigrationRequest> | undefined,
  ): Promise<Stimulus | undefined> {
    if (stimulus?.type === 'retry' || stimulus?.type === 'replay') {
      const ceiling = await this.parts.authority.ceilingOf(run.project);
      return ceiling === undefined ? stimulus : { ...stimulus, ceiling };
    }
    if (stimulus?.type !== 'granted' || stimulus.gate !== 'reserve') return stimulus;
    const node = nodeAt(run.state, stimulus.node);
    if (node === undefined) return stimulus;
    const lookup = await this.parts.cache.lookUp(run, node);
    return 'hit' in lookup ? { type: 'cached', node: stimulus.node, ...lookup } : stimulus;
  }

  private async goneWorkers(run: LiveRun): Promise<ReadonlySet<string>> {
    const { store, clock, workerId } = this.context;
    const foreign = new Set(openAttempts(run.state).map(({ worker }) => worker));
    foreign.delete(workerId);
    if (foreign.size === 0) return foreign;
    for (const live of await store.liveWorkers([...foreign], clock.now())) foreign.delete(live);
    return foreign;
  }

  private lostAttempts(run: LiveRun, gone: ReadonlySet<string>): Extract<Stimulus, { type: 'wake' }>['lost'] {
    const { workerId } = this.context;
    const { attempts } = this.parts;
    const drafted = new Set(run.draft?.starting.map(({ attempt }) => `${attempt.node}:${attempt.attempt}`));
    return openAttempts(run.state).filter(({ worker, node, attempt }) => {
      if (drafted.has(`${node}:${attempt}`)) return false;
      return worker === workerId ? !attempts.has(run.executionId, node, attempt) : gone.has(worker);
    });
  }

  private beatLater(delayMs: number): void {
    this.heartbeat = this.context.clock.timer(delayMs, () => void this.beat(), { background: true });
  }

  private async beat(): Promise<void> {
    const { store, clock, lease, mailbox, runs, effects, workerId } = this.context;
    let nextMs = HEARTBEAT_MS;
    try {
      await lease.extend();
      // A turn that began no attempts for lack of a lease may begin them now.
      mailbox.kick();
      await store.reapWorkers(clock.now(), workerId, clock.now());
      // Another engine claimed these runs long ago, and works on them or has ended them.
      await this.parts.recovery.catchUpAll(runs.dueBefore(clock.now() - CLAIM_MS));
    } catch (error) {
      effects.trouble(error);
      nextMs = RETRY_MS;
    }
    if (!this.isOpen) return;
    this.beatLater(nextMs);
    // Hints may be lost: this pass finds runs that no hint named.
    this.wakeAt(clock.now());
  }
}

/**
 * True once the store knows that the delayed run has begun. Until then the run has the start key in the store, and a
 * start in its name would come back as a message to itself: the turn leaves such a message in the inbox.
 */
function hasBegun(run: LiveRun, { delayedUntil }: RunState): boolean {
  return delayedUntil === null && run.draft === null;
}
