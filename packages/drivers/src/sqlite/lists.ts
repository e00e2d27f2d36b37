/**
 * Lists of executions and workflows. The cost of a page depends on its size, not on the amount of data.
 *
 * The index for each filter:
 *   workflow (with or without project)   executions_by_workflow   the project is read from the index
 *   project                              executions_by_project
 *   neither                              executions_by_status
 * Each of them continues with status and time, so that for one status the page is one piece of the index, whatever range,
 * cursor and order. For several, or all eight, the first rows of each are merged: at most 8 × (limit + 1) index entries.
 * Only rows of the page itself are read. One combination is not bounded by the page: a workflow together with a project
 * that has few of its executions reads on in the index of that workflow; a workflow normally has one project.
 */
import type { WorkflowId } from '@nebula/core';
import {
  EXECUTION_STATUSES,
  type ExecutionCounts,
  type ExecutionFilter,
  type ExecutionRow,
  type ExecutionScope,
  type WorkflowHead,
  type WorkflowPage,
  type WorkflowVersionHead,
} from '@nebula/ports';
import type { ExecutionCursor } from '@nebula/ports/rows';
import { bounded, type Statements } from './statements.ts';

/** The columns of a row of this table, or of a subquery with the columns of `executions`. */
export function executionColumns(table: string): string {
  return `execution_id AS executionId, project, workflow_id AS workflowId, version, status,
    created_at AS createdAt, finished_at AS finishedAt, wake_at AS wakeAt, owner, expires_at AS expiresAt,
    trigger_type AS "trigger", started_at AS startedAt, error_code AS errorCode, error_node AS errorNode,
    error_message AS errorMessage,
    (SELECT starter.execution_id FROM executions starter WHERE starter.number = ${table}.parent) AS parent`;
}

export const EXECUTION_COLUMNS = executionColumns('executions');

/** Returns one row more than the limit if there is a next page. */
export function executionsOf(
  statements: Statements,
  filter: ExecutionFilter,
  after: ExecutionCursor | undefined,
): readonly (ExecutionRow & { readonly number: number })[] {
  const statuses = [...new Set(filter.status ?? EXECUTION_STATUSES)];
  if (statuses.length === 0) return [];
  const isOldest = filter.order === 'oldest';
  const { from, conditions, values } = within(filter);
  const order = isOldest ? 'created_at, number' : 'created_at DESC, number DESC';
  const beyond = isOldest ? '(created_at, number) > (?, ?)' : '(created_at, number) < (?, ?)';
  const start = after ?? firstCursor(isOldest);
  const limit = bounded(filter.limit) + 1;
  const ofOne = `SELECT * FROM (SELECT created_at, number FROM ${from}
    WHERE status = ? AND ${conditions} AND ${beyond} ORDER BY ${order} LIMIT ?)`;
  return statements.all(
    `SELECT number, ${EXECUTION_COLUMNS}
     FROM (SELECT number AS found FROM (${statuses.map(() => ofOne).join(' UNION ALL ')}) ORDER BY ${order} LIMIT ?)
     CROSS JOIN executions ON number = found ORDER BY ${order}`,
    ...statuses.flatMap((status) => [status, ...values, start.createdAt, start.number, limit]),
    limit,
  );
}

/** The newest of each workflow: at most 8 × (limit + 1) index entries for each. */
export function recentOf(
  statements: Statements,
  workflowIds: readonly WorkflowId[],
  limit: number,
): readonly ExecutionRow[] {
  return [...new Set(workflowIds)].flatMap((workflowId) =>
    executionsOf(statements, { workflowId, limit }, undefined)
      .slice(0, bounded(limit))
      .map(({ number: _, ...row }) => row),
  );
}

/** Reads only the index. */
export function countsOf(statements: Statements, scope: ExecutionScope): ExecutionCounts {
  const { from, conditions, values } = within(scope);
  const sql = `SELECT count(*) FROM ${from} WHERE status = ? AND ${conditions}`;
  return Object.fromEntries(
    EXECUTION_STATUSES.map((status) => [status, statements.value<number>(sql, status, ...values) ?? 0]),
  ) as ExecutionCounts;
}

/** The cursor before the first page. */
export function firstCursor(isOldest: boolean): ExecutionCursor {
  return isOldest ? FIRST_CURSOR : LAST_CURSOR;
}

/** Cursors before and after every possible one. */
const FIRST_CURSOR: ExecutionCursor = { createdAt: Number.MIN_SAFE_INTEGER, number: 0 };
const LAST_CURSOR: ExecutionCursor = { createdAt: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER };

/** SQL with the index that fits the scope, and the values for its conditions. */
export function within({ project, workflowId, since, until }: ExecutionScope): {
  readonly from: string;
  readonly conditions: string;
  readonly values: readonly unknown[];
} {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (condition: string, value: unknown): void => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add('workflow_id = ?', workflowId);
  add('project = ?', project);
  add('created_at >= ?', since);
  add('created_at < ?', until);
  const index = workflowId === undefined ? (project === undefined ? 'status' : 'project') : 'workflow';
  const from = `executions INDEXED BY executions_by_${index}`;
  return { from, conditions: conditions.join(' AND ') || 'true', values };
}

/** Counts the versions of the page's workflows in an index, and reads the row of each newest one. */
export function workflowsOf(
  statements: Statements,
  { after, workflowId, limit }: WorkflowPage,
): readonly WorkflowHead[] {
  const conditions = [
    ...(after === undefined ? [] : ['workflow_id > ?']),
    ...(workflowId === undefined ? [] : ['workflow_id = ?']),
  ];
  return statements.all(
    `SELECT workflow_id AS workflowId, count(*) AS versions, (
       SELECT version FROM workflow_versions newest WHERE newest.workflow_id = heads.workflow_id
       ORDER BY registered DESC LIMIT 1) AS version
     FROM workflow_versions heads INDEXED BY workflow_versions_by_registration WHERE ${conditions.join(' AND ') || 'true'}
     GROUP BY workflow_id ORDER BY workflow_id LIMIT ?`,
    ...[after, workflowId].filter((given) => given !== undefined),
    bounded(limit),
  );
}

export function workflowVersionsOf(
  statements: Statements,
  workflowId: WorkflowId,
  { after = Number.MAX_SAFE_INTEGER, limit }: { readonly after?: number; readonly limit: number },
): readonly WorkflowVersionHead[] {
  return statements.all(
    `SELECT workflow_id AS workflowId, version, hash, created_at AS createdAt
     FROM workflow_versions INDEXED BY workflow_versions_heads
     WHERE workflow_id = ? AND version < ? ORDER BY version DESC LIMIT ?`,
    workflowId,
    after,
    bounded(limit),
  );
}
