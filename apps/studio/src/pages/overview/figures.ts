/** Figures of the overview, from the buckets of the statistics. */
import type { AnswerOf } from '@nebula/client';

export type Statistics = AnswerOf<'getStatistics'>;
type Bucket = Statistics['buckets'][number];

export interface Totals {
  readonly starts: number;
  readonly ends: number;
  readonly completed: number;
  readonly failures: number;
  /** The share of the ended runs that failed; null: none has ended. */
  readonly failureRate: number | null;
}

export function totalsOf(buckets: readonly Pick<Bucket, 'starts' | 'ends' | 'failures'>[]): Totals {
  let starts = 0;
  let ends = 0;
  let completed = 0;
  let failures = 0;
  for (const bucket of buckets) {
    starts += bucket.starts;
    ends += endsOf(bucket);
    completed += bucket.ends['completed'] ?? 0;
    failures += bucket.failures;
  }
  return { starts, ends, completed, failures, failureRate: ends === 0 ? null : failures / ends };
}

export function endsOf({ ends }: Pick<Bucket, 'ends'>): number {
  return Object.values(ends).reduce((sum, count) => sum + count, 0);
}

export interface WorkflowFigures {
  readonly workflowId: string;
  readonly totals: Totals;
  readonly duration: Bucket['duration'];
}

/** The workflows with failures, the most failures first; at the same number, the higher share. */
export function worstOf(all: readonly WorkflowFigures[], limit: number): WorkflowFigures[] {
  return all
    .filter(({ totals }) => totals.failures > 0)
    .sort(
      (one, other) =>
        other.totals.failures - one.totals.failures || (other.totals.failureRate ?? 0) - (one.totals.failureRate ?? 0),
    )
    .slice(0, limit);
}

/** The beginning of a range whose buckets are whole: the same for all moments of one bucket, so that reads are shared. */
export function rangeStart(now: number, rangeMs: number, bucketMs: number): number {
  return Math.floor(now / bucketMs) * bucketMs - rangeMs + bucketMs;
}
