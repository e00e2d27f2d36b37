/** A clock that a test moves. */
import { type VirtualClock, virtualClock } from '@nebula/drivers/memory';

const times = new Set<Time>();

/** Moves a clock one step after the other. It runs slowly by itself, so that calls and runs go on. */
export class Time {
  readonly clock: VirtualClock;
  readonly #interval: NodeJS.Timeout;
  #last: Promise<void> = Promise.resolve();

  constructor(startMs = 0) {
    this.clock = virtualClock(startMs);
    this.#interval = setInterval(() => void this.advance(1), 5);
    times.add(this);
  }

  now(): number {
    return this.clock.now();
  }

  advance(ms: number): Promise<void> {
    this.#last = this.#last.then(() => this.clock.advance(ms));
    return this.#last;
  }

  async stop(): Promise<void> {
    clearInterval(this.#interval);
    await this.#last;
  }
}

export async function stopTimes(): Promise<void> {
  for (const time of times) await time.stop();
  times.clear();
}
