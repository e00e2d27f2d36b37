/** Statistics from groups of executions. Both drivers group by the same buckets, so that their figures are the same. */
import { FINISHED_STATUSES } from '../executions.ts';
import type { FinishedStatus, Percentiles, StatisticsBucket, StatisticsFilter } from '../statistics.ts';

/** Durations are counted in logarithmic buckets, eight to a doubling: a percentile is at most 9 % too high. */
export const LOG_BUCKETS_PER_OCTAVE = 8;

/** Executions that started in one bucket; the index after the last bucket has those that started since `until`. */
export interface StartedGroup {
  readonly bucket: number;
  readonly count: number;
}

/** Executions that ended in one bucket with one status and durations in one logarithmic bucket. */
export interface EndedGroup extends StartedGroup {
  readonly status: FinishedStatus;
  /** -1: 0 ms. */
  readonly durationBucket: number;
  /** Of the time until the run began; null if that is not known. */
  readonly waitBucket: number | null;
}

export function logBucketOf(ms: number): number {
  return ms < 1 ? -1 : Math.floor(LOG_BUCKETS_PER_OCTAVE * Math.log2(ms));
}

/** `unfinished`: executions that have not ended now. */
export function bucketsOf(
  { since, until, bucketMs }: StatisticsFilter,
  started: readonly StartedGroup[],
  ended: readonly EndedGroup[],
  unfinished: number,
): readonly StatisticsBucket[] {
  const count = Math.max(0, Math.ceil((until - since) / bucketMs));
  const starts = sums(started, count);
  const endsBy = Map.groupBy(ended, ({ bucket }) => bucket);
  const buckets: StatisticsBucket[] = [];
  // Counted back from now, because deleted executions do not count in either number.
  let backlog = unfinished - (starts[count] ?? 0) + total(endsBy.get(count) ?? []);
  for (let index = count - 1; index >= 0; index--) {
    const groups = endsBy.get(index) ?? [];
    const ends = Object.fromEntries(
      FINISHED_STATUSES.map((status) => [status, total(groups.filter((group) => group.status === status))]),
    ) as Record<FinishedStatus, number>;
    buckets.push({
      since: since + index * bucketMs,
      starts: starts[index] ?? 0,
      ends,
      duration: percentiles(groups.map(({ durationBucket, count: many }) => [durationBucket, many])),
      queueWait: percentiles(
        groups.flatMap(({ waitBucket, count: many }) => (waitBucket === null ? [] : [[waitBucket, many] as const])),
      ),
      backlog: Math.max(0, backlog),
    });
    backlog += total(groups) - (starts[index] ?? 0);
  }
  return buckets.reverse();
}

function sums(groups: readonly StartedGroup[], last: number): number[] {
  const found: number[] = Array(last + 1).fill(0);
  for (const { bucket, count } of groups) found[bucket] = (found[bucket] ?? 0) + count;
  return found;
}

function total(groups: readonly { readonly count: number }[]): number {
  return groups.reduce((sum, { count }) => sum + count, 0);
}

function percentiles(counted: readonly (readonly [bucket: number, count: number])[]): Percentiles | null {
  const sorted = [...counted].sort(([a], [b]) => a - b);
  const all = sorted.reduce((sum, [, count]) => sum + count, 0);
  if (all === 0) return null;
  const at = (share: number): number => {
    let seen = 0;
    for (const [bucket, count] of sorted) {
      seen += count;
      if (seen >= share * all) return upperBound(bucket);
    }
    return upperBound(sorted.at(-1)?.[0] ?? -1);
  };
  return { p50: at(0.5), p95: at(0.95) };
}

function upperBound(bucket: number): number {
  return bucket < 0 ? 0 : Math.round(2 ** ((bucket + 1) / LOG_BUCKETS_PER_OCTAVE));
}
