/**
 * Human tasks: what waits for a person in all runs. A projection of the journals, like the rows of executions, so that a
 * list of it reads no journal.
 *
 *  H1 A run's human tasks change with its frames (S5). A frame in which no node begins or ends to wait changes none.
 *  H2 A run that has ended has none.
 */
import type { ExecutionId, NodePath, WorkflowId } from '@nebula/core';

export const HUMAN_TASK_KINDS = ['approval', 'unknown', 'signal', 'callback'] as const;

/** `unknown`: the outcome of an attempt has to be settled. */
export type HumanTaskKind = (typeof HUMAN_TASK_KINDS)[number];

/** A node waits for this from now on. A node that waits for several events has one task for each of them. */
export interface HumanTask {
  readonly node: NodePath;
  /** Tells the events of one node apart. */
  readonly event: string;
  readonly kind: HumanTaskKind;
  /** The time since which the node waits. */
  readonly since: number;
  /** The time at which the wait fails; null: never. */
  readonly deadline: number | null;
  /** JSON text, whose meaning is known above this port. */
  readonly details: string;
}

export interface HumanTaskRow extends HumanTask {
  readonly executionId: ExecutionId;
  readonly project: string;
  readonly workflowId: WorkflowId;
}

/** Part of a write. A task with the node and event of a known one replaces it and keeps its place in lists. */
export interface HumanTaskChanges {
  /** The run has no other tasks than those in `add`. */
  readonly isAll?: true;
  readonly add?: readonly HumanTask[];
  /** Nodes that do not wait any more. */
  readonly remove?: readonly NodePath[];
}

/** Selects human tasks; an absent member matches all. */
export interface HumanTaskScope {
  readonly projects?: readonly string[];
  readonly workflowId?: WorkflowId;
  readonly kinds?: readonly HumanTaskKind[];
}

export interface HumanTaskFilter extends HumanTaskScope {
  /** By default `newest` first. `deadline`: the earliest deadline first, then tasks without one. */
  readonly order?: 'newest' | 'deadline';
  /** An opaque cursor, from an earlier page with the same order. */
  readonly cursor?: string;
  readonly limit: number;
}

export interface HumanTaskPage {
  readonly rows: readonly HumanTaskRow[];
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null;
}

export type HumanTaskCounts = Readonly<Record<HumanTaskKind, number>>;

/** A count stops here: at this number it means "at least". */
export const MAX_COUNTED_TASKS = 10_000;

export interface HumanTasks {
  humanTasks(filter: HumanTaskFilter): Promise<HumanTaskPage>;
  /** The number of human tasks of each kind, each counted up to `MAX_COUNTED_TASKS`. */
  countHumanTasks(scope: HumanTaskScope): Promise<HumanTaskCounts>;
  /** Unfinished executions of data from before there were human tasks, whose tasks are not stored yet. */
  untaskedExecutions(limit: number): Promise<readonly ExecutionId[]>;
  /**
   * Stores all human tasks of an execution as they were after frame `seq`. Returns false, and changes nothing, if the
   * execution has another newest frame or does not exist.
   */
  saveHumanTasks(executionId: ExecutionId, seq: number, tasks: readonly HumanTask[]): Promise<boolean>;
}
