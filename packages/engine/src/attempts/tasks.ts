/**
 * The queue between the ready nodes of runs and the slots of this process.
 *
 *  K1 A task is a hint: `startAttempt` checks the state whether the node may start.
 *  K2 For a task of a run that is not in memory, or of an attempt that this process does not know yet, the journal is
 *     read and the task is offered again.
 */

import { NebulaError } from '@nebula/core';
import { type Attempt, blobsToStart, HERE, nextReady, nodeAt, recallDispatched, startAttempt } from '@nebula/core/run';
import type { Delivery } from '@nebula/ports';
import type { EngineContext } from '../context.ts';
import type { Claim, Draft, LiveRun } from '../turn/live-run.ts';
import { RETRY_MIN_MS, type Recovery } from '../turn/recovery.ts';
import type { Attempts } from './attempts.ts';

/** Pause before a task whose run is being read is offered again. */
const BUSY_MS = 5;

/** `isFresh`: its run was just read from the store. `claim`: a remote worker takes the task. */
interface Offer {
  readonly delivery: Delivery;
  readonly isFresh: boolean;
  readonly claim?: Claim | undefined;
}

export class Tasks {
  private readonly context: EngineContext;
  private readonly attempts: Attempts;
  private readonly recovery: Recovery;
  private readonly offers: Offer[] = [];
  /** Tasks that remote workers claimed: they take no slot of this process. */
  private readonly claimed: Offer[] = [];
  /** Tasks of runs that other engines may have written to. */
  private readonly ahead: { readonly offer: Offer; readonly run: LiveRun }[] = [];

  constructor(context: EngineContext, attempts: Attempts, recovery: Recovery) {
    this.context = context;
    this.attempts = attempts;
    this.recovery = recovery;
  }

  enqueueReady(run: LiveRun): void {
    const { queue, concurrency, effects } = this.context;
    const { executionId, state } = run;
    // A shared queue serves other processes too, so the slots of this one are no limit there.
    const ready = nextReady(state, queue.local ? concurrency : Number.POSITIVE_INFINITY);
    if (ready.length === 0) return;
    const tasks = ready.map((task) => ({
      ...task,
      route: routeIn(run.project, task.route),
      executionId,
      taskId: `${executionId}:${task.node}:${task.attempt}`,
    }));
    // Tasks that the queue did not accept are offered again when the run resyncs.
    queue.enqueue(tasks)?.catch((error: unknown) => effects.trouble(error));
  }

  /**
   * Fills free slots from the queue, so that priority and limits hold over all runs; then starts claimed tasks. Offers
   * left at the end of the slice wait for the next turn.
   */
  startReady(drafted: Set<LiveRun>, now: number, mustPause: () => boolean): void {
    for (let free = this.attempts.free(); free > 0; free = this.attempts.free()) {
      const waited = this.offers.splice(0, free);
      const fresh = waited.length < free ? this.context.queue.poll(free - waited.length) : [];
      const offers = [...waited, ...fresh.map((delivery) => ({ delivery, isFresh: false }))];
      if (offers.length === 0 || !this.startSome(offers, drafted, now, mustPause)) break;
    }
    this.startSome(this.claimed.splice(0), drafted, now, mustPause);
  }

  /** Starts at least one offer. Returns false if some are left. */
  private startSome(offers: readonly Offer[], drafted: Set<LiveRun>, now: number, mustPause: () => boolean): boolean {
    for (const [index, offer] of offers.entries()) {
      this.start(offer, drafted, now, mustPause);
      if (index + 1 === offers.length || !mustPause()) continue;
      for (const left of offers.slice(index + 1)) this.offerAgain(left);
      this.context.mailbox.kick();
      return false;
    }
    return true;
  }

  /** A remote worker has taken the task from the queue: the next turn starts the attempt, or refuses the claim. */
  claim(delivery: Delivery, claim: Claim): void {
    this.claimed.push({ delivery, claim, isFresh: false });
    this.context.mailbox.kick();
  }

  /** The engine begins no attempts: claimed tasks go back to the queue. */
  refuseClaimed(): void {
    for (const { delivery, claim } of this.claimed.splice(0)) {
      this.context.queue.nack(delivery, 0);
      claim?.refused();
    }
  }

  private offerAgain(offer: Offer): void {
    (offer.claim === undefined ? this.offers : this.claimed).push(offer);
  }

  private start(offer: Offer, drafted: Set<LiveRun>, now: number, mustPause: () => boolean): void {
    const { delivery, claim } = offer;
    const { queue, runs, values, workerId } = this.context;
    const { executionId, node, attempt: number } = delivery.task;
    const run = runs.get(executionId);
    if (run === undefined) {
      // In a local queue the task is left over from a run that left memory; in a shared one it may come from another
      // engine.
      if (queue.local) this.drop(offer);
      else void this.read(offer);
      return;
    }
    if (run.mode === 'reading' || run.isSuspended) {
      queue.nack(delivery, BUSY_MS);
      claim?.refused();
      return;
    }
    const missing = run.state.spilled > 0 ? values.missing(blobsToStart(run.state, node)) : [];
    if (missing.length > 0) {
      this.recovery.fetch(run, missing, () => this.offerAgain(offer));
      return;
    }
    try {
      const draft = run.draftAt(now, this.context);
      draft.turn.mustPause = mustPause;
      drafted.add(run);
      const attempt =
        startAttempt(draft.turn, node, number, claim?.worker ?? workerId) ?? this.takeAnyway(draft, offer);
      if (attempt === undefined) {
        if (this.mayBeBehind(run, offer)) this.ahead.push({ offer, run });
        else this.drop(offer);
        if (queue.local) this.enqueueReady(run);
        return;
      }
      if (claim === undefined) this.attempts.reserve();
      draft.starting.push({ attempt, delivery, claim });
    } catch (error) {
      this.drop(offer);
      drafted.delete(run);
      this.recovery.undecided(run, error);
    }
  }

  private drop({ delivery, claim }: Offer): void {
    this.context.queue.ack(delivery);
    claim?.refused();
  }

  /**
   * Tasks that this process put into the shared queue may be lost there: they must not take a slot from one that
   * arrived.
   */
  private takeAnyway({ turn }: Draft, { delivery, isFresh, claim }: Offer): Attempt | undefined {
    if (!isFresh || turn.state.dispatched === 0) return undefined;
    recallDispatched(turn.state);
    return startAttempt(turn, delivery.task.node, delivery.task.attempt, claim?.worker ?? this.context.workerId);
  }

  /** The task is of an attempt that this process does not know yet: another engine has written to the run. */
  private mayBeBehind(run: LiveRun, { delivery, isFresh }: Offer): boolean {
    const { queue, store } = this.context;
    if (queue.local || store.exclusive || isFresh) return false;
    const { node, attempt } = delivery.task;
    return attempt > (nodeAt(run.state, node)?.attempts ?? 0);
  }

  /** The turn has no drafts any more: the state of a run can be compared with the store. */
  turnOver(): void {
    for (const { offer, run } of this.ahead.splice(0)) void this.read(offer, run);
  }

  /** Reads a run for one of its tasks, and offers the task again. */
  private read(offer: Offer, live?: LiveRun): Promise<void> {
    const { delivery, claim } = offer;
    const { queue, runs, effects } = this.context;
    return this.recovery.whileReading(async () => {
      try {
        const isFresh = live === undefined || (await this.recovery.catchUp(live));
        const run = await runs.load(delivery.task.executionId);
        if (run === undefined) this.drop(offer);
        else this.offerAgain({ delivery, claim, isFresh });
      } catch (error) {
        effects.trouble(error);
        // Damaged data stays damaged; the wake-up of the run reports it.
        if (error instanceof NebulaError && !error.retryable) return this.drop(offer);
        queue.nack(delivery, RETRY_MIN_MS);
        claim?.refused();
      }
    });
  }
}

/** Routes are per project, because workers serve projects. Names of projects have no blanks. */
function routeIn(project: string, route: string): string {
  return route === HERE ? HERE : `${project} ${route}`;
}
