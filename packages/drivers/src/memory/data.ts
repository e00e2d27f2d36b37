/** The data behind memory stores: it outlives its stores, as a disk outlives its processes. */
import { NebulaError } from '@nebula/core';
import type {
  ExecutionRow,
  FrameRow,
  HumanTask,
  InboxRow,
  SnapshotRow,
  TestVersionRow,
  WorkflowSourceRow,
  WorkflowVersionRow,
} from '@nebula/ports';
import { FINISHED_STATUSES } from '@nebula/ports';
import { MemoryPermits } from './permits.ts';

export interface StoredRun {
  readonly number: number;
  row: ExecutionRow;
  readonly frames: FrameRow[];
  snapshot: SnapshotRow | undefined;
  /** Messages in order of arrival. */
  readonly inbox: Map<string, InboxRow>;
  readonly parent: StoredRun | undefined;
  readonly deletedChildren: Set<string>;
  /** Human tasks by node and event. */
  readonly tasks: Map<string, StoredTask>;
}

/** Its number is its place among tasks of the same time. */
export interface StoredTask extends HumanTask {
  readonly number: number;
}

export interface MemoryData {
  /** Runs in order of creation. */
  readonly runs: Map<string, StoredRun>;
  journal: FrameRow[];
  /** The highest number ever given to a frame or a run. */
  position: number;
  /** The number of human tasks ever stored. */
  tasks: number;
  readonly workers: Map<string, number>;
  /** Versions in order of registration: the newest is last. */
  workflows: WorkflowVersionRow[];
  /** Texts by workflow and version. */
  readonly sources: Map<string, WorkflowSourceRow>;
  /** Definitions of test runs, by workflow and version. */
  readonly testVersions: Map<string, TestVersionRow>;
  readonly permits: MemoryPermits;
  /** Durations by workflow and node. */
  readonly durations: Map<string, Map<string, number>>;
  /** Watchers, each with the store that it belongs to. */
  readonly watchers: Map<() => void, OpenData>;
}

export function memoryData(): MemoryData {
  return {
    runs: new Map(),
    journal: [],
    position: 0,
    tasks: 0,
    workers: new Map(),
    workflows: [],
    sources: new Map(),
    testVersions: new Map(),
    permits: new MemoryPermits(),
    durations: new Map(),
    watchers: new Map(),
  };
}

/** The data as one store opened it. */
export class OpenData {
  readonly #data: MemoryData;
  #closed = false;

  constructor(data: MemoryData) {
    this.#data = data;
  }

  /** Throws once the store is closed. */
  get(): MemoryData {
    if (this.#closed) throw new NebulaError('STORE_CLOSED', 'The store is closed.');
    return this.#data;
  }

  /** Calls the watchers of the other stores. */
  wrote(): void {
    for (const [watcher, owner] of this.#data.watchers) if (owner !== this) watcher();
  }

  /** Puts a message into an inbox and makes the run due. Returns false if there is no such run. */
  deliver(message: InboxRow, wakeAt: number): boolean {
    const run = this.#data.runs.get(message.executionId);
    if (run === undefined) return false;
    if (!run.inbox.has(message.messageId)) run.inbox.set(message.messageId, { ...message });
    run.row = { ...run.row, wakeAt: earlier(run.row.wakeAt, wakeAt) };
    return true;
  }

  watch(onForeignWrite: () => void): () => void {
    const watcher = (): void => onForeignWrite();
    this.#data.watchers.set(watcher, this);
    return () => this.#data.watchers.delete(watcher);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const [watcher, owner] of this.#data.watchers) if (owner === this) this.#data.watchers.delete(watcher);
  }
}

export function isFinished(row: ExecutionRow): boolean {
  return (FINISHED_STATUSES as readonly string[]).includes(row.status);
}

/** The earlier time; null means never. */
export function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
