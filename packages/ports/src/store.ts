/**
 * The store: journals of executions, and the few small tables shared between executions.
 * Drivers see encoded rows only; what the entries mean is known above this port.
 *
 * What every driver promises:
 *  S1 `append` is all or nothing per write, and durable when its promise resolves (unless the driver is told `relaxed`).
 *  S2 (executionId, seq) is unique: the second frame with the same seq is a conflict, and a conflict fails only its own write.
 *  S3 Seqs of an execution are dense from 1: a frame whose predecessor is missing is a conflict.
 *  S4 Positions grow in commit order; a reader who has seen position p will never see a new frame at or below p.
 *  S5 Everything named in one write changes together with its frame, or not at all.
 *  S6 `claimDue` gives a due execution to one caller only, until the time that it sets.
 */
import type { RunStatus } from '@nebula/core';
import type {
  CacheChoice,
  CachePage,
  CacheRow,
  ListenerChanges,
  PermitChanges,
  PermitRow,
  PlaceHolder,
  PublishedSignal,
} from './permits.ts';

/** Where a run stands, as lists and filters see it. */
export type ExecutionStatus = RunStatus;

export const FINISHED_STATUSES = ['completed', 'failed', 'cancelled', 'timed-out'] as const;
export const UNFINISHED_STATUSES = ['pending', 'running', 'paused', 'compensating'] as const;

type Listed = (typeof UNFINISHED_STATUSES | typeof FINISHED_STATUSES)[number];

/** All of them: lists are put together from those of each status. A status that is missing here does not compile. */
export const EXECUTION_STATUSES: readonly (ExecutionStatus extends Listed ? ExecutionStatus : never)[] = [
  ...UNFINISHED_STATUSES,
  ...FINISHED_STATUSES,
];

/** Where an execution belongs when nobody said otherwise. */
export const DEFAULT_PROJECT = 'default';

/** The row of an execution: a projection of its journal, and its wake time. */
export interface ExecutionRow {
  readonly executionId: string;
  readonly project: string;
  readonly workflowId: string;
  readonly version: number;
  readonly status: ExecutionStatus;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  /** Never later than the next moment at which something must be done; null when only a stimulus can move the run. */
  readonly wakeAt: number | null;
  /** The worker that last created or claimed it. */
  readonly owner: string | null;
  /** After this moment a finished run may be deleted; null: kept for ever. */
  readonly expiresAt: number | null;
}

export interface NewExecution {
  /** `DEFAULT_PROJECT` unless told; never changed. */
  readonly project?: string;
  readonly workflowId: string;
  readonly version: number;
  readonly createdAt: number;
  readonly owner: string | null;
}

/** A message for a run: cancel, settle, retry; later signals, approvals, child results. */
export interface InboxRow {
  /** Makes delivery idempotent: the same id is one message. */
  readonly messageId: string;
  readonly executionId: string;
  readonly body: string;
}

/** One execution's part of an `append`. Without `entries` only its row changes. */
export interface Write {
  readonly executionId: string;
  /** Present for the first frame: creates the execution. The same id again is a conflict. */
  readonly create?: NewExecution;
  readonly frame?: { readonly seq: number; readonly at: number; readonly entries: string };
  /** Left out: unchanged. */
  readonly status?: ExecutionStatus;
  readonly finishedAt?: number | null;
  readonly expiresAt?: number | null;
  readonly wakeAt?: number | null;
  /** Inbox messages of this execution that the frame has journalled: deleted with it. */
  readonly taken?: readonly string[];
  /** Messages to other executions, put into their inboxes with the frame; those to executions that are gone are dropped. */
  readonly sends?: readonly OutgoingRow[];
  readonly permits?: PermitChanges;
  readonly listeners?: ListenerChanges;
  /** Outputs that others may use again; a newer one takes the place of an older one with the same key. */
  readonly cache?: readonly CacheRow[];
  /** How long nodes take, as far as is known: takes the place of what was known before. */
  readonly durations?: readonly DurationRow[];
}

/** How long a node of a workflow takes. */
export interface DurationRow {
  readonly workflowId: string;
  /** Its path without the numbers of rounds. */
  readonly node: string;
  readonly ms: number;
}

/** A message that makes the run that it is for due at `wakeAt`. */
export interface OutgoingRow extends InboxRow {
  readonly wakeAt: number;
}

export type WriteOutcome =
  /** `rates`: the moments that were given, in the order of asking. */
  | { readonly ok: true; readonly position: number; readonly rates?: readonly number[] }
  /** `heldBy`: refused since it requires a place that somebody has. */
  | { readonly ok: false; readonly heldBy?: PlaceHolder };

export interface FrameRow {
  readonly executionId: string;
  readonly seq: number;
  readonly at: number;
  readonly position: number;
  readonly entries: string;
}

export interface SnapshotRow {
  readonly seq: number;
  readonly state: string;
}

export interface DueClaim {
  readonly executionIds: readonly string[];
  /** The earliest wake time that is left, claimed ones included; null when there is none. */
  readonly nextWakeAt: number | null;
  /** Of those that were taken, the earliest wake time: since then something has been due. Null when none was. */
  readonly dueSince: number | null;
}

/** Which executions; what is left out does not matter. */
export interface ExecutionScope {
  readonly project?: string;
  readonly workflowId?: string;
  /** Created at or after. */
  readonly since?: number;
  /** Created before. */
  readonly until?: number;
}

export interface ExecutionFilter extends ExecutionScope {
  readonly status?: readonly ExecutionStatus[];
  /** By `createdAt`, then by the order of creation; `newest` first unless told. */
  readonly order?: 'newest' | 'oldest';
  /** From an earlier page with the same order. Opaque. */
  readonly cursor?: string;
  readonly limit: number;
}

export type ExecutionCounts = Readonly<Record<ExecutionStatus, number>>;

export interface WorkflowVersionRow {
  readonly workflowId: string;
  readonly version: number;
  /** SHA-256 of the canonical definition. */
  readonly hash: string;
  readonly definition: string;
  readonly createdAt: number;
}

/** A version without its text. */
export type WorkflowVersionHead = Omit<WorkflowVersionRow, 'definition'>;

/** What lists of workflows show. */
export interface WorkflowHead {
  readonly workflowId: string;
  /** The newest. */
  readonly version: number;
  readonly versions: number;
  /** Of the newest version. */
  readonly createdAt: number;
}

export type RegisterOutcome =
  | { readonly ok: true; readonly version: number; readonly created: boolean }
  | { readonly ok: false; readonly reason: 'version-taken' };

/** The code of the error with which a store refuses everything once its data is gone: trying again will not help. */
export const STORE_GONE = 'STORE_GONE';

export interface Store {
  /** True when no other engine can be on this store: whatever an earlier worker held is free at once. */
  readonly exclusive: boolean;

  append(writes: readonly Write[]): Promise<readonly WriteOutcome[]>;

  /** Frames with seq above `afterSeq`, in order. */
  frames(executionId: string, afterSeq: number): Promise<readonly FrameRow[]>;
  /** Frames of all executions above a position, in commit order: the source of live feeds. */
  feed(afterPosition: number, limit: number): Promise<readonly FrameRow[]>;
  /** That of the newest frame that is there; 0 when there is none. */
  lastPosition(): Promise<number>;
  snapshot(executionId: string): Promise<SnapshotRow | undefined>;
  saveSnapshot(executionId: string, snapshot: SnapshotRow): Promise<void>;

  execution(executionId: string): Promise<ExecutionRow | undefined>;
  /** Of the given executions, those that exist. */
  known(executionIds: readonly string[]): Promise<ReadonlySet<string>>;
  list(filter: ExecutionFilter): Promise<{ readonly rows: readonly ExecutionRow[]; readonly next: string | null }>;
  /** How many there are of each status. */
  counts(scope: ExecutionScope): Promise<ExecutionCounts>;
  /** Removes a finished execution and all that belongs to it; false when it is unknown or unfinished. */
  deleteExecution(executionId: string): Promise<boolean>;
  /** Finished executions whose `expiresAt` has passed, oldest first. */
  expired(now: number, limit: number): Promise<readonly string[]>;
  /** Gives the disk space of deleted rows back, a bounded piece per call; true when more is left. */
  reclaimSpace(): Promise<boolean>;

  /** Puts a message into a run's inbox and makes the run due at `wakeAt`; false when there is no such execution. */
  send(message: InboxRow, wakeAt: number): Promise<boolean>;
  inbox(executionId: string): Promise<readonly InboxRow[]>;

  /** Gives a signal to one listener and tells which, or keeps it. The same message id is the same signal. */
  publish(signal: PublishedSignal): Promise<string | undefined>;

  /** Those who hold a key, and those who wait for it, in the order in which they are granted. */
  permits(key: string): Promise<readonly PermitRow[]>;

  /** How long the nodes of a workflow take, by node. */
  durations(workflowId: string): Promise<ReadonlyMap<string, number>>;

  /** Undefined when there is none, or it has expired. */
  cached(key: string, now: number): Promise<CacheRow | undefined>;
  /** The newest of a family, expired or not, the newest first. */
  newestCached(family: string, limit: number): Promise<readonly CacheRow[]>;
  /** Those that are there, expired or not, by family, then by time. */
  cachedOutputs(page: CachePage): Promise<readonly CacheRow[]>;
  /** Forgets outputs, a bounded number; returns the keys that are gone. */
  forgetCached(which: CacheChoice, limit: number): Promise<readonly string[]>;
  /** Forgets what has expired, a bounded number; returns the keys that are gone. */
  purgeCache(now: number, limit: number): Promise<readonly string[]>;

  /**
   * Takes up to `limit` executions with wakeAt <= now, earliest first; sets their wakeAt to `until` and their owner.
   * With `only`, no others are looked at.
   */
  claimDue(now: number, until: number, owner: string, limit: number, only?: readonly string[]): Promise<DueClaim>;

  /** One lease per worker process, and one per attempt that a worker outside has. */
  heartbeat(worker: string, expiresAt: number): Promise<void>;
  /** Of the given workers, those whose lease is good at `now`. */
  liveWorkers(workers: readonly string[], now: number): Promise<ReadonlySet<string>>;
  /**
   * Forgets workers whose lease has passed, but never `except`, and makes all unfinished executions that they owned due
   * at `wakeAt`. Returns how many workers went. With `processes` those whose name begins so go, too, whatever their
   * lease says, and every owner but `except` counts as gone: for an engine that knows that it is alone.
   */
  reapWorkers(now: number, except: string, wakeAt: number, processes?: string): Promise<number>;

  /** The same hash is the same version, and the newest again; without `version` the next free one is taken. */
  registerWorkflow(row: Omit<WorkflowVersionRow, 'version'> & { readonly version?: number }): Promise<RegisterOutcome>;
  /** Without `version`, the newest: the one that was registered last. */
  workflowVersion(workflowId: string, version?: number): Promise<WorkflowVersionRow | undefined>;
  /** In order of id, beyond `after`. */
  workflows(page: { readonly after?: string; readonly limit: number }): Promise<readonly WorkflowHead[]>;
  /** Newest first, below `after`. */
  workflowVersions(
    workflowId: string,
    page: { readonly after?: number; readonly limit: number },
  ): Promise<readonly WorkflowVersionHead[]>;

  /** Hints that someone outside this process wrote. May call back too often, never too rarely. Returns the way to stop. */
  watch(onForeignWrite: () => void): () => void;

  close(): Promise<void>;
}
