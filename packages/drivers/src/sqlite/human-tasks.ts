/**
 * Human tasks. A list is merged from one piece of an index for each kind and project: at most 4 × (limit + 1) entries for
 * each project.
 */
import type { ExecutionId } from '@nebula/core';
import {
  HUMAN_TASK_KINDS,
  type HumanTask,
  type HumanTaskChanges,
  type HumanTaskCounts,
  type HumanTaskFilter,
  type HumanTaskRow,
  type HumanTaskScope,
  MAX_COUNTED_TASKS,
} from '@nebula/ports';
import { type HumanTaskCursor, NO_DEADLINE } from '@nebula/ports/rows';
import { bounded, type Statements } from './statements.ts';

interface FoundTask extends Omit<HumanTaskRow, 'deadline'> {
  readonly number: number;
  readonly due: number;
}

const COLUMNS = `number, execution_id AS executionId, node, event, kind, project, workflow_id AS workflowId, since, due,
  details`;

export function changeTasks(
  statements: Statements,
  executionId: ExecutionId,
  { isAll, add = [], remove = [] }: HumanTaskChanges,
): void {
  if (isAll === true) removeOthers(statements, executionId, add);
  for (const node of remove) {
    statements.run('DELETE FROM human_tasks WHERE execution_id = ? AND node = ?', executionId, node);
  }
  for (const { node, event, kind, since, deadline, details } of add) {
    statements.run(
      `INSERT INTO human_tasks (execution_id, node, event, kind, project, workflow_id, since, due, details)
       SELECT execution_id, ?, ?, ?, project, workflow_id, ?, ?, ? FROM executions WHERE execution_id = ?
       ON CONFLICT (execution_id, node, event) DO UPDATE SET
         kind = excluded.kind, since = excluded.since, due = excluded.due, details = excluded.details`,
      node,
      event,
      kind,
      since,
      deadline ?? NO_DEADLINE,
      details,
      executionId,
    );
  }
}

function removeOthers(statements: Statements, executionId: ExecutionId, kept: readonly HumanTask[]): void {
  const keys = new Set(kept.map(({ node, event }) => JSON.stringify([node, event])));
  const known = statements.all<{ readonly number: number; readonly node: string; readonly event: string }>(
    'SELECT number, node, event FROM human_tasks WHERE execution_id = ?',
    executionId,
  );
  for (const { number, node, event } of known) {
    if (!keys.has(JSON.stringify([node, event]))) statements.run('DELETE FROM human_tasks WHERE number = ?', number);
  }
}

export function saveTasks(
  statements: Statements,
  executionId: ExecutionId,
  seq: number,
  tasks: readonly HumanTask[],
): boolean {
  const number = statements.value<number>(
    `SELECT number FROM executions WHERE execution_id = ?
     AND (SELECT coalesce(max(seq), 0) FROM frames WHERE execution = number) = ?`,
    executionId,
    seq,
  );
  if (number === undefined) return false;
  changeTasks(statements, executionId, { isAll: true, add: tasks });
  statements.run('DELETE FROM untasked WHERE number = ?', number);
  return true;
}

export function untasked(statements: Statements, limit: number): readonly ExecutionId[] {
  const sql = `SELECT execution_id AS id FROM untasked CROSS JOIN executions USING (number) ORDER BY number LIMIT ?`;
  return statements.all<{ readonly id: ExecutionId }>(sql, bounded(limit)).map(({ id }) => id);
}

/** Returns one row more than the limit if there is a next page. */
export function tasksOf(
  statements: Statements,
  filter: HumanTaskFilter,
  after: HumanTaskCursor | undefined,
): readonly FoundTask[] {
  const isByDeadline = filter.order === 'deadline';
  const column = isByDeadline ? 'due' : 'since';
  const order = isByDeadline ? 'due, number' : 'since DESC, number DESC';
  const start = after ?? (isByDeadline ? FIRST : LAST);
  const beyond = `(${column}, number) ${isByDeadline ? '>' : '<'} (?, ?)`;
  const limit = bounded(filter.limit) + 1;
  const pieces = piecesOf(filter, column);
  if (pieces.length === 0) return [];
  const piece = ({ from, conditions }: Piece): string =>
    `SELECT * FROM (SELECT ${column}, number FROM ${from} WHERE ${conditions} AND ${beyond} ORDER BY ${order} LIMIT ?)`;
  return statements.all(
    `SELECT ${COLUMNS} FROM (
       SELECT number AS found FROM (${pieces.map(piece).join(' UNION ALL ')}) ORDER BY ${order} LIMIT ?)
     CROSS JOIN human_tasks ON number = found ORDER BY ${order}`,
    ...pieces.flatMap(({ values }) => [...values, start.at, start.number, limit]),
    limit,
  );
}

export function taskOf({ number: _, due, ...row }: FoundTask): HumanTaskRow {
  return { ...row, deadline: due === NO_DEADLINE ? null : due };
}

/** The place of a row in the order of its list. */
export function placeOf({ since, due, number }: FoundTask, { order }: HumanTaskFilter): HumanTaskCursor {
  return { at: order === 'deadline' ? due : since, number };
}

export function countTasks(statements: Statements, scope: HumanTaskScope): HumanTaskCounts {
  const counts = HUMAN_TASK_KINDS.map((kind) => {
    const isWanted = scope.kinds === undefined || scope.kinds.includes(kind);
    const pieces = isWanted ? piecesOf({ ...scope, kinds: [kind] }, 'since') : [];
    let count = 0;
    for (const { from, conditions, values } of pieces) {
      const sql = `SELECT count(*) FROM (SELECT 1 FROM ${from} WHERE ${conditions} LIMIT ?)`;
      count += statements.value<number>(sql, ...values, MAX_COUNTED_TASKS - count) ?? 0;
    }
    return [kind, count];
  });
  return Object.fromEntries(counts) as HumanTaskCounts;
}

const FIRST: HumanTaskCursor = { at: Number.MIN_SAFE_INTEGER, number: 0 };
const LAST: HumanTaskCursor = { at: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER };

interface Piece {
  readonly from: string;
  readonly conditions: string;
  readonly values: readonly unknown[];
}

/** The pieces of indexes that have all tasks of the scope. */
function piecesOf({ projects, workflowId, kinds = HUMAN_TASK_KINDS }: HumanTaskScope, column: string): Piece[] {
  const from = (index: string): string => `human_tasks INDEXED BY human_tasks_${index}${column}`;
  return [...new Set(kinds)].flatMap((kind): Piece[] => {
    if (workflowId !== undefined) {
      const among = projects === undefined ? '' : ' AND project IN (SELECT value FROM json_each(?))';
      const values = [workflowId, kind, ...(projects === undefined ? [] : [JSON.stringify(projects)])];
      return [{ from: from('by_workflow_'), conditions: `workflow_id = ? AND kind = ?${among}`, values }];
    }
    if (projects === undefined) return [{ from: from(''), conditions: 'kind = ?', values: [kind] }];
    return [...new Set(projects)].map((project) => ({
      from: from('by_project_'),
      conditions: 'project = ? AND kind = ?',
      values: [project, kind],
    }));
  });
}
