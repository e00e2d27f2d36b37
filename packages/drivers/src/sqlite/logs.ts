/**
 * Logs in the database of the store.
 *
 *  1. Lines wait in the buffer until the next append takes them along, or `FLUSH_MS` have passed.
 *  2. Followers are woken at once by lines of this process. For lines of other processes, the followed runs are polled
 *     every `POLL_MS`, each once for all its followers, and only if another connection has written.
 */
import { setImmediate } from 'node:timers/promises';
import type { ExecutionId } from '@nebula/core';
import type { Clock, FoundLines, LogFilter, LogLine, LogSearch, Logs, StoredLogLine, Timer } from '@nebula/ports';
import { type EncodedLine, encodeLine, LogFollowers } from '@nebula/ports/rows';
import type { Commits } from './commits.ts';
import type { LineBuffer } from './line-buffer.ts';
import type { Reads } from './reads.ts';

export interface SqliteLogsOptions {
  readonly clock: Clock;
  readonly commits: Commits;
  readonly lines: LineBuffer;
  readonly readonly: boolean;
  readonly read: <T>(read: (reads: Reads) => T) => Promise<T>;
  readonly search: (search: LogSearch) => Promise<FoundLines>;
}

const FLUSH_MS = 250;
const POLL_MS = 250;
const MAX_PIECES_PER_FLUSH = 64;
/** Followed runs that are read in one turn of the event loop: each takes about 10 µs. */
const READS_PER_TURN = 256;

export class SqliteLogs implements Logs {
  readonly #options: SqliteLogsOptions;
  readonly #followers = new LogFollowers();
  readonly #ended = new AbortController();
  #flushTimer: Timer | undefined;
  #pollTimer: Timer | undefined;
  /** The version of the database at the last look; undefined if this process has written lines since. */
  #seen: number | undefined;
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

  search(search: LogSearch): Promise<FoundLines> {
    return this.#options.search(search);
  }

  async *follow(filter: LogFilter, signal: AbortSignal): AsyncGenerator<readonly StoredLogLine[]> {
    const either = AbortSignal.any([signal, this.#ended.signal]);
    this.#seen = undefined;
    this.#pollLater();
    try {
      yield* this.#followers.follow(filter, either, (page) => this.read(page));
    } finally {
      if (this.#followers.isEmpty) this.#stopPolling();
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
  written(lines: readonly EncodedLine[]): void {
    if (this.#followers.isEmpty) return;
    this.#seen = undefined;
    for (const line of lines) this.#followers.announce(line);
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

  #pollLater(): void {
    if (this.#closing !== undefined) return;
    this.#pollTimer ??= this.#options.clock.timer(POLL_MS, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    await this.#readFollowed().catch(() => {
      this.#seen = undefined;
    });
    this.#stopPolling();
    if (!this.#followers.isEmpty) this.#pollLater();
  }

  #stopPolling(): void {
    this.#pollTimer?.cancel();
    this.#pollTimer = undefined;
  }

  async #readFollowed(): Promise<void> {
    const { read } = this.#options;
    const version = await read((reads) => reads.dataVersion());
    if (version === this.#seen) return;
    this.#seen = version;
    let runsRead = 0;
    for (const { executionId, position } of this.#followers.runs()) {
      const { last, lines } = await read((reads) => reads.newLines(executionId, position));
      for (const line of lines) this.#followers.announce(line);
      this.#followers.noteRead(executionId, last);
      if (++runsRead % READS_PER_TURN === 0) await setImmediate();
    }
  }
}
