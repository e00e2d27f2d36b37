/** Figures of executions by time. */
import { NebulaError, parseDuration } from '@nebula/core';
import { type Handlers, ok } from '../http/handler.ts';
import { STATISTICS_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import { filterOf, momentOf } from './executions.ts';
import { isoTime } from './times.ts';

const DAY_MS = 24 * 3_600_000;
const DEFAULT_BUCKETS = 100;
const { maxBuckets, minBucketMs } = STATISTICS_LIMITS;

export function statisticsRoutes({ store, clock }: Parts) {
  return {
    async getStatistics({ query, who, project }) {
      const { workflowId } = query;
      const until = query.until === undefined ? clock.now() : momentOf('until', query.until);
      const since = query.since === undefined ? until - DAY_MS : momentOf('since', query.since);
      if (since >= until) throw invalid('since', 'is not before `until`', 'Give an earlier `since`.');
      const bucketMs = bucketOf(query.bucket, until - since);
      const scope = filterOf({ ...(workflowId !== undefined && { workflowId }) }, who, project);
      const { buckets, isCut } = await store.statistics({ ...scope, since, until, bucketMs });
      return ok({
        since: isoTime(since),
        until: isoTime(until),
        bucketMs,
        buckets: buckets.map(({ since: at, ends, ...figures }) => ({
          ...figures,
          since: isoTime(at),
          ends: { ...ends },
          failures: ends.failed + ends['timed-out'],
        })),
        complete: !isCut,
      });
    },
  } satisfies Partial<Handlers>;
}

function bucketOf(text: string | undefined, rangeMs: number): number {
  if (text === undefined) return Math.max(minBucketMs, Math.ceil(rangeMs / DEFAULT_BUCKETS));
  const ms = parseDuration(text);
  if (typeof ms !== 'number') throw invalid('bucket', ms.message, ms.hint);
  if (ms < minBucketMs) throw invalid('bucket', 'is shorter than a second', 'Use a second or more.');
  if (Math.ceil(rangeMs / ms) > maxBuckets) {
    throw invalid('bucket', `gives more than ${maxBuckets} buckets`, 'Use longer buckets, or a shorter time.');
  }
  return Math.round(ms);
}

function invalid(name: string, detail: string, hint: string): NebulaError {
  return new NebulaError('QUERY_INVALID', `'${name}' ${detail}.`, {
    hint,
    details: { errors: [{ pointer: `?${name}`, detail }] },
  });
}
