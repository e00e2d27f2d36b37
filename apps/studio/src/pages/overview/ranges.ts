/** The ranges of the overview, with the length of their buckets, and the way to the runs of a range. */
import { PATHS, queryText } from '../../app/routes.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const RANGES = {
  hour: { rangeMs: HOUR_MS, bucketMs: MINUTE_MS, bucket: '1m', whole: '1h' },
  day: { rangeMs: 24 * HOUR_MS, bucketMs: 30 * MINUTE_MS, bucket: '30m', whole: '1d' },
  week: { rangeMs: 168 * HOUR_MS, bucketMs: 3 * HOUR_MS, bucket: '3h', whole: '7d' },
} as const;

export type RangeName = keyof typeof RANGES;

/** The runs that failed in a range, of one workflow or of all. */
export function failedRuns(range: RangeName, workflow?: string): string {
  return `${PATHS.runs}${queryText({ status: 'failed,timed-out', since: range, workflow })}`;
}
