/**
 * The lease of this process among the workers of the store. When it expires, other engines give up the attempts of this
 * process.
 */
import type { Clock, Store, Workers } from '@nebula/ports';
import type { Effects } from '../effects.ts';

/** The prefix of the names of engines among the workers. */
export const WORKER_PREFIX = 'wrk';
const LEASE_MS = 30_000;
export const HEARTBEAT_MS = LEASE_MS / 3;

interface EngineLeaseParts {
  readonly store: Workers & Pick<Store, 'exclusive'>;
  readonly clock: Clock;
  readonly effects: Effects;
  readonly workerId: string;
}

export class EngineLease {
  private readonly parts: EngineLeaseParts;
  private until = Number.NEGATIVE_INFINITY;

  constructor(parts: EngineLeaseParts) {
    this.parts = parts;
  }

  /** False when other engines may give up the attempts of this process. */
  isGood(): boolean {
    return this.parts.store.exclusive || this.parts.clock.now() < this.until;
  }

  async extend(): Promise<void> {
    const { store, clock, workerId, effects } = this.parts;
    const until = clock.now() + LEASE_MS;
    await store.heartbeat([{ worker: workerId, expiresAt: until }]);
    this.until = until;
    effects.written();
  }
}
