/**
 * The way into the turn loop: stimuli for runs.
 *
 *  B1 A stimulus for a run that is not in memory is kept until the run is read from the store.
 *  B2 A run whose first frame is being written gets no stimuli: if the store refuses that frame, the execution exists
 *     already, and the stimulus is for the stored one.
 */
import { type ExecutionId, NebulaError } from '@nebula/core';
import type { Stimulus } from '@nebula/core/run';
import type { Clock } from '@nebula/ports';
import type { Effects } from '../effects.ts';
import { RETRY_MS } from '../lifecycle.ts';
import type { LiveRun } from './live-run.ts';
import type { Runs } from './runs.ts';

interface MailboxParts {
  readonly clock: Clock;
  readonly runs: Runs;
  readonly effects: Effects;
}

export class Mailbox {
  private readonly parts: MailboxParts;
  private touched = new Set<LiveRun>();
  private turn: () => void = () => {};

  constructor(parts: MailboxParts) {
    this.parts = parts;
  }

  /** Sets the turn loop, which is called whenever a turn is due. */
  onWork(turn: () => void): void {
    this.turn = turn;
  }

  /** Sends a stimulus to an execution, in memory or not. */
  send(executionId: ExecutionId, stimulus: Stimulus): void {
    const { runs, effects, clock } = this.parts;
    const run = runs.get(executionId);
    if (run?.isNew === false) return this.post(run, stimulus);
    runs.loadWritten(executionId).then(
      (loaded) => loaded !== undefined && this.post(loaded, stimulus),
      (error: unknown) => {
        if (error instanceof NebulaError && !error.retryable) return effects.fault(executionId, error);
        effects.trouble(error);
        clock.timer(RETRY_MS, () => this.send(executionId, stimulus));
      },
    );
  }

  /** Posts a stimulus to a run in memory. */
  post(run: LiveRun, stimulus: Stimulus): void {
    run.mailbox.push(stimulus);
    this.touched.add(run);
    this.turn();
  }

  /** Makes the next turn look at the run. */
  touch(run: LiveRun): void {
    this.touched.add(run);
    this.turn();
  }

  /** Makes a turn due although no run has mail: a slot, a task or the lease has changed. */
  kick(): void {
    this.turn();
  }

  get isEmpty(): boolean {
    return this.touched.size === 0;
  }

  /** Runs to look at in this turn, in the order in which they were touched. */
  take(): Iterable<LiveRun> {
    const { touched } = this;
    this.touched = new Set();
    return touched;
  }

  /** Removes all mail of a run that leaves memory. */
  drop(run: LiveRun): void {
    run.mailbox = [];
    this.touched.delete(run);
  }
}
