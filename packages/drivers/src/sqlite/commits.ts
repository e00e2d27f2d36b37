/**
 * The order of writes, and the thread that carries them out.
 *
 *  1. Calls are carried out in the order in which they were made.
 *  2. On the main thread a call is carried out at once, inside the call. It waits in `#waiting` only while writing is
 *     paused, the database is locked by another process, or commits run in the thread.
 *  3. At most `MAX_IN_THREAD` transactions are in the thread, so that it always has the next one; appends that wait
 *     meanwhile share the next transaction.
 *  4. Before the place changes from thread to main, the thread has answered everything. It changes from main to thread
 *     once the thread has opened its connection: starting a thread takes seconds on a busy machine.
 *  5. Log lines that wait go into the transaction of the next append, and back into the buffer if it fails.
 */
import type { Clock, Write, WriteOutcome } from '@nebula/ports';
import type { EncodedLine } from '@nebula/ports/rows';
import { explained, isBusy } from './failure.ts';
import type { LineBuffer } from './line-buffer.ts';
import { type CommitThread, Pace } from './pace.ts';
import type { SideThread } from './side-thread.ts';
import { carryOut, type WriteMethod, type Writes } from './writes.ts';

export interface CommitsOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly writes: Writes;
  readonly lines: LineBuffer;
  /** Starts the commit thread; called once, when it is needed. */
  readonly startThread: () => SideThread;
  readonly thread: CommitThread | 'auto';
  readonly slowCommitMs: number;
  /** The time after which a call that waits for another process's lock is rejected. */
  readonly busyTimeoutMs: number;
  /** Called after each commit with the approximate number of bytes that went into the log. */
  readonly onCommit: (bytes: number) => void;
  readonly onLines: (lines: readonly EncodedLine[]) => void;
}

interface Job {
  readonly method: WriteMethod;
  readonly args: readonly unknown[];
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  firstTriedAt: number | undefined;
}

type Result<K extends WriteMethod> = ReturnType<Writes[K]>;

const MAX_IN_THREAD = 2;
const MAX_SHARED_WRITES = 512;
const MAX_LINES_PER_APPEND = 128;
/** The limit on lines in an append without writes, which only flushes lines. */
const MAX_LINES_PER_FLUSH = 1_000;
const LOCK_RETRY_MS = 15;
/** The cost of a commit in the log besides its rows: about four pages. */
const COMMIT_OVERHEAD_BYTES = 16_384;

export class Commits {
  readonly #options: CommitsOptions;
  readonly #writes: Writes;
  readonly #lines: LineBuffer;
  readonly #pace: Pace;
  #current: CommitThread;
  #mayMove: boolean;
  #thread: SideThread | undefined;
  #waiting: Job[] = [];
  #inThread = 0;
  #pauses = 0;
  #lockedOut = false;
  #onIdle: (() => void)[] = [];
  #onDrained: (() => void)[] = [];

  constructor(options: CommitsOptions) {
    this.#options = options;
    this.#writes = options.writes;
    this.#lines = options.lines;
    this.#pace = new Pace(options.slowCommitMs);
    this.#current = options.thread === 'thread' ? 'thread' : 'main';
    this.#mayMove = options.thread === 'auto';
  }

  get thread(): CommitThread {
    return this.#current;
  }

  append(writes: readonly Write[]): Promise<readonly WriteOutcome[]> {
    if (this.#mayRunNow()) {
      const lines = this.#takeLines(writes);
      try {
        const outcomes = this.#writes.append(writes, lines);
        this.#committed(this.#writes.lastCommitMs, bytesOf(writes), lines);
        return Promise.resolve(outcomes);
      } catch (error) {
        this.#lines.putBack(lines);
        if (!isBusy(error)) return Promise.reject(explained(error, this.#options.path));
      }
    }
    return this.#enqueue('append', [writes]) as Promise<readonly WriteOutcome[]>;
  }

  call<K extends WriteMethod>(method: K, ...args: Parameters<Writes[K]>): Promise<Result<K>> {
    if (this.#mayRunNow()) {
      try {
        return Promise.resolve(this.#runOnMain(method, args) as Result<K>);
      } catch (error) {
        if (!isBusy(error)) return Promise.reject(explained(error, this.#options.path));
      }
    }
    return this.#enqueue(method, args) as Promise<Result<K>>;
  }

  /** Holds back new transactions; resolves when none is under way. */
  async pause(): Promise<void> {
    this.#pauses++;
    if (this.#inThread > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  resume(): void {
    this.#pauses--;
    this.#pump();
  }

  /** Carries out waiting calls, and releases the thread. */
  async close(): Promise<void> {
    if (this.#waiting.length > 0 || this.#inThread > 0) {
      await new Promise<void>((resolve) => this.#onDrained.push(resolve));
    }
    await this.#thread?.close();
  }

  #mayRunNow(): boolean {
    return (
      this.#current === 'main' &&
      this.#inThread === 0 &&
      this.#waiting.length === 0 &&
      this.#pauses === 0 &&
      !this.#lockedOut
    );
  }

  #enqueue(method: WriteMethod, args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ method, args, resolve, reject, firstTriedAt: undefined });
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#pauses === 0 && !this.#lockedOut) {
      if (this.#current === 'thread' && this.#inThread >= MAX_IN_THREAD) return;
      if (this.#current === 'main' && this.#inThread > 0) return;
      const jobs = this.#nextJobs();
      if (this.#current === 'thread') void this.#sendToThread(jobs);
      else this.#tryOnMain(jobs);
    }
    if (this.#inThread > 0) return;
    for (const tell of this.#onIdle.splice(0)) tell();
    if (this.#waiting.length === 0) for (const tell of this.#onDrained.splice(0)) tell();
  }

  /** The next job; if it is an append, together with the appends right behind it. */
  #nextJobs(): readonly Job[] {
    let count = 0;
    let writes = 0;
    for (const job of this.#waiting) {
      if (count > 0 && job.method !== 'append') break;
      if (job.method === 'append') writes += writesOf(job).length;
      if (count > 0 && writes > MAX_SHARED_WRITES) break;
      count++;
      if (job.method !== 'append') break;
    }
    return this.#waiting.splice(0, count);
  }

  #tryOnMain(jobs: readonly Job[]): void {
    const { method, args, lines, bytes } = this.#combined(jobs);
    try {
      const result = carryOut(this.#writes, method, args);
      this.#committed(this.#writes.lastCommitMs, bytes, lines);
      answerJobs(jobs, result);
    } catch (error) {
      this.#lines.putBack(lines);
      if (isBusy(error) && this.#mayWaitForLock(jobs)) this.#waitForLock(jobs);
      else for (const job of jobs) job.reject(explained(error, this.#options.path));
    }
  }

  /** The suspension point: the thread's answer. */
  async #sendToThread(jobs: readonly Job[]): Promise<void> {
    const { method, args, lines, bytes } = this.#combined(jobs);
    this.#thread ??= this.#options.startThread();
    const thread = this.#thread;
    this.#inThread++;
    try {
      const { result, commitMs } = await thread.call(method, args);
      this.#committed(commitMs, bytes, lines);
      answerJobs(jobs, result);
    } catch (error) {
      this.#lines.putBack(lines);
      if (thread.isLost) this.#stayOnMain();
      for (const job of jobs) job.reject(explained(error, this.#options.path));
    } finally {
      this.#inThread--;
      this.#pump();
    }
  }

  /** Must not throw: the commit is done. */
  #moveTo(thread: CommitThread): void {
    try {
      if (thread === 'thread') this.#thread ??= this.#options.startThread();
    } catch {
      return this.#stayOnMain();
    }
    if (this.#thread?.isLost === true) this.#stayOnMain();
    else if (thread === 'main' || this.#thread?.isOpen === true) this.#current = thread;
  }

  /** A lost thread makes writing slower, not impossible. */
  #stayOnMain(): void {
    this.#mayMove = false;
    this.#current = 'main';
  }

  #combined(jobs: readonly Job[]): {
    readonly method: WriteMethod;
    readonly args: readonly unknown[];
    readonly lines: readonly EncodedLine[];
    readonly bytes: number;
  } {
    const [first] = jobs as readonly [Job];
    if (first.method !== 'append') {
      return { method: first.method, args: first.args, lines: [], bytes: COMMIT_OVERHEAD_BYTES };
    }
    const writes = jobs.length === 1 ? writesOf(first) : jobs.flatMap(writesOf);
    const lines = this.#takeLines(writes);
    return { method: 'append', args: [writes, lines], lines, bytes: bytesOf(writes) };
  }

  #takeLines(writes: readonly Write[]): readonly EncodedLine[] {
    return this.#lines.take(writes.length > 0 ? MAX_LINES_PER_APPEND : MAX_LINES_PER_FLUSH);
  }

  #runOnMain(method: WriteMethod, args: readonly unknown[]): unknown {
    const result = carryOut(this.#writes, method, args);
    this.#committed(this.#writes.lastCommitMs, COMMIT_OVERHEAD_BYTES, []);
    return result;
  }

  #committed(commitMs: number, bytes: number, lines: readonly EncodedLine[]): void {
    if (commitMs === 0) return;
    if (this.#mayMove) this.#moveTo(this.#pace.note(commitMs));
    this.#options.onCommit(bytes);
    if (lines.length > 0) this.#options.onLines(lines);
  }

  #mayWaitForLock(jobs: readonly Job[]): boolean {
    const now = this.#options.clock.now();
    for (const job of jobs) job.firstTriedAt ??= now;
    return now - ((jobs[0] as Job).firstTriedAt as number) < this.#options.busyTimeoutMs;
  }

  #waitForLock(jobs: readonly Job[]): void {
    this.#waiting.unshift(...jobs);
    this.#lockedOut = true;
    this.#options.clock.timer(LOCK_RETRY_MS, () => {
      this.#lockedOut = false;
      this.#pump();
    });
  }
}

/** Gives each job its part of the shared result. */
function answerJobs(jobs: readonly Job[], result: unknown): void {
  if (jobs.length === 1) {
    jobs[0]?.resolve(result);
    return;
  }
  const outcomes = result as readonly WriteOutcome[];
  let from = 0;
  for (const job of jobs) {
    const count = writesOf(job).length;
    job.resolve(outcomes.slice(from, from + count));
    from += count;
  }
}

function writesOf(job: Job): readonly Write[] {
  return job.args[0] as readonly Write[];
}

function bytesOf(writes: readonly Write[]): number {
  let bytes = COMMIT_OVERHEAD_BYTES;
  for (const { frame } of writes) if (frame !== undefined) bytes += frame.entries.length + 64;
  return bytes;
}
