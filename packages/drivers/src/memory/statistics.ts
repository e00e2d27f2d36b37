import type { FinishedStatus, Statistics } from '@nebula/ports';
import { bucketsOf, logBucketOf } from '@nebula/ports/rows';
import { isFinished, type OpenData } from './data.ts';

export function memoryStatistics(open: OpenData): Statistics {
  return {
    async statistics(filter) {
      const { project, workflowId, since, until, bucketMs } = filter;
      const rows = [...open.get().runs.values()]
        .map(({ row }) => row)
        .filter((row) => project === undefined || row.project === project)
        .filter((row) => workflowId === undefined || row.workflowId === workflowId);
      const last = Math.ceil((until - since) / bucketMs);
      const bucketOf = (at: number): number => (at >= until ? last : Math.floor((at - since) / bucketMs));
      const started = rows
        .filter(({ createdAt }) => createdAt >= since)
        .map(({ createdAt }) => ({ bucket: bucketOf(createdAt), count: 1 }));
      const ended = rows.flatMap(({ status, createdAt, startedAt, finishedAt }) => {
        if (finishedAt === null || finishedAt < since) return [];
        const durationBucket = logBucketOf(finishedAt - createdAt);
        const waitBucket = startedAt === null ? null : logBucketOf(startedAt - createdAt);
        return [
          { bucket: bucketOf(finishedAt), count: 1, status: status as FinishedStatus, durationBucket, waitBucket },
        ];
      });
      const unfinished = rows.filter((row) => !isFinished(row)).length;
      return { buckets: bucketsOf(filter, started, ended, unfinished), isCut: false };
    },
  };
}
