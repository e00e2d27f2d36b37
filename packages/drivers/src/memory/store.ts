/**
 * The reference store: the shortest that keeps every promise of the port. Scans where others have indexes.
 * The data outlives its stores, as a disk outlives its processes: `memoryStore({ data })` opens it again,
 * and several stores on the same data see each other as processes would.
 */
import { NebulaError } from '@nebula/core';
import {
  type CacheChoice,
  type CachePage,
  type CachePlace,
  type CacheRow,
  DEFAULT_PROJECT,
  type DueClaim,
  EXECUTION_STATUSES,
  type ExecutionCounts,
  type ExecutionFilter,
  type ExecutionRow,
  type ExecutionScope,
  FINISHED_STATUSES,
  type FrameRow,
  type InboxRow,
  type PermitRow,
  type PublishedSignal,
  type RegisterOutcome,
  type SnapshotRow,
  type Store,
  type WorkflowHead,
  type WorkflowVersionHead,
  type WorkflowVersionRow,
  type Write,
  type WriteOutcome,
} from '@nebula/ports';
import { decodeCursor, type ExecutionPlace, encodeCursor } from './cursor.ts';
import { byCodePoints } from './order.ts';
import { MemoryPermits } from './permits.ts';

interface Run {
  readonly number: number;
  row: ExecutionRow;
  readonly frames: FrameRow[];
  snapshot: SnapshotRow | undefined;
  /** In order of arrival. */
  readonly inbox: Map<string, InboxRow>;
}

export interface MemoryData {
  /** In order of creation. */
  readonly runs: Map<string, Run>;
  journal: FrameRow[];
  /** The highest number ever given to a frame or a run. */
  position: number;
  readonly workers: Map<string, number>;
  /** In the order in which they were registered, last. */
  workflows: WorkflowVersionRow[];
  readonly permits: MemoryPermits;
  /** By workflow and node. */
  readonly durations: Map<string, Map<string, number>>;
  readonly watchers: Map<() => void, Store>;
}

export function memoryData(): MemoryData {
  return {
    runs: new Map(),
    journal: [],
    position: 0,
    workers: new Map(),
    workflows: [],
    permits: new MemoryPermits(),
    durations: new Map(),
    watchers: new Map(),
  };
}

export interface MemoryStoreOptions {
  readonly data?: MemoryData;
  /** False where several engines share the data. */
  readonly exclusive?: boolean;
}

export function memoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options.data ?? memoryData(), options.exclusive ?? true);
}

class MemoryStore implements Store {
  readonly exclusive: boolean;
  readonly #data: MemoryData;
  #closed = false;

  constructor(data: MemoryData, exclusive: boolean) {
    this.#data = data;
    this.exclusive = exclusive;
  }

  async append(writes: readonly Write[]): Promise<readonly WriteOutcome[]> {
    this.#open();
    const outcomes = writes.map((write) => this.#write(write));
    this.#wrote();
    return outcomes;
  }

  #write(write: Write): WriteOutcome {
    const data = this.#data;
    const known = data.runs.get(write.executionId);
    const conflict = (write.create === undefined) === (known === undefined);
    if (conflict || (write.frame !== undefined && write.frame.seq !== (known?.frames.length ?? 0) + 1)) {
      return { ok: false };
    }
    const heldBy = write.permits && data.permits.inTheWay(write.executionId, write.permits);
    if (heldBy !== undefined) return { ok: false, heldBy };
    if (write.create !== undefined || write.frame !== undefined) data.position++;
    const run = known ?? newRun(write, data.position);
    data.runs.set(write.executionId, run);
    if (write.frame !== undefined) {
      const frame = { executionId: write.executionId, ...write.frame, position: data.position };
      run.frames.push(frame);
      data.journal.push(frame);
    }
    for (const messageId of write.taken ?? []) run.inbox.delete(messageId);
    run.row = changed(run.row, write, run.inbox.size > 0);
    for (const { wakeAt, ...message } of write.sends ?? []) this.#deliver(message, wakeAt);
    for (const row of write.cache ?? []) data.permits.cache.set(row.key, { ...row });
    for (const { workflowId, node, ms } of write.durations ?? []) {
      const known = data.durations.get(workflowId) ?? new Map<string, number>();
      data.durations.set(workflowId, known.set(node, ms));
    }
    const deliver = (message: InboxRow, at: number): void => void this.#deliver(message, at);
    if (write.listeners !== undefined) data.permits.listen(write.executionId, write.listeners, deliver);
    if (write.permits === undefined) return { ok: true, position: data.position };
    const rates = data.permits.change(write.executionId, write.permits, deliver);
    return { ok: true, position: data.position, ...(rates.length === 0 ? {} : { rates }) };
  }

  async frames(executionId: string, afterSeq: number): Promise<readonly FrameRow[]> {
    return this.#open().runs.get(executionId)?.frames.slice(Math.max(0, afterSeq)) ?? [];
  }

  async feed(afterPosition: number, limit: number): Promise<readonly FrameRow[]> {
    const { journal } = this.#open();
    const from = journal.findLastIndex((frame) => frame.position <= afterPosition) + 1;
    return journal.slice(from, from + limit);
  }

  async lastPosition(): Promise<number> {
    return this.#open().journal.at(-1)?.position ?? 0;
  }

  async snapshot(executionId: string): Promise<SnapshotRow | undefined> {
    return this.#open().runs.get(executionId)?.snapshot;
  }

  async saveSnapshot(executionId: string, snapshot: SnapshotRow): Promise<void> {
    const run = this.#open().runs.get(executionId);
    if (run !== undefined && snapshot.seq > (run.snapshot?.seq ?? 0)) run.snapshot = { ...snapshot };
  }

  async execution(executionId: string): Promise<ExecutionRow | undefined> {
    return this.#open().runs.get(executionId)?.row;
  }

  async known(executionIds: readonly string[]): Promise<ReadonlySet<string>> {
    const { runs } = this.#open();
    return new Set(executionIds.filter((executionId) => runs.has(executionId)));
  }

  async list(
    filter: ExecutionFilter,
  ): Promise<{ readonly rows: readonly ExecutionRow[]; readonly next: string | null }> {
    const { status, order, cursor } = filter;
    const place = cursor === undefined ? undefined : decodeCursor(cursor);
    const sign = order === 'oldest' ? 1 : -1;
    const runs = this.#within(filter)
      .filter(({ row }) => status === undefined || status.includes(row.status))
      .map((run) => ({ row: run.row, number: run.number, createdAt: run.row.createdAt }))
      .filter((run) => place === undefined || sign * inTime(run, place) > 0)
      .sort((a, b) => sign * inTime(a, b));
    const page = runs.slice(0, Math.max(1, filter.limit));
    const last = page.at(-1);
    return {
      rows: page.map((run) => run.row),
      next: last === undefined || runs.length === page.length ? null : encodeCursor(last),
    };
  }

  async counts(scope: ExecutionScope): Promise<ExecutionCounts> {
    const counts = Object.fromEntries(EXECUTION_STATUSES.map((status) => [status, 0])) as Record<string, number>;
    for (const { row } of this.#within(scope)) counts[row.status] = (counts[row.status] ?? 0) + 1;
    return counts as ExecutionCounts;
  }

  #within({ project, workflowId, since, until }: ExecutionScope): readonly Run[] {
    return [...this.#open().runs.values()]
      .filter(({ row }) => project === undefined || row.project === project)
      .filter(({ row }) => workflowId === undefined || row.workflowId === workflowId)
      .filter(({ row }) => row.createdAt >= (since ?? Number.NEGATIVE_INFINITY))
      .filter(({ row }) => row.createdAt < (until ?? Number.POSITIVE_INFINITY));
  }

  async deleteExecution(executionId: string): Promise<boolean> {
    const data = this.#open();
    const run = data.runs.get(executionId);
    if (run === undefined || !isFinished(run.row)) return false;
    data.runs.delete(executionId);
    data.permits.forget(executionId);
    data.journal = data.journal.filter((frame) => frame.executionId !== executionId);
    this.#wrote();
    return true;
  }

  async expired(now: number, limit: number): Promise<readonly string[]> {
    return [...this.#open().runs.values()]
      .map((run) => run.row)
      .filter((row) => isFinished(row) && row.expiresAt !== null && row.expiresAt <= now)
      .sort((a, b) => (a.expiresAt as number) - (b.expiresAt as number))
      .slice(0, limit)
      .map((row) => row.executionId);
  }

  async reclaimSpace(): Promise<boolean> {
    this.#open();
    return false;
  }

  async send(message: InboxRow, wakeAt: number): Promise<boolean> {
    this.#open();
    const isKnown = this.#deliver(message, wakeAt);
    if (isKnown) this.#wrote();
    return isKnown;
  }

  #deliver(message: InboxRow, wakeAt: number): boolean {
    const run = this.#data.runs.get(message.executionId);
    if (run === undefined) return false;
    if (!run.inbox.has(message.messageId)) run.inbox.set(message.messageId, { ...message });
    run.row = { ...run.row, wakeAt: earlier(run.row.wakeAt, wakeAt) };
    return true;
  }

  async inbox(executionId: string): Promise<readonly InboxRow[]> {
    return [...(this.#open().runs.get(executionId)?.inbox.values() ?? [])];
  }

  async publish(signal: PublishedSignal): Promise<string | undefined> {
    const executionId = this.#open().permits.publish(signal, (message, at) => this.#deliver(message, at));
    this.#wrote();
    return executionId;
  }

  async permits(key: string): Promise<readonly PermitRow[]> {
    return this.#open().permits.rows(key);
  }

  async durations(workflowId: string): Promise<ReadonlyMap<string, number>> {
    return new Map(this.#open().durations.get(workflowId));
  }

  async cached(key: string, now: number): Promise<CacheRow | undefined> {
    const row = this.#open().permits.cache.get(key);
    return row === undefined || isExpired(row, now) ? undefined : row;
  }

  async newestCached(family: string, limit: number): Promise<readonly CacheRow[]> {
    const rows = [...this.#open().permits.cache.values()].filter((row) => row.family === family);
    return rows.sort((a, b) => b.at - a.at).slice(0, limit);
  }

  async cachedOutputs({ prefix, after, limit }: CachePage): Promise<readonly CacheRow[]> {
    return [...this.#open().permits.cache.values()]
      .filter((row) => row.family.startsWith(prefix) && (after === undefined || inOrder(row, after) > 0))
      .sort(inOrder)
      .slice(0, Math.max(0, limit));
  }

  async forgetCached(which: CacheChoice, limit: number): Promise<readonly string[]> {
    const { cache } = this.#open().permits;
    if ('key' in which) return cache.delete(which.key) ? [which.key] : [];
    const gone = await this.cachedOutputs({ ...which, limit });
    for (const { key } of gone) cache.delete(key);
    return gone.map(({ key }) => key);
  }

  async purgeCache(now: number, limit: number): Promise<readonly string[]> {
    const { cache } = this.#open().permits;
    const gone = [...cache.values()].filter((row) => isExpired(row, now)).slice(0, limit);
    for (const { key } of gone) cache.delete(key);
    return gone.map(({ key }) => key);
  }

  async claimDue(
    now: number,
    until: number,
    owner: string,
    limit: number,
    only?: readonly string[],
  ): Promise<DueClaim> {
    const all = [...this.#open().runs.values()];
    const runs = only === undefined ? all : all.filter((run) => only.includes(run.row.executionId));
    const due = runs
      .filter((run) => run.row.wakeAt !== null && run.row.wakeAt <= now)
      .sort((a, b) => (a.row.wakeAt as number) - (b.row.wakeAt as number) || a.number - b.number)
      .slice(0, limit);
    const dueSince = due[0]?.row.wakeAt ?? null;
    for (const run of due) run.row = { ...run.row, wakeAt: until, owner };
    if (due.length > 0) this.#wrote();
    const nextWakeAt = runs.reduce<number | null>((next, run) => earlier(next, run.row.wakeAt), null);
    return { executionIds: due.map((run) => run.row.executionId), nextWakeAt, dueSince };
  }

  async heartbeat(worker: string, expiresAt: number): Promise<void> {
    this.#open().workers.set(worker, expiresAt);
  }

  async liveWorkers(workers: readonly string[], now: number): Promise<ReadonlySet<string>> {
    const leases = this.#open().workers;
    return new Set(workers.filter((worker) => (leases.get(worker) ?? Number.NEGATIVE_INFINITY) > now));
  }

  async reapWorkers(now: number, except: string, wakeAt: number, processes?: string): Promise<number> {
    const { workers, runs } = this.#open();
    const isGone = (worker: string, lease: number): boolean =>
      lease <= now || (processes !== undefined && worker.startsWith(processes));
    const gone = [...workers].filter(([worker, lease]) => worker !== except && isGone(worker, lease));
    const dead = new Set(gone.map(([worker]) => worker));
    for (const run of runs.values()) {
      const { owner } = run.row;
      if (owner === null || owner === except || isFinished(run.row)) continue;
      if (processes !== undefined || dead.has(owner)) run.row = { ...run.row, wakeAt: earlier(run.row.wakeAt, wakeAt) };
    }
    for (const worker of dead) workers.delete(worker);
    this.#wrote();
    return dead.size;
  }

  async registerWorkflow(
    row: Omit<WorkflowVersionRow, 'version'> & { readonly version?: number },
  ): Promise<RegisterOutcome> {
    const data = this.#open();
    const versions = data.workflows.filter((other) => other.workflowId === row.workflowId);
    const same = versions.find((other) => other.hash === row.hash);
    if (same !== undefined) {
      if (same !== versions.at(-1)) {
        data.workflows = [...data.workflows.filter((other) => other !== same), same];
        this.#wrote();
      }
      return { ok: true, version: same.version, created: false };
    }
    const version = row.version ?? 1 + Math.max(0, ...versions.map((other) => other.version));
    if (versions.some((other) => other.version === version)) return { ok: false, reason: 'version-taken' };
    this.#data.workflows.push({ ...row, version });
    this.#wrote();
    return { ok: true, version, created: true };
  }

  async workflowVersion(workflowId: string, version?: number): Promise<WorkflowVersionRow | undefined> {
    return this.#open().workflows.findLast(
      (row) => row.workflowId === workflowId && (version === undefined || row.version === version),
    );
  }

  async workflows(page: { readonly after?: string; readonly limit: number }): Promise<readonly WorkflowHead[]> {
    const { after, limit } = page;
    const byId = Map.groupBy(this.#open().workflows, (row) => row.workflowId);
    return [...byId.entries()]
      .filter(([workflowId]) => after === undefined || byCodePoints(workflowId, after) > 0)
      .sort(([a], [b]) => byCodePoints(a, b))
      .slice(0, Math.max(0, limit))
      .map(([workflowId, rows]) => {
        const newest = rows.reduce((a, b) => (b.version > a.version ? b : a));
        return { workflowId, version: newest.version, versions: rows.length, createdAt: newest.createdAt };
      });
  }

  async workflowVersions(
    workflowId: string,
    page: { readonly after?: number; readonly limit: number },
  ): Promise<readonly WorkflowVersionHead[]> {
    return this.#open()
      .workflows.filter((row) => row.workflowId === workflowId)
      .filter((row) => row.version < (page.after ?? Number.POSITIVE_INFINITY))
      .sort((a, b) => b.version - a.version)
      .slice(0, Math.max(0, page.limit))
      .map(({ definition: _, ...head }) => head);
  }

  watch(onForeignWrite: () => void): () => void {
    const watcher = (): void => onForeignWrite();
    this.#data.watchers.set(watcher, this);
    return () => this.#data.watchers.delete(watcher);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const [watcher, store] of this.#data.watchers) if (store === this) this.#data.watchers.delete(watcher);
  }

  #open(): MemoryData {
    if (this.#closed) throw new NebulaError('STORE_CLOSED', 'The store is closed.');
    return this.#data;
  }

  #wrote(): void {
    for (const [watcher, store] of this.#data.watchers) if (store !== this) watcher();
  }
}

function newRun(write: Write, number: number): Run {
  const { executionId, create } = write;
  if (create === undefined) throw new Error('invariant broken: a run without its creation');
  const row: ExecutionRow = {
    executionId,
    project: create.project ?? DEFAULT_PROJECT,
    workflowId: create.workflowId,
    version: create.version,
    status: 'pending',
    createdAt: create.createdAt,
    finishedAt: null,
    wakeAt: null,
    owner: create.owner,
    expiresAt: null,
  };
  return { number, row, frames: [], snapshot: undefined, inbox: new Map() };
}

function changed(row: ExecutionRow, write: Write, messagesWait: boolean): ExecutionRow {
  const { status = row.status, finishedAt = row.finishedAt, expiresAt = row.expiresAt, wakeAt = row.wakeAt } = write;
  // A message came while this write was decided: its wake-up must not be lost.
  return { ...row, status, finishedAt, expiresAt, wakeAt: messagesWait ? earlier(row.wakeAt, wakeAt) : wakeAt };
}

/** By time, then in the order of creation. */
function inTime(a: ExecutionPlace, b: ExecutionPlace): number {
  return a.createdAt - b.createdAt || a.number - b.number;
}

function isFinished(row: ExecutionRow): boolean {
  return (FINISHED_STATUSES as readonly string[]).includes(row.status);
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

function isExpired({ expiresAt }: CacheRow, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function inOrder(a: CachePlace, b: CachePlace): number {
  return byCodePoints(a.family, b.family) || a.at - b.at || byCodePoints(a.key, b.key);
}
