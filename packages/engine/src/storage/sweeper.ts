/** Deletes expired runs with their logs and blobs, and reclaims the disk space. */
import type { ExecutionId } from '@nebula/core';
import { type Blobs, type Executions, type Logs, pause, type Timer } from '@nebula/ports';
import { cacheBlobs, cacheKeyOf } from '../attempts/cache.ts';
import type { EngineContext } from '../context.ts';

const SWEEP_EVERY_MS = 60_000;
const SWEEP_BATCH = 200;
/** A definition of a test run without its execution: the start failed, or the process died before it. */
const UNSTARTED_TEST_MS = 3_600_000;

/** The drivers that hold data of an execution. */
interface Traces {
  readonly store: Executions;
  readonly blobs: Blobs;
  readonly logs: Logs;
}

export class Sweeper {
  private readonly context: EngineContext;
  private timer: Timer | undefined;
  private inProgress: Promise<void> | undefined;
  private isOpen = false;
  /** Blobs that had no execution in the last pass. */
  private suspects: ReadonlySet<string> = new Set();

  constructor(context: EngineContext) {
    this.context = context;
  }

  open(): void {
    this.isOpen = true;
    // The first pass comes at once, in the background, so that short-lived processes sweep too.
    this.later(0);
  }

  async close(): Promise<void> {
    this.isOpen = false;
    this.timer?.cancel();
    await this.inProgress;
  }

  private later(delayMs: number): void {
    this.timer = this.context.clock.timer(
      delayMs,
      () => {
        this.inProgress = this.sweep()
          .catch((error: unknown) => this.context.effects.trouble(error))
          .finally(() => {
            this.inProgress = undefined;
            if (this.isOpen) this.later(SWEEP_EVERY_MS);
          });
      },
      { background: true },
    );
  }

  /** Makes one pass that deletes everything expired. */
  async sweep(): Promise<void> {
    const { store, clock } = this.context;
    let removed = 0;
    for (;;) {
      const expired = await store.expired(clock.now(), SWEEP_BATCH);
      for (const executionId of expired) {
        if (!this.isOpen) return;
        if (await removeExecution(this.context, executionId)) removed++;
      }
      if (expired.length < SWEEP_BATCH) break;
    }
    removed += await this.sweepCache();
    await store.purgeTestVersions(clock.now() - UNSTARTED_TEST_MS, SWEEP_BATCH);
    if (removed > 0) while (this.isOpen && (await store.reclaimSpace())) await pause(this.context.clock);
    await this.sweepOrphans();
  }

  private async sweepCache(): Promise<number> {
    const { store, clock } = this.context;
    return forgetOutputs(this.context, (limit) => (this.isOpen ? store.purgeCache(clock.now(), limit) : undefined));
  }

  /**
   * Deletes blobs whose execution is gone: a crash between the two deletions leaves some. Blobs are written before the
   * frame that names them, so those of a run that is being started look the same. Such a run is in memory here; if
   * other engines share the store, a second look one pass later finds it in the store.
   */
  private async sweepOrphans(): Promise<void> {
    const { store, blobs } = this.context;
    const suspects = new Set<string>();
    let batch: string[] = [];
    const sweepBatch = async (): Promise<void> => {
      for (const name of await this.orphansOf(batch)) {
        if (store.exclusive || this.suspects.has(name)) await blobs.deleteExecution(name);
        else suspects.add(name);
      }
      batch = [];
    };
    for await (const name of blobs.executions()) {
      if (!this.isOpen) return;
      batch.push(name);
      if (batch.length === SWEEP_BATCH) await sweepBatch();
    }
    await sweepBatch();
    this.suspects = suspects;
  }

  /** Names that belong neither to an execution nor to a cached output. */
  private async orphansOf(names: readonly string[]): Promise<readonly string[]> {
    const { store, runs, blobPins } = this.context;
    // A run in memory, or a pinned name, may not be in the store yet.
    const isLive = (name: string): boolean => runs.get(name) !== undefined || blobPins.has(name);
    const asked = names.filter((name) => !isLive(name));
    const known = new Set(await store.known(asked.filter((name) => cacheKeyOf(name) === undefined)));
    for (const name of asked) {
      const key = cacheKeyOf(name);
      if (key !== undefined && (await store.cached(key, 0)) !== undefined) known.add(name);
    }
    return asked.filter((name) => !known.has(name) && !isLive(name));
  }
}

/** Removes cached outputs with their blobs, in batches, and returns how many. */
export async function forgetOutputs(
  { blobs }: Pick<Traces, 'blobs'>,
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

/**
 * Returns false if the execution is unknown or unfinished. The rows are deleted first: blobs that a crash leaves are
 * then orphans.
 */
export async function removeExecution({ store, blobs, logs }: Traces, executionId: ExecutionId): Promise<boolean> {
  if (!(await store.deleteExecution(executionId))) return false;
  await logs.deleteExecution(executionId);
  await blobs.deleteExecution(executionId);
  return true;
}
