/**
 * Keeps the write-ahead log short, outside commits.
 *
 *  1. Nothing is checkpointed inside a commit or on the main thread.
 *  2. The thread starts when the log first exceeds its limit: a short run never pays for it.
 *  3. Most of the log is copied while writing continues; only for the last pages is writing paused, some
 *     milliseconds. Then the log is copied entirely, and the next commit begins it again from the start. The file keeps
 *     its length: writing over it is a third faster than growing it (64-row batches, 175,000 against 126,000 rows/s).
 *  4. When the log has grown to `HARD_LIMIT_FACTOR` times its limit, because the event loop had no turn to spare or the
 *     disk is too slow, writing waits until the checkpoint is through.
 *  5. A reader that keeps a transaction open (none of ours does) keeps the log from being begun again; writing continues.
 */
import type { Clock } from '@nebula/ports';
import { type CheckpointMode, checkpoint, type LogState } from './checkpoint.ts';
import type { Commits } from './commits.ts';
import { type Connection, PAGE_SIZE_BYTES } from './connection.ts';
import type { SideThread } from './side-thread.ts';

export interface CheckpointerOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly commits: Commits;
  readonly startThread: () => SideThread;
  readonly walLimitBytes: number;
}

const HARD_LIMIT_FACTOR = 4;

/** A commit of few bytes may still change many pages. */
const MAX_UNSEEN_COMMITS = 16;

/** The most passes while writing continues. */
const MAX_PASSES = 4;

/** The most pages that are copied while writing is paused: a few milliseconds. */
const LAST_PAGES = 512;

/** When the log could not be copied entirely, the next attempt comes after it has grown by this factor. */
const RETRY_GROWTH = 1.25;

/** After this time without a commit the log is emptied, and its disk space returned. */
const IDLE_MS = 5_000;

/** A shorter log is not emptied. */
const IDLE_MIN_BYTES = 1_000_000;

export class Checkpointer {
  readonly #options: CheckpointerOptions;
  #thread: SideThread | undefined;
  #running: Promise<void> | undefined;
  #commitsPaused = false;
  #unseenBytes = 0;
  #unseenCommits = 0;
  #retryAtPages = 0;
  #idleTimerSet = false;
  #busySinceTimer = false;
  #closed = false;

  constructor(options: CheckpointerOptions) {
    this.#options = options;
  }

  /** Called after each commit. Looks at the log itself (12 µs) only now and then. */
  committed(bytes: number): void {
    this.#busySinceTimer = true;
    this.#unseenBytes += bytes;
    this.#unseenCommits++;
    if (this.#unseenBytes < this.#options.walLimitBytes / 8 && this.#unseenCommits < MAX_UNSEEN_COMMITS) return;
    this.#unseenBytes = 0;
    this.#unseenCommits = 0;
    const log = this.#logState();
    if (this.#closed || log.pages * PAGE_SIZE_BYTES < IDLE_MIN_BYTES) return;
    this.#watchForIdleness();
    const limit = this.#options.walLimitBytes / PAGE_SIZE_BYTES;
    if (this.#running === undefined) {
      if (log.pages > Math.max(limit, this.#retryAtPages) && log.uncopied > limit / 16) this.#start(log);
    } else if (log.pages > limit * HARD_LIMIT_FACTOR && !this.#commitsPaused) {
      void this.#pauseCommits(this.#running);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#thread?.close();
  }

  #start(log: LogState): void {
    this.#retryAtPages = log.pages * RETRY_GROWTH;
    this.#running = this.#shorten()
      .catch(() => {}) // The log grows longer until the next attempt.
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #shorten(): Promise<void> {
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      const log = await this.#checkpoint('PASSIVE');
      if (log.uncopied <= LAST_PAGES) break;
    }
    await this.#options.commits.pause();
    try {
      const log = await this.#checkpoint('PASSIVE');
      if (log.uncopied === 0) this.#retryAtPages = 0;
    } finally {
      this.#options.commits.resume();
    }
  }

  async #pauseCommits(until: Promise<void>): Promise<void> {
    this.#commitsPaused = true;
    await this.#options.commits.pause();
    await until;
    this.#commitsPaused = false;
    this.#options.commits.resume();
  }

  #watchForIdleness(): void {
    if (this.#idleTimerSet) return;
    this.#idleTimerSet = true;
    this.#busySinceTimer = false;
    this.#options.clock.timer(IDLE_MS, () => this.#onIdleTimer(), { background: true });
  }

  #onIdleTimer(): void {
    this.#idleTimerSet = false;
    if (this.#closed) return;
    if (this.#busySinceTimer) this.#watchForIdleness();
    else if (this.#running === undefined) {
      if (this.#logState().pages * PAGE_SIZE_BYTES > IDLE_MIN_BYTES) this.#running = this.#empty();
    }
  }

  async #empty(): Promise<void> {
    try {
      // Also starts the thread, before writing is held back.
      await this.#checkpoint('PASSIVE');
      await this.#options.commits.pause();
      await this.#checkpoint('TRUNCATE').finally(() => this.#options.commits.resume());
    } catch {
      // Another connection writes or reads: the log stays as it is.
    } finally {
      this.#running = undefined;
    }
  }

  /** Must not throw: the commit is done. */
  #logState(): LogState {
    try {
      return checkpoint(this.#options.connection, 'NOOP');
    } catch {
      return { pages: 0, uncopied: 0 };
    }
  }

  async #checkpoint(mode: CheckpointMode): Promise<LogState> {
    if (this.#thread === undefined || this.#thread.isLost) this.#thread = this.#options.startThread();
    return (await this.#thread.call('checkpoint', [mode])).result as LogState;
  }
}
