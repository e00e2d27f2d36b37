/** Statistics from indexes alone. A million executions take about a second, so they are read on a side thread. */
import {
  EXECUTION_STATUSES,
  type ExecutionStatistics,
  MAX_EXAMINED_EXECUTIONS,
  type StatisticsFilter,
  UNFINISHED_STATUSES,
} from '@nebula/ports';
import { bucketsOf, type EndedGroup, LOG_BUCKETS_PER_OCTAVE, type StartedGroup } from '@nebula/ports/rows';
import { within } from './lists.ts';
import type { Statements } from './statements.ts';

export function statisticsOf(statements: Statements, filter: StatisticsFilter): ExecutionStatistics {
  const { since, until, bucketMs, project, workflowId } = filter;
  const last = Math.ceil((until - since) / bucketMs);
  const scope = { ...(project !== undefined && { project }), ...(workflowId !== undefined && { workflowId }) };
  const bucketed = [until, last, since, bucketMs];
  const { from, conditions, values } = within({ ...scope, since });
  const started = statements.all<StartedGroup>(
    `SELECT ${bucketOf('created_at')} AS bucket, count(*) AS count
     FROM (SELECT created_at FROM ${from} WHERE status IN (${literals(EXECUTION_STATUSES)}) AND ${conditions} LIMIT ?)
     GROUP BY bucket`,
    ...bucketed,
    ...values,
    MAX_EXAMINED_EXECUTIONS,
  );
  const own = Object.entries({ project, workflow_id: workflowId }).filter(([, value]) => value !== undefined);
  const ended = statements.all<EndedGroup>(
    `SELECT ${bucketOf('finished_at')} AS bucket, status, ${logBucketOf('finished_at')} AS durationBucket,
       ${logBucketOf('started_at')} AS waitBucket, count(*) AS count
     FROM (SELECT finished_at, status, created_at, started_at FROM executions INDEXED BY executions_by_end
       WHERE finished_at >= ?${own.map(([column]) => ` AND ${column} = ?`).join('')} LIMIT ?)
     GROUP BY bucket, status, durationBucket, waitBucket`,
    ...bucketed,
    since,
    ...own.map(([, value]) => value),
    MAX_EXAMINED_EXECUTIONS,
  );
  const all = within(scope);
  const unfinished = statements.value<number>(
    `SELECT count(*) FROM ${all.from} WHERE status IN (${literals(UNFINISHED_STATUSES)}) AND ${all.conditions}`,
    ...all.values,
  );
  const isCut = [started, ended].some(
    (groups) => groups.reduce((sum, { count }) => sum + count, 0) >= MAX_EXAMINED_EXECUTIONS,
  );
  return { buckets: bucketsOf(filter, started, ended, unfinished ?? 0), isCut };
}

function bucketOf(column: string): string {
  // A bound number may be a real one.
  return `CAST(CASE WHEN ${column} >= ? THEN ? ELSE (${column} - ?) / ? END AS INTEGER)`;
}

/** As `logBucketOf` of the rows, of the time since the creation; null if the column is null. */
function logBucketOf(column: string): string {
  const ms = `(${column} - created_at)`;
  return `CASE WHEN ${ms} < 1 THEN -1 ELSE CAST(${LOG_BUCKETS_PER_OCTAVE} * log2(${ms}) AS INTEGER) END`;
}

function literals(statuses: readonly string[]): string {
  return statuses.map((status) => `'${status}'`).join(', ');
}
