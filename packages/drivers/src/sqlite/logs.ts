/**
 * Logs in the database of the store.
 *
 *  1. Lines wait in the buffer until the next append takes them along, or `FLUSH_MS` have passed.
 *  2. Followers are woken at once by lines of this process, and look for lines of other processes every `POLL_MS`.
 */
import type { ExecutionId } from '@nebula/core';
import type { Clock, LogFilter, LogLine, Logs, StoredLogLine, Timer } from '@nebula/ports';
import { encodeLine, followLines, News } from '@nebula/ports/rows';
import type { Commits } from './commits.ts';
import type { LineBuffer } from './line-buffer.ts';
import type { Reads } from './reads.ts';

export interface SqliteLogsOptions {
  readonly clock: Clock;
  readonly commits: Commits;
  readonly lines: LineBuffer;
  readonly readonly: boolean;
  readonly read: <T>(read: (reads: Reads) => T) => Promise<T>;
}

const FLUSH_MS = 250;
const POLL_MS = 250;
const MAX_PIECES_PER_FLUSH = 64;

export class SqliteLogs implements Logs {
  readonly #options: SqliteLogsOptions;
  readonly #news = new News();
  readonly #ended = new AbortController();
  #flushTimer: Timer | undefined;
  #pollTimer: Timer | undefined;
  #followers = 0;
  #closing: Promise<void> | undefined;

  constructor(options: SqliteLogsOptions) {
    this.#options = options;
  }

  append(line: LogLine): void {
    if (this.#closing !== undefined || this.#options.readonly) return;
    this.#options.lines.push(encodeLine(line));
    this.#flushTimer ??= this.#options.clock.timer(FLUSH_MS, () => this.#onFlushTimer(), { background: true });
  }

  async flush(): Promise<void> {
    const { lines, commits } = this.#options;
    for (let piece = 0; piece < MAX_PIECES_PER_FLUSH; piece++) {
      // If the buffer is empty, one more append waits for lines that are on their way to the thread.
      const wasEmpty = lines.isEmpty;
      await commits.append([]);
      if (wasEmpty) return;
    }
  }

  read(filter: LogFilter): Promise<readonly StoredLogLine[]> {
    return this.#options.read((reads) => reads.lines(filter));
  }

  async *follow(filter: LogFilter, signal: AbortSignal): AsyncGenerator<StoredLogLine> {
    this.#followers++;
    this.#poll();
    try {
      const either = AbortSignal.any([signal, this.#ended.signal]);
      yield* followLines(filter, either, this.#news, (page) => this.read(page));
    } finally {
      if (--this.#followers === 0) this.#stopPolling();
    }
  }

  async deleteExecution(executionId: ExecutionId): Promise<void> {
    this.#options.lines.forget(executionId);
    while (await this.#options.commits.call('deleteLines', executionId));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Wakes followers after lines of this process were written. */
  written(): void {
    this.#news.announce();
  }

  async #close(): Promise<void> {
    this.#flushTimer?.cancel();
    this.#ended.abort();
    this.#stopPolling();
    // Lines may be lost: a full disk must not keep the store from closing.
    await this.flush().catch(() => {});
  }

  #onFlushTimer(): void {
    this.#flushTimer = undefined;
    // Lines that could not be written stay in the buffer, which is bounded, until the next line or append.
    this.flush().catch(() => {});
  }

  #poll(): void {
    this.#pollTimer ??= this.#options.clock.timer(POLL_MS, () => {
      this.#pollTimer = undefined;
      this.#news.announce();
      if (this.#followers > 0) this.#poll();
    });
  }

  #stopPolling(): void {
    this.#pollTimer?.cancel();
    this.#pollTimer = undefined;
  }
}
