/** Removes finished runs whose time is over, with their logs and blobs, and gives the disk space back. */
import type { Blobs, Clock, Logs, Store, Timer } from '@nebula/ports';
import { cacheBlobs, cacheKeyOf } from './cache.ts';

const SWEEP_EVERY_MS = 60_000;
const SWEEP_BATCH = 200;

export interface SweeperParts {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly logs: Logs;
  readonly clock: Clock;
  /** In memory, or being written: perhaps not in the store yet. */
  isLive(name: string): boolean;
  onTrouble(error: unknown): void;
}

export class Sweeper {
  private readonly parts: SweeperParts;
  private timer: Timer | undefined;
  private round: Promise<void> | undefined;
  private isOpen = false;
  /** Blobs that had no execution in the last round. */
  private suspects: ReadonlySet<string> = new Set();

  constructor(parts: SweeperParts) {
    this.parts = parts;
  }

  open(): void {
    this.isOpen = true;
    // At once, in the background: a process that lives for seconds only must sweep, too.
    this.later(0);
  }

  async close(): Promise<void> {
    this.isOpen = false;
    this.timer?.cancel();
    await this.round;
  }

  private later(delayMs: number): void {
    this.timer = this.parts.clock.timer(
      delayMs,
      () => {
        this.round = this.sweep()
          .catch((error: unknown) => this.parts.onTrouble(error))
          .finally(() => {
            this.round = undefined;
            if (this.isOpen) this.later(SWEEP_EVERY_MS);
          });
      },
      { background: true },
    );
  }

  /** One round: everything that has expired by now. */
  async sweep(): Promise<void> {
    const { store, clock } = this.parts;
    let removed = 0;
    for (;;) {
      const expired = await store.expired(clock.now(), SWEEP_BATCH);
      for (const executionId of expired) {
        if (!this.isOpen) return;
        if (await removeExecution(this.parts, executionId)) removed++;
      }
      if (expired.length < SWEEP_BATCH) break;
    }
    removed += await this.sweepCache();
    if (removed > 0) while (this.isOpen && (await store.reclaimSpace())) await this.breathe();
    await this.sweepOrphans();
  }

  /** Outputs that nobody may use any more. */
  private async sweepCache(): Promise<number> {
    const { store, clock } = this.parts;
    return forgetOutputs(this.parts, (limit) => (this.isOpen ? store.purgeCache(clock.now(), limit) : undefined));
  }

  /**
   * Blobs whose execution is gone: a crash between the two deletions leaves some. Blobs come before the frame that names
   * them, so those of a run that is just being started look the same: here it is in memory, and where other engines
   * share the store a second look, a round later, finds it there.
   */
  private async sweepOrphans(): Promise<void> {
    const { store, blobs, isLive } = this.parts;
    const suspects = new Set<string>();
    for await (const executionId of blobs.executions()) {
      if (!this.isOpen) return;
      if (isLive(executionId) || (await this.isKnown(executionId)) || isLive(executionId)) continue;
      if (store.exclusive || this.suspects.has(executionId)) await blobs.deleteExecution(executionId);
      else suspects.add(executionId);
    }
    this.suspects = suspects;
  }

  private async isKnown(name: string): Promise<boolean> {
    const { store } = this.parts;
    const key = cacheKeyOf(name);
    return (key === undefined ? await store.execution(name) : await store.cached(key, 0)) !== undefined;
  }

  private breathe(): Promise<void> {
    return new Promise((resolve) => this.parts.clock.soon(resolve));
  }
}

/** Piece by piece, with their blobs, until nothing more goes; says how many went. */
export async function forgetOutputs(
  { blobs }: Pick<SweeperParts, 'blobs'>,
  forget: (limit: number) => Promise<readonly string[]> | undefined,
): Promise<number> {
  let forgotten = 0;
  for (;;) {
    const keys = (await forget(SWEEP_BATCH)) ?? [];
    for (const key of keys) await blobs.deleteExecution(cacheBlobs(key));
    forgotten += keys.length;
    if (keys.length < SWEEP_BATCH) return forgotten;
  }
}

/** False when it is unknown or unfinished. The rows go first: what is left behind by a crash is then an orphan. */
export async function removeExecution(
  { store, blobs, logs }: Pick<SweeperParts, 'store' | 'blobs' | 'logs'>,
  executionId: string,
): Promise<boolean> {
  if (!(await store.deleteExecution(executionId))) return false;
  await logs.deleteExecution(executionId);
  await blobs.deleteExecution(executionId);
  return true;
}
