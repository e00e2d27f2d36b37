/**
 * Between the ready nodes of runs and the slots of this process stands the queue.
 *
 *  K1 A task is a hint: `take` asks the state whether the node may start.
 *  K2 A task may name a run that is not here, or more than is known here: the journal is read, and it is offered again.
 */
import { type Attempt, blobsToStart, NebulaError, nextReady, nodeAt, recallDispatched, take } from '@nebula/core';
import type { Clock, Delivery, Queue, Store } from '@nebula/ports';
import type { Attempts } from './attempts.ts';
import { routeIn } from './claims.ts';
import type { Claim, Draft, LiveRun } from './live-run.ts';

import { RETRY_MIN_MS, type Recovery } from './recovery.ts';
import type { Runs } from './runs.ts';
import type { Values } from './values.ts';

/** How soon to offer a task again whose run is being read. */
const BUSY_MS = 5;

export interface TasksParts {
  readonly store: Store;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly runs: Runs;
  readonly values: Values;
  readonly attempts: Attempts;
  readonly recovery: Recovery;
  readonly workerId: string;
  readonly concurrency: number;
  draftOf(run: LiveRun, now: number): Draft;
  onTrouble(error: unknown): void;
}

/** `isFresh`: it waited for its run to be read, and nothing newer is known of that. `claim`: for a worker outside. */
interface Offer {
  readonly delivery: Delivery;
  readonly isFresh: boolean;
  readonly claim?: Claim | undefined;
}

export class Tasks {
  private readonly parts: TasksParts;
  private readonly offers: Offer[] = [];
  /** For workers outside: they take no slot of this process. */
  private claimed: Offer[] = [];

  constructor(parts: TasksParts) {
    this.parts = parts;
  }

  enqueueReady(run: LiveRun): void {
    const { executionId, state } = run;
    // What this process can run at once says nothing about the others that a shared queue serves.
    const ready = nextReady(state, this.parts.queue.local ? this.parts.concurrency : Number.POSITIVE_INFINITY);
    if (ready.length === 0) return;
    const tasks = ready.map((task) => ({
      ...task,
      route: routeIn(run.project, task.route),
      executionId,
      taskId: `${executionId}:${task.node}:${task.attempt}`,
    }));
    // What the queue did not take is offered again when the run resyncs.
    this.parts.queue.enqueue(tasks)?.catch((error: unknown) => this.parts.onTrouble(error));
  }

  /** Fills free slots from the queue, so that priority and limits hold over all runs. */
  startReady(drafted: Set<LiveRun>, now: number): void {
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

  /** A worker outside has taken it from the queue. */
  claim(delivery: Delivery, claim: Claim): void {
    this.claimed.push({ delivery, claim, isFresh: false });
  }

  startClaimed(drafted: Set<LiveRun>, now: number): void {
    const claimed = this.claimed;
    this.claimed = [];
    for (const offer of claimed) this.start(offer, drafted, now);
  }

  /** Nothing is begun any more. */
  refuseClaimed(): void {
    for (const { delivery, claim } of this.claimed.splice(0)) {
      this.parts.queue.nack(delivery, 0);
      claim?.refused();
    }
  }

  private offerAgain(offer: Offer): void {
    (offer.claim === undefined ? this.offers : this.claimed).push(offer);
  }

  private start(offer: Offer, drafted: Set<LiveRun>, now: number): void {
    const { delivery, claim } = offer;
    const { queue, runs, values, attempts, workerId } = this.parts;
    const { executionId, node, attempt: number } = delivery.task;
    const run = runs.get(executionId);
    if (run === undefined) {
      // Our own queue has it left over from a run that is gone from here. From one that others fill, too, it is work.
      if (queue.local) this.drop(offer);
      else void this.read(offer);
      return;
    }
    if (run.isBusy) {
      queue.nack(delivery, BUSY_MS);
      claim?.refused();
      return;
    }
    const missing = run.state.spilled > 0 ? values.missing(blobsToStart(run.state, node)) : [];
    if (missing.length > 0) {
      this.parts.recovery.fetch(run, missing, () => this.offerAgain(offer));
      return;
    }
    try {
      const draft = this.parts.draftOf(run, now);
      drafted.add(run);
      const attempt = take(draft.turn, node, number, claim?.worker ?? workerId) ?? this.takeAnyway(draft, offer);
      if (attempt === undefined) {
        if (this.mayBeBehind(run, offer)) void this.read(offer, run);
        else this.drop(offer);
        if (queue.local) this.enqueueReady(run);
        return;
      }
      if (claim === undefined) attempts.reserve();
      draft.starting.push({ attempt, delivery, claim });
    } catch (error) {
      this.drop(offer);
      drafted.delete(run);
      this.parts.recovery.undecided(run, error);
    }
  }

  private drop({ delivery, claim }: Offer): void {
    this.parts.queue.ack(delivery);
    claim?.refused();
  }

  /** What this process once handed to the shared queue may be lost there: it does not stand in the way of what is not. */
  private takeAnyway({ turn }: Draft, { delivery, isFresh, claim }: Offer): Attempt | undefined {
    if (!isFresh || turn.state.dispatched === 0) return undefined;
    recallDispatched(turn.state);
    return take(turn, delivery.task.node, delivery.task.attempt, claim?.worker ?? this.parts.workerId);
  }

  /** A task of an attempt that this process does not know of yet: another engine has written to the run since. */
  private mayBeBehind(run: LiveRun, { delivery, isFresh }: Offer): boolean {
    const { queue, store } = this.parts;
    if (queue.local || store.exclusive || isFresh) return false;
    const { node, attempt } = delivery.task;
    return attempt > (nodeAt(run.state, node)?.attempts ?? 0);
  }

  /** Reads a run for one of its tasks, and offers the task again. */
  private read(offer: Offer, live?: LiveRun): Promise<void> {
    const { delivery, claim } = offer;
    const { queue, runs, clock, recovery, onTrouble } = this.parts;
    return recovery.whileReading(async () => {
      try {
        // The turn has a draft of it: once that is written there is something to compare.
        if (live !== undefined) await new Promise<void>((resolve) => clock.soon(resolve));
        const isFresh = live === undefined || (await recovery.catchUp(live));
        const run = await runs.load(delivery.task.executionId);
        if (run === undefined) this.drop(offer);
        else this.offerAgain({ delivery, claim, isFresh });
      } catch (error) {
        onTrouble(error);
        // What is damaged stays so; the run's wake-up tells it.
        if (error instanceof NebulaError && !error.retryable) return this.drop(offer);
        queue.nack(delivery, RETRY_MIN_MS);
        claim?.refused();
      }
    });
  }
}
