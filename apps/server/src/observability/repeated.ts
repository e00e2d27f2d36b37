/** Limits repeated log lines: a store that is away fails every second. */
import type { Clock } from '@nebula/ports';

const QUIET_MS = 10_000;
const MAX_KNOWN = 200;

export class Repeated {
  private readonly clock: Clock;
  private readonly known = new Map<string, { loggedAt: number; since: number }>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** The number of occurrences since the last log line, including this one; 0: do not log it now. */
  count(what: string): number {
    const now = this.clock.now();
    const before = this.known.get(what);
    if (before !== undefined && now - before.loggedAt < QUIET_MS) {
      before.since++;
      return 0;
    }
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(what, { loggedAt: now, since: 0 });
    return 1 + (before?.since ?? 0);
  }
}
