/**
 * Lists of executions by trigger, error code, parent or id. A page walks through indexes in its own order and examines
 * rows until it is full, or has examined `MAX_EXAMINED_PER_PAGE` of them: then it ends there, and the next page goes on.
 *
 * The index that is walked through:
 *   parent                                 executions_by_parent
 *   error code                             executions_by_error
 *   statuses without `completed`           that of the plain list (`lists.ts`), merged: few executions have them
 *   trigger                                executions_by_trigger
 *   root                                   executions_roots
 * A search takes the first ids with the prefix, at most `MAX_FOUND_IDS`, and sorts them.
 */
import {
  CHILD_TRIGGER,
  EXECUTION_STATUSES,
  type ExecutionFilter,
  type ExecutionRow,
  MAX_EXAMINED_PER_PAGE,
  MAX_FOUND_IDS,
} from '@nebula/ports';
import { type ExecutionCursor, endOfPrefix } from '@nebula/ports/rows';
import { EXECUTION_COLUMNS, executionsOf, firstCursor, within } from './lists.ts';
import { bounded, type Statements } from './statements.ts';

type NumberedRow = ExecutionRow & { readonly number: number };

export interface FoundExecutions {
  /** One row more than the limit if the page is full and there is a next one. */
  readonly rows: readonly NumberedRow[];
  /** The last examined execution, if there may be others after it. */
  readonly examined?: ExecutionCursor;
}

export function isWalked({ trigger, errorCode, parent, isRoot, search }: ExecutionFilter): boolean {
  return [trigger, errorCode, parent, isRoot, search].some((given) => given !== undefined);
}

export function walkedExecutions(
  statements: Statements,
  filter: ExecutionFilter,
  after: ExecutionCursor | undefined,
): FoundExecutions {
  const { search, ...rest } = filter;
  if (search === undefined) return walked(statements, filter, after);
  const byId = foundById(statements, search, filter, after);
  if (byId !== undefined) return { rows: byId };
  if (rest.workflowId !== undefined && rest.workflowId !== search) return { rows: [] };
  const ofWorkflow = { ...rest, workflowId: search };
  return isWalked(ofWorkflow)
    ? walked(statements, ofWorkflow, after)
    : { rows: executionsOf(statements, ofWorkflow, after) };
}

interface Condition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const ROOT = `(parent IS NULL OR trigger_type <> '${CHILD_TRIGGER}')`;
const PARENT = `parent = (SELECT starter.number FROM executions starter WHERE starter.execution_id = ?)`;

/** What the filter asks of a row, except for its times. */
function conditionOf({ project, workflowId, status, trigger, errorCode, parent, isRoot }: ExecutionFilter): Condition {
  const parts: string[] = [];
  const values: unknown[] = [];
  const add = (sql: string, value: unknown): void => {
    if (value === undefined) return;
    parts.push(sql);
    values.push(value);
  };
  add('project = ?', project);
  add('workflow_id = ?', workflowId);
  add('status IN (SELECT value FROM json_each(?))', status && JSON.stringify(status));
  add('trigger_type = ?', trigger ?? (parent === undefined ? undefined : CHILD_TRIGGER));
  add('error_code = ?', errorCode);
  add(PARENT, parent);
  if (isRoot) parts.push(ROOT);
  return { sql: parts.join(' AND ') || 'true', values };
}

/** The pieces of indexes through which a page walks; each is in the order of the page. */
function piecesOf(filter: ExecutionFilter): readonly Condition[] {
  const { trigger, errorCode, parent, status } = filter;
  const ofIndex = (index: string, sql: string, values: readonly unknown[]): readonly Condition[] => [
    { sql: `executions INDEXED BY executions_${index} WHERE ${sql}`, values },
  ];
  if (parent !== undefined) return ofIndex('by_parent', PARENT, [parent]);
  if (errorCode !== undefined) return ofIndex('by_error', 'error_code = ?', [errorCode]);
  if (status !== undefined && !status.includes('completed')) {
    const { from, conditions, values } = within(only(filter));
    return [...new Set(status)].map((one) => ({
      sql: `${from} WHERE status = ? AND ${conditions}`,
      values: [one, ...values],
    }));
  }
  return trigger === undefined ? ofIndex('roots', ROOT, []) : ofIndex('by_trigger', 'trigger_type = ?', [trigger]);
}

function only({ project, workflowId }: ExecutionFilter): ExecutionFilter {
  return { ...(project !== undefined && { project }), ...(workflowId !== undefined && { workflowId }), limit: 0 };
}

function walked(statements: Statements, filter: ExecutionFilter, after: ExecutionCursor | undefined): FoundExecutions {
  const { status = EXECUTION_STATUSES, order, since, until } = filter;
  if (status.length === 0) return { rows: [] };
  const isOldest = order === 'oldest';
  const start = after ?? firstCursor(isOldest);
  const fits = conditionOf(filter);
  const times = [...(since === undefined ? [] : [since]), ...(until === undefined ? [] : [until])];
  const inTime = `${since === undefined ? '' : ' AND created_at >= ?'}${until === undefined ? '' : ' AND created_at < ?'}`;
  const beyond = `(created_at, number) ${isOldest ? '>' : '<'} (?, ?)`;
  const pieces = piecesOf(filter);
  const sql = pieces
    .map(
      (piece) => `SELECT created_at AS createdAt, number, ${fits.sql} AS fits FROM ${piece.sql}${inTime} AND ${beyond}`,
    )
    .join(' UNION ALL ');
  const direction = isOldest ? '' : ' DESC';
  const values = pieces.flatMap((piece) => [...fits.values, ...piece.values, ...times, start.createdAt, start.number]);
  const walk = statements
    .prepared(`${sql} ORDER BY createdAt${direction}, number${direction} LIMIT ${MAX_EXAMINED_PER_PAGE}`)
    .iterate(...values) as IterableIterator<ExecutionCursor & { readonly fits: number }>;
  const wanted = bounded(filter.limit) + 1;
  const found: number[] = [];
  let examined = 0;
  let last: ExecutionCursor | undefined;
  for (const { fits: isFound, ...place } of walk) {
    examined++;
    last = place;
    if (isFound === 1) found.push(place.number);
    if (found.length === wanted) break;
  }
  const rows = rowsOf(statements, found, isOldest);
  const isCut = found.length < wanted && examined === MAX_EXAMINED_PER_PAGE;
  return isCut && last !== undefined ? { rows, examined: last } : { rows };
}

/** Undefined if no id of the scope begins with the text. */
function foundById(
  statements: Statements,
  search: string,
  filter: ExecutionFilter,
  after: ExecutionCursor | undefined,
): readonly NumberedRow[] | undefined {
  const {
    order,
    since,
    until,
    limit,
    status: _,
    trigger: __,
    errorCode: ___,
    parent: ____,
    isRoot: _____,
    ...scope
  } = filter;
  const ofScope = conditionOf({ ...scope, limit });
  const found = statements
    .all<{ readonly number: number }>(
      `SELECT number FROM (SELECT * FROM executions INDEXED BY executions_by_id
         WHERE execution_id >= ? AND execution_id < ? ORDER BY execution_id LIMIT ${MAX_EXAMINED_PER_PAGE})
       WHERE ${ofScope.sql} LIMIT ${MAX_FOUND_IDS}`,
      search,
      endOfPrefix(search) ?? search,
      ...ofScope.values,
    )
    .map(({ number }) => number);
  if (found.length === 0) return undefined;
  const isOldest = order === 'oldest';
  const start = after ?? firstCursor(isOldest);
  const fits = conditionOf(filter);
  const numbers = statements
    .all<{ readonly number: number }>(
      `SELECT number FROM executions WHERE number IN (SELECT value FROM json_each(?)) AND ${fits.sql}
         AND created_at >= ? AND created_at < ? AND (created_at, number) ${isOldest ? '>' : '<'} (?, ?)
       ORDER BY created_at ${isOldest ? '' : 'DESC'}, number ${isOldest ? '' : 'DESC'} LIMIT ?`,
      JSON.stringify(found),
      ...fits.values,
      since ?? Number.MIN_SAFE_INTEGER,
      until ?? Number.MAX_SAFE_INTEGER,
      start.createdAt,
      start.number,
      bounded(limit) + 1,
    )
    .map(({ number }) => number);
  return rowsOf(statements, numbers, isOldest);
}

function rowsOf(statements: Statements, numbers: readonly number[], isOldest: boolean): readonly NumberedRow[] {
  const direction = isOldest ? '' : 'DESC';
  return statements.all(
    `SELECT number, ${EXECUTION_COLUMNS} FROM executions WHERE number IN (SELECT value FROM json_each(?))
     ORDER BY created_at ${direction}, number ${direction}`,
    JSON.stringify(numbers),
  );
}
