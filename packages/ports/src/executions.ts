/**
 * The rows of executions: projections of their journals, for lists, retention and wake-ups.
 *
 *  S6 `claimDue` gives a due execution to one caller only, until the time that the caller sets.
 */
import type { ExecutionId, RunStatus, WorkflowId } from '@nebula/core';

/** The status of a run in lists and filters. */
export type ExecutionStatus = RunStatus;

export const FINISHED_STATUSES = ['completed', 'failed', 'cancelled', 'timed-out'] as const;
export const UNFINISHED_STATUSES = ['pending', 'running', 'paused', 'compensating'] as const;

type Listed = (typeof UNFINISHED_STATUSES | typeof FINISHED_STATUSES)[number];

/** Every status. A status that is missing here does not compile. */
export const EXECUTION_STATUSES: readonly (ExecutionStatus extends Listed ? ExecutionStatus : never)[] = [
  ...UNFINISHED_STATUSES,
  ...FINISHED_STATUSES,
];

/** The project of an execution whose creation names none. */
export const DEFAULT_PROJECT = 'default';

export interface ExecutionRow {
  readonly executionId: ExecutionId;
  readonly project: string;
  readonly workflowId: WorkflowId;
  readonly version: number;
  readonly status: ExecutionStatus;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  /**
   * A time not later than the next moment at which the run needs a decision; null if only a stimulus can move the run.
   */
  readonly wakeAt: number | null;
  /** The worker that last created or claimed the execution. */
  readonly owner: string | null;
  /** After this moment a finished run may be deleted; null: it is kept. */
  readonly expiresAt: number | null;
  /** The type of the trigger; null in rows of earlier versions. */
  readonly trigger: string | null;
  /** When the run first left `pending`; null before that, and in rows of earlier versions. */
  readonly startedAt: number | null;
  /** The run that started this one; null if there is none, or it was deleted. */
  readonly parent: ExecutionId | null;
  /** The error of an ended run; null in rows of earlier versions. */
  readonly errorCode: string | null;
  readonly errorNode: string | null;
  readonly errorMessage: string | null;
}

/** The trigger type of a run that a node of another run started. */
export const CHILD_TRIGGER = 'workflow';

export interface NewExecution {
  /** `DEFAULT_PROJECT` if absent; never changes. */
  readonly project?: string;
  readonly workflowId: WorkflowId;
  readonly version: number;
  readonly createdAt: number;
  readonly owner: string | null;
  /**
   * The run that starts this one: of a child, and of a start that came by a message. More than one engine may make such a
   * start; the parent makes sure that the run is created once (S7).
   */
  readonly parent?: ExecutionId;
  /** The type of the trigger. */
  readonly trigger?: string;
}

/** Status, end, error and retention change together. */
export interface StatusChange {
  readonly status: ExecutionStatus;
  readonly finishedAt: number | null;
  readonly expiresAt: number | null;
  /** When the run left `pending`; the first such time stays. */
  readonly startedAt?: number;
  /** The error of the end. */
  readonly error?: StoredError;
}

/** An error in a list. The message is cut by the caller. */
export interface StoredError {
  readonly code: string;
  readonly node: string | null;
  readonly message: string;
}

export interface DueClaim {
  readonly executionIds: readonly ExecutionId[];
  /** The earliest remaining wake time, including claimed executions; null if there is none. */
  readonly nextWakeAt: number | null;
  /** The earliest wake time among the claimed executions; null if none was claimed. */
  readonly dueSince: number | null;
}

/** Selects executions; an absent member matches all. */
export interface ExecutionScope {
  readonly project?: string;
  readonly workflowId?: WorkflowId;
  /** Created at or after this time. */
  readonly since?: number;
  /** Created before this time. */
  readonly until?: number;
}

export interface ExecutionFilter extends ExecutionScope {
  readonly status?: readonly ExecutionStatus[];
  /** The type of the trigger. */
  readonly trigger?: string;
  readonly errorCode?: string;
  /** Children of this execution. */
  readonly parent?: ExecutionId;
  /** Leaves out children. */
  readonly isRoot?: true;
  /**
   * Executions whose id begins with this text; if there are none, those of the workflow with this id. Of more than
   * `MAX_FOUND_IDS` such executions, the first ones by id.
   */
  readonly search?: string;
  /** The order by `createdAt`, then by creation; by default `newest` first. */
  readonly order?: 'newest' | 'oldest';
  /** An opaque cursor, from an earlier page with the same order. */
  readonly cursor?: string;
  readonly limit: number;
}

export const MAX_FOUND_IDS = 1_000;

/**
 * The most executions that a page with a filter by trigger, error code, parent or root examines. A page may therefore be
 * short, or empty, and have a next one.
 */
export const MAX_EXAMINED_PER_PAGE = 5_000;

export interface ExecutionPage {
  readonly rows: readonly ExecutionRow[];
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null;
}

/** Selects executions that should move and do not. */
export interface StalledFilter {
  /** With a wake time not after this one: the run has work, or is overdue. */
  readonly dueBy: number;
  /** With a newest frame from before this time. */
  readonly movedBefore: number;
  readonly limit: number;
}

export interface StalledRow extends ExecutionRow {
  /** The time of the newest frame. */
  readonly movedAt: number;
}

export type ExecutionCounts = Readonly<Record<ExecutionStatus, number>>;

export interface Executions {
  execution(executionId: ExecutionId): Promise<ExecutionRow | undefined>;
  /** The subset of these executions that exists. */
  known(executionIds: readonly ExecutionId[]): Promise<ReadonlySet<ExecutionId>>;
  list(filter: ExecutionFilter): Promise<ExecutionPage>;
  /** The newest executions of each of these workflows, at most `limit` of each, newest first. */
  recent(workflowIds: readonly WorkflowId[], limit: number): Promise<readonly ExecutionRow[]>;
  /** The number of executions of each status. */
  counts(scope: ExecutionScope): Promise<ExecutionCounts>;
  /**
   * Claims up to `limit` executions with wakeAt <= now, earliest first: sets their wakeAt to `until` and their owner.
   * With `only`, no other executions are claimed.
   */
  claimDue(now: number, until: number, owner: string, limit: number, only?: readonly string[]): Promise<DueClaim>;
  /**
   * Deletes a finished execution and everything that belongs to it. Returns false if it is unknown or unfinished. The id
   * of a child is kept as long as its parent exists (S7).
   */
  deleteExecution(executionId: ExecutionId): Promise<boolean>;
  /** Finished executions whose `expiresAt` has passed, oldest first. */
  expired(now: number, limit: number): Promise<readonly string[]>;
  /**
   * Executions that are neither finished nor paused and match the filter, earliest wake time first. A driver may examine
   * the first 10,000 due executions only.
   */
  stalled(filter: StalledFilter): Promise<readonly StalledRow[]>;
  /** Reclaims the disk space of deleted rows, a bounded part per call. Returns true if more is left. */
  reclaimSpace(): Promise<boolean>;
}
