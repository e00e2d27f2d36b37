/** Figures of executions by time, from their rows. Deleted executions do not count. */
import type { WorkflowId } from '@nebula/core';
import type { ExecutionStatus, FINISHED_STATUSES } from './executions.ts';

export type FinishedStatus = Extract<ExecutionStatus, (typeof FINISHED_STATUSES)[number]>;

/** Buckets of `bucketMs` from `since` up to, not including, `until`; the last one may be shorter. */
export interface StatisticsFilter {
  readonly project?: string;
  readonly workflowId?: WorkflowId;
  readonly since: number;
  readonly until: number;
  readonly bucketMs: number;
}

/** The most rows of executions that one call examines; `isCut` says that there were more. */
export const MAX_EXAMINED_EXECUTIONS = 2_000_000;

export interface ExecutionStatistics {
  readonly buckets: readonly StatisticsBucket[];
  readonly isCut: boolean;
}

export interface StatisticsBucket {
  readonly since: number;
  readonly starts: number;
  readonly ends: Readonly<Record<FinishedStatus, number>>;
  /** Milliseconds from creation to end of the runs that ended in the bucket; null without such runs. */
  readonly duration: Percentiles | null;
  /** Milliseconds from creation until the run began: it waited for a concurrency slot or for its debounce. */
  readonly queueWait: Percentiles | null;
  /** Runs that had not ended at the end of the bucket. */
  readonly backlog: number;
}

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

export interface Statistics {
  /** Does not block the event loop for longer than other reads. */
  statistics(filter: StatisticsFilter): Promise<ExecutionStatistics>;
}
