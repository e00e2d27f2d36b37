/**
 * The journal: frames of all executions in one order, and everything that changes together with a frame.
 * Drivers see encoded rows only; the meaning of the entries is known above this port.
 *
 * Every driver guarantees:
 *  S1 `append` is all or nothing per write, and durable when its promise resolves (unless the driver is set to `relaxed`).
 *  S2 (executionId, seq) is unique. A second frame with the same seq is a conflict, and a conflict fails only its own write.
 *  S3 The seqs of an execution are dense from 1. A frame whose predecessor is missing is a conflict.
 *  S4 Positions grow in commit order: a reader that has seen position p never sees a new frame at or before p.
 *  S5 Everything named in one write changes together with its frame, or not at all.
 *  S7 A child is created once. The store keeps the ids of deleted children as long as their parent, and creates neither
 *     such a child nor one whose parent does not exist, also if the deletion is committed while the creation is under
 *     way.
 *
 * For a store across a network: `append` takes one round trip per turn, and so does `load` per run that is read.
 */
import type { ExecutionId } from '@nebula/core';
import type { CacheRow } from './cache.ts';
import type { DurationRow } from './definitions.ts';
import type { ExecutionRow, NewExecution, StatusChange } from './executions.ts';
import type { HumanTaskChanges } from './human-tasks.ts';
import type { InboxRow, OutgoingRow, SubscriptionChanges } from './inbox.ts';
import type { PermitChanges, PermitHolder } from './permits.ts';
import type { Position } from './position.ts';

/** One execution's part of an `append`. Parts that are left out change nothing. */
export interface Write {
  readonly executionId: ExecutionId;
  /** Creates the execution; a conflict if the id exists, or is that of a deleted child. Every other write needs an existing execution. */
  readonly create?: NewExecution;
  /** The fence of the write: refused if another frame has its seq. Without a frame only the row changes. */
  readonly frame?: StoredFrame;
  readonly status?: StatusChange;
  /** The version of its workflow with which the execution continues. */
  readonly version?: number;
  /** Null: only a stimulus can move the run. */
  readonly wakeAt?: number | null;
  /** Ids of inbox messages of this execution that the frame has journalled; deleted with it. */
  readonly taken?: readonly string[];
  /** Messages to other executions. Those to executions that do not exist are dropped. */
  readonly sends?: readonly OutgoingRow[];
  readonly permits?: PermitChanges;
  readonly subscriptions?: SubscriptionChanges;
  readonly humanTasks?: HumanTaskChanges;
  /** Outputs that other runs may reuse; a newer output replaces an older one with the same key. */
  readonly cache?: readonly CacheRow[];
  /** Measured durations of nodes; each replaces the known one. */
  readonly durations?: readonly DurationRow[];
}

export type WriteOutcome =
  /** `rates`: the granted moments, in the order of the requests. */
  | { readonly ok: true; readonly rates?: readonly number[] }
  /**
   * `heldBy`: the holder of a permit that the write requires. `isGone`: the child that the write would create, or its
   * parent, was deleted.
   */
  | { readonly ok: false; readonly heldBy?: PermitHolder; readonly isGone?: true };

export interface StoredFrame {
  readonly seq: number;
  readonly at: number;
  readonly entries: string;
}

export interface FrameRow extends StoredFrame {
  readonly executionId: ExecutionId;
  readonly position: Position;
}

export interface SnapshotRow {
  readonly seq: number;
  readonly state: string;
}

/** The part of a journal that `load` reads. */
export interface LoadRange {
  /** Only frames above this seq, and no snapshot. If absent: the newest snapshot, and the frames from it on. */
  readonly after?: number;
  /** No frame and no snapshot above this seq. */
  readonly upTo?: number;
}

/** An execution at one moment: the row, the journal and the inbox belong together. */
export interface LoadedExecution {
  readonly row: ExecutionRow;
  readonly snapshot: SnapshotRow | undefined;
  /** Frames in order. After a snapshot they begin with its own frame, whose time the state needs. */
  readonly frames: readonly StoredFrame[];
  readonly inbox: readonly InboxRow[];
}

export interface FeedPage {
  /** Frames after this position; with `inclusive` also the frame at it. */
  readonly after: Position;
  readonly inclusive?: boolean;
  readonly limit: number;
}

export interface Journal {
  append(writes: readonly Write[]): Promise<readonly WriteOutcome[]>;
  /** Everything needed to continue an execution, in one round trip. Undefined if there is none. */
  load(executionId: ExecutionId, range?: LoadRange): Promise<LoadedExecution | undefined>;
  /** Frames with seq above `afterSeq`, in order: the first `limit` of them, or all. */
  frames(executionId: ExecutionId, afterSeq: number, limit?: number): Promise<readonly FrameRow[]>;
  /** The last `limit` frames with seq below `beforeSeq`, the newest first. */
  framesBefore(executionId: ExecutionId, beforeSeq: number, limit: number): Promise<readonly FrameRow[]>;
  /** The newest seq of each of these executions; those that do not exist are left out. */
  heads(executionIds: readonly ExecutionId[]): Promise<ReadonlyMap<ExecutionId, number>>;
  /** Frames of all executions in commit order: the source of live feeds. */
  feed(page: FeedPage): Promise<readonly FrameRow[]>;
  /** The position after which the feed has nothing yet; `FEED_START` in an empty store. */
  lastPosition(): Promise<Position>;
  /** Keeps the snapshot with the highest seq. */
  saveSnapshot(executionId: ExecutionId, snapshot: SnapshotRow): Promise<void>;
}
