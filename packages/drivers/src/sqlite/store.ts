/**
 * The store on one SQLite file.
 *
 *  1. The main connection belongs to the main thread: all reads, and writes while commits are quick.
 *  2. Everything written goes through `Commits`, which keeps the order; `Checkpointer` keeps the log short.
 *  3. Only an engine appends. It holds the engine lock from before the file is opened until after it is closed.
 */
import { dirname, resolve } from 'node:path';
import { assert, type ExecutionId, NebulaError, type WorkflowId } from '@nebula/core';
import type {
  CacheChoice,
  CachePage,
  CacheRow,
  Clock,
  DueClaim,
  ExecutionCounts,
  ExecutionFilter,
  ExecutionPage,
  ExecutionRow,
  ExecutionScope,
  ExecutionStatistics,
  FeedPage,
  FrameRow,
  HumanTask,
  HumanTaskCounts,
  HumanTaskFilter,
  HumanTaskPage,
  HumanTaskScope,
  InboxRow,
  LoadedExecution,
  LoadRange,
  Logs,
  NewWorkflowVersion,
  PermitRow,
  Position,
  PublishedSignal,
  Records,
  RegisterOutcome,
  SnapshotRow,
  StalledFilter,
  StalledRow,
  StatisticsFilter,
  Store,
  TestVersionRow,
  Timer,
  WorkerLease,
  WorkflowHead,
  WorkflowPage,
  WorkflowSourceRow,
  WorkflowVersionHead,
  WorkflowVersionRow,
  Write,
  WriteOutcome,
} from '@nebula/ports';
import { decodeCursor, encodeCursor } from '@nebula/ports/rows';
import { Checkpointer } from './checkpointer.ts';
import { Commits } from './commits.ts';
import type { Connection, ConnectionOptions, Durability } from './connection.ts';
import { explained, gone, isBusy } from './failure.ts';
import { FileWatch } from './file-watch.ts';
import { LineBuffer } from './line-buffer.ts';
import { type EngineLock, lockEngine } from './lock.ts';
import { SqliteLogs } from './logs.ts';
import { LongReads } from './long-reads.ts';
import { makeDataFolder, openBeside, openForEngine } from './open.ts';
import type { CommitThread } from './pace.ts';
import { Reads } from './reads.ts';
import { sqliteRecords } from './records.ts';
import { SideThread } from './side-thread.ts';
import { type WriteMethod, Writes } from './writes.ts';

export interface SqliteStoreOptions {
  /** The database file. Its folder is the data directory: at most one engine works in it. */
  readonly path: string;
  readonly clock: Clock;
  /** An engine may append, creates missing data and keeps other engines out. Other processes read, and send messages. */
  readonly engine: boolean;
  readonly durability?: Durability;
  /** Never writes; works without write permission. */
  readonly readonly?: boolean;
  /** The thread of commits; `auto` moves them to a side thread while their median is at `slowCommitMs` or above. */
  readonly commitsIn?: CommitThread | 'auto';
  readonly slowCommitMs?: number;
  readonly walLimitBytes?: number;
  /** The time after which a call that waits for another program's lock fails with `STORE_BUSY`. */
  readonly busyTimeoutMs?: number;
}

export interface SqliteStore extends Store {
  /** Logs in the same database; closed with the store. */
  readonly logs: Logs;
  /** Records in the same database; closed with the store. */
  readonly records: Records;
  /** The current thread of commits. */
  readonly commitsIn: CommitThread;
}

const COMMIT_THREAD = new URL('./commit-thread.ts', import.meta.url);
const READ_THREAD = new URL('./read-thread.ts', import.meta.url);
const CHECKPOINT_THREAD = new URL('./checkpoint-thread.ts', import.meta.url);

const DEFAULT_SLOW_COMMIT_MS = 1;
/** 2 to 64 MB made no difference to batches; single commits were 15 % slower with 16 MB, while the file first grows. */
const DEFAULT_WAL_LIMIT_BYTES = 8 * 1024 * 1024;
const DEFAULT_BUSY_TIMEOUT_MS = 10_000;

/** The longest time for which the main thread blocks; then it waits without blocking. */
const MAIN_LOCK_WAIT_MS = 20;
const CHECKPOINT_LOCK_WAIT_MS = 100;
const BUSY_RETRY_MS = 15;

/** The check whether another process has written costs 1.3 µs. */
const WATCH_MS = 100;

export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  const path = resolve(options.path);
  const readonly = options.readonly === true;
  assert(!(options.engine && readonly), 'an engine must be able to write');
  const connectionOptions: ConnectionOptions = {
    path,
    durability: options.durability ?? 'strict',
    readonly,
    fileMustExist: true,
    lockWaitMs: MAIN_LOCK_WAIT_MS,
  };
  const busyTimeoutMs = options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS;
  if (!options.engine) {
    const connection = await patiently(() => openBeside(connectionOptions), options.clock, busyTimeoutMs);
    return new OpenStore({ ...options, path, commitsIn: 'main' }, connectionOptions, connection, undefined);
  }
  const folder = dirname(path);
  await makeDataFolder(folder);
  const lock = lockEngine(folder, options.clock.now());
  try {
    const connection = await patiently(() => openForEngine(connectionOptions), options.clock, busyTimeoutMs);
    return new OpenStore({ ...options, path }, connectionOptions, connection, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

class OpenStore implements SqliteStore {
  readonly exclusive: boolean;
  readonly logs: SqliteLogs;
  readonly records: Records;
  readonly #options: SqliteStoreOptions;
  readonly #connection: Connection;
  readonly #reads: Reads;
  readonly #commits: Commits;
  readonly #longReads: LongReads;
  readonly #checkpointer: Checkpointer | undefined;
  readonly #lock: EngineLock | undefined;
  readonly #watchers = new Set<() => void>();
  readonly #file: FileWatch;
  #isGone = false;
  #watchTimer: Timer | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    options: SqliteStoreOptions,
    connectionOptions: ConnectionOptions,
    connection: Connection,
    lock: EngineLock | undefined,
  ) {
    const { clock } = options;
    const busyTimeoutMs = options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS;
    const lines = new LineBuffer();
    this.exclusive = options.engine;
    this.#options = options;
    this.#connection = connection;
    this.#lock = lock;
    this.#file = new FileWatch(options.path);
    this.#reads = new Reads(connection);
    this.#longReads = new LongReads(
      options.path,
      () => new SideThread(READ_THREAD, { ...connectionOptions, lockWaitMs: busyTimeoutMs }),
    );
    this.#commits = new Commits({
      path: options.path,
      clock,
      writes: new Writes(connection),
      lines,
      startThread: () => new SideThread(COMMIT_THREAD, { ...connectionOptions, lockWaitMs: busyTimeoutMs }),
      thread: options.commitsIn ?? 'auto',
      slowCommitMs: options.slowCommitMs ?? DEFAULT_SLOW_COMMIT_MS,
      busyTimeoutMs,
      onCommit: (bytes) => this.#checkpointer?.committed(bytes),
      onLines: (written) => this.logs.written(written),
    });
    this.logs = new SqliteLogs({
      clock,
      commits: this.#commits,
      lines,
      readonly: options.readonly === true,
      read: (read) => this.#read(read),
      search: (search) => this.#readLong('search', search),
    });
    this.records = sqliteRecords({
      clock,
      read: (read) => this.#read((reads) => reads.with(read)),
      commit: (changes, now) => this.#write('commitRecords', changes, now),
      purge: (now, limit) => this.#write('purgeRecords', now, limit),
    });
    if (!options.engine) return;
    this.#checkpointer = new Checkpointer({
      connection,
      clock,
      commits: this.#commits,
      startThread: () =>
        new SideThread(CHECKPOINT_THREAD, { ...connectionOptions, lockWaitMs: CHECKPOINT_LOCK_WAIT_MS }),
      walLimitBytes: options.walLimitBytes ?? DEFAULT_WAL_LIMIT_BYTES,
    });
  }

  get commitsIn(): CommitThread {
    return this.#commits.thread;
  }

  append(writes: readonly Write[]): Promise<readonly WriteOutcome[]> {
    if (this.#closing !== undefined) return Promise.reject(closed());
    if (this.#isGone) return Promise.reject(gone(this.#options.path));
    if (!this.#options.engine) return Promise.reject(notTheEngine());
    return this.#commits.append(writes);
  }

  frames(executionId: ExecutionId, afterSeq: number, limit?: number): Promise<readonly FrameRow[]> {
    return this.#read((reads) => reads.frames(executionId, afterSeq, limit));
  }

  load(executionId: ExecutionId, range: LoadRange = {}): Promise<LoadedExecution | undefined> {
    return this.#read((reads) => reads.load(executionId, range));
  }

  framesBefore(executionId: ExecutionId, beforeSeq: number, limit: number): Promise<readonly FrameRow[]> {
    return this.#read((reads) => reads.framesBefore(executionId, beforeSeq, limit));
  }

  heads(executionIds: readonly ExecutionId[]): Promise<ReadonlyMap<ExecutionId, number>> {
    return this.#read((reads) => reads.heads(executionIds));
  }

  feed(page: FeedPage): Promise<readonly FrameRow[]> {
    return this.#read((reads) => reads.feed(page));
  }

  lastPosition(): Promise<Position> {
    return this.#read((reads) => reads.lastPosition());
  }

  saveSnapshot(executionId: ExecutionId, snapshot: SnapshotRow): Promise<void> {
    return this.#write('saveSnapshot', executionId, snapshot);
  }

  execution(executionId: ExecutionId): Promise<ExecutionRow | undefined> {
    return this.#read((reads) => reads.execution(executionId));
  }

  known(executionIds: readonly ExecutionId[]): Promise<ReadonlySet<ExecutionId>> {
    return this.#read((reads) => reads.known(executionIds));
  }

  async list(filter: ExecutionFilter): Promise<ExecutionPage> {
    const after = filter.cursor === undefined ? undefined : decodeCursor(filter.cursor);
    const limit = Math.max(1, filter.limit);
    const { rows: found, examined } = await this.#read((reads) => reads.list({ ...filter, limit }, after));
    const page = found.slice(0, limit);
    const last = found.length === page.length ? examined : page.at(-1);
    return {
      rows: page.map(({ number: _, ...row }) => row),
      next: last === undefined ? null : encodeCursor(last),
    };
  }

  counts(scope: ExecutionScope): Promise<ExecutionCounts> {
    return this.#read((reads) => reads.counts(scope));
  }

  deleteExecution(executionId: ExecutionId): Promise<boolean> {
    return this.#write('deleteExecution', executionId);
  }

  expired(now: number, limit: number): Promise<readonly string[]> {
    return this.#read((reads) => reads.expired(now, limit));
  }

  stalled(filter: StalledFilter): Promise<readonly StalledRow[]> {
    return this.#read((reads) => reads.stalled(filter));
  }

  reclaimSpace(): Promise<boolean> {
    return this.#write('reclaimSpace');
  }

  send(message: InboxRow, wakeAt: number): Promise<boolean> {
    return this.#write('send', message, wakeAt);
  }

  inbox(executionId: ExecutionId): Promise<readonly InboxRow[]> {
    return this.#read((reads) => reads.inbox(executionId));
  }

  publish(signal: PublishedSignal): Promise<string | undefined> {
    return this.#write('publish', signal);
  }

  forgetSignals(prefix: string): Promise<void> {
    return this.#write('forgetSignals', prefix);
  }

  humanTasks(filter: HumanTaskFilter): Promise<HumanTaskPage> {
    return this.#read((reads) => reads.humanTasks(filter));
  }

  countHumanTasks(scope: HumanTaskScope): Promise<HumanTaskCounts> {
    return this.#read((reads) => reads.countHumanTasks(scope));
  }

  untaskedExecutions(limit: number): Promise<readonly ExecutionId[]> {
    return this.#read((reads) => reads.untaskedExecutions(limit));
  }

  saveHumanTasks(executionId: ExecutionId, seq: number, tasks: readonly HumanTask[]): Promise<boolean> {
    return this.#write('saveHumanTasks', executionId, seq, tasks);
  }

  statistics(filter: StatisticsFilter): Promise<ExecutionStatistics> {
    return this.#readLong('statistics', filter);
  }

  permits(key: string): Promise<readonly PermitRow[]> {
    return this.#read((reads) => reads.permits(key));
  }

  durations(workflowId: WorkflowId): Promise<ReadonlyMap<string, number>> {
    return this.#read((reads) => reads.durations(workflowId));
  }

  cached(key: string, now: number): Promise<CacheRow | undefined> {
    return this.#read((reads) => reads.cached(key, now));
  }

  newestCached(family: string, limit: number): Promise<readonly CacheRow[]> {
    return this.#read((reads) => reads.newestCached(family, limit));
  }

  cachedOutputs(page: CachePage): Promise<readonly CacheRow[]> {
    return this.#read((reads) => reads.cachedOutputs(page));
  }

  forgetCached(which: CacheChoice, limit: number): Promise<readonly string[]> {
    return this.#write('forgetCached', which, limit);
  }

  purgeCache(now: number, limit: number): Promise<readonly string[]> {
    return this.#write('purgeCache', now, limit);
  }

  claimDue(now: number, until: number, owner: string, limit: number, only?: readonly string[]): Promise<DueClaim> {
    return this.#write('claimDue', now, until, owner, limit, only);
  }

  heartbeat(leases: readonly WorkerLease[]): Promise<void> {
    this.#isGone ||= this.#file.isGone();
    return this.#write('heartbeat', leases);
  }

  liveWorkers(workers: readonly string[], now: number): Promise<ReadonlySet<string>> {
    return this.#read((reads) => reads.liveWorkers(workers, now));
  }

  reapWorkers(now: number, except: string, wakeAt: number, processes?: string): Promise<number> {
    return this.#write('reapWorkers', now, except, wakeAt, processes);
  }

  registerWorkflow(row: NewWorkflowVersion): Promise<RegisterOutcome> {
    return this.#write('registerWorkflow', row);
  }

  storeTestVersion(row: TestVersionRow): Promise<void> {
    return this.#write('storeTestVersion', row);
  }

  purgeTestVersions(before: number, limit: number): Promise<number> {
    return this.#write('purgeTestVersions', before, limit);
  }

  workflowVersion(workflowId: WorkflowId, version?: number): Promise<WorkflowVersionRow | undefined> {
    return this.#read((reads) => reads.workflowVersion(workflowId, version));
  }

  workflowSource(workflowId: WorkflowId, version: number): Promise<WorkflowSourceRow | undefined> {
    return this.#read((reads) => reads.workflowSource(workflowId, version));
  }

  recent(workflowIds: readonly WorkflowId[], limit: number): Promise<readonly ExecutionRow[]> {
    return this.#read((reads) => reads.recent(workflowIds, limit));
  }

  workflows(page: WorkflowPage): Promise<readonly WorkflowHead[]> {
    return this.#read((reads) => reads.workflows(page));
  }

  workflowVersions(
    workflowId: WorkflowId,
    page: { readonly after?: number; readonly limit: number },
  ): Promise<readonly WorkflowVersionHead[]> {
    return this.#read((reads) => reads.workflowVersions(workflowId, page));
  }

  watch(onForeignWrite: () => void): () => void {
    const watcher = (): void => onForeignWrite();
    this.#watchers.add(watcher);
    this.#watchTimer ??= this.#pollVersion(this.#reads.dataVersion());
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#stopWatching();
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stopWatching();
    this.#watchers.clear();
    await this.logs.close();
    await this.#checkpointer?.close();
    await this.#longReads.close();
    await this.#commits.close();
    this.#connection.close();
    this.#lock?.release();
  }

  #write<K extends WriteMethod>(method: K, ...args: Parameters<Writes[K]>): Promise<ReturnType<Writes[K]>> {
    if (this.#closing !== undefined) return Promise.reject(closed());
    if (this.#isGone) return Promise.reject(gone(this.#options.path));
    if (this.#options.readonly === true) {
      return Promise.reject(new NebulaError('STORE_READONLY', `${this.#options.path} was opened for reading only.`));
    }
    return this.#commits.call(method, ...args);
  }

  async #readLong<T>(method: 'statistics' | 'search', argument: object): Promise<T> {
    if (this.#closing !== undefined) throw closed();
    if (this.#isGone) throw gone(this.#options.path);
    return this.#longReads.call<T>(method, argument);
  }

  async #read<T>(read: (reads: Reads) => T): Promise<T> {
    if (this.#closing !== undefined) throw closed();
    if (this.#isGone) throw gone(this.#options.path);
    const attempt = (): T => {
      try {
        return read(this.#reads);
      } catch (error) {
        throw explained(error, this.#options.path);
      }
    };
    return patiently(attempt, this.#options.clock, this.#options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS);
  }

  /** Commits of the side thread count as foreign here, which only gives a hint too many. */
  #pollVersion(seen: number): Timer {
    return this.#options.clock.timer(
      WATCH_MS,
      () => {
        this.#isGone ||= this.#file.isGone();
        const now = this.#isGone ? seen : this.#reads.dataVersion();
        if (!this.#isGone) this.#watchTimer = this.#pollVersion(now);
        if (this.#isGone || now !== seen) for (const watcher of [...this.#watchers]) watcher();
      },
      { background: true },
    );
  }

  #stopWatching(): void {
    this.#watchTimer?.cancel();
    this.#watchTimer = undefined;
  }
}

/** Retries, without blocking, while another program holds the lock. */
async function patiently<T>(attempt: () => T, clock: Clock, timeoutMs: number): Promise<T> {
  const deadline = clock.now() + timeoutMs;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      const cause = error instanceof NebulaError ? error.cause : error;
      if (!isBusy(cause) || (error as NebulaError).code === 'STORE_LOCKED' || clock.now() >= deadline) throw error;
    }
    await new Promise<void>((resume) => clock.timer(BUSY_RETRY_MS, resume));
  }
}

function closed(): NebulaError {
  return new NebulaError('STORE_CLOSED', 'The store is closed.');
}

function notTheEngine(): NebulaError {
  return new NebulaError(
    'STORE_NOT_ENGINE',
    'This store was opened to read and to record requests; only an engine appends.',
    { hint: 'Open it with `engine: true`.' },
  );
}
