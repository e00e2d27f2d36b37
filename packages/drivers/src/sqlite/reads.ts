/** All reads. Statements end with the call, so that no reader blocks the log. Errors are those of SQLite. */
import type { ExecutionId, WorkflowId } from '@nebula/core';
import type {
  CachePage,
  CacheRow,
  ExecutionCounts,
  ExecutionFilter,
  ExecutionRow,
  ExecutionScope,
  FeedPage,
  FrameRow,
  HumanTaskCounts,
  HumanTaskFilter,
  HumanTaskPage,
  HumanTaskScope,
  InboxRow,
  LoadedExecution,
  LoadRange,
  LogFilter,
  PermitRow,
  Position,
  SnapshotRow,
  StalledFilter,
  StalledRow,
  StoredFrame,
  StoredLogLine,
  WorkflowHead,
  WorkflowPage,
  WorkflowVersionHead,
  WorkflowVersionRow,
} from '@nebula/ports';
import { FINISHED_STATUSES, positionOf, UNFINISHED_STATUSES } from '@nebula/ports';
import { decodeTaskCursor, type ExecutionCursor, encodeTaskCursor, type NewLine } from '@nebula/ports/rows';
import { cachedRow, cachePage, newestOfFamily } from './cache.ts';
import type { Connection } from './connection.ts';
import { type FoundExecutions, isWalked, walkedExecutions } from './filtered-lists.ts';
import { countTasks, placeOf, taskOf, tasksOf, untasked } from './human-tasks.ts';
import {
  countsOf,
  EXECUTION_COLUMNS,
  executionColumns,
  executionsOf,
  workflowsOf,
  workflowVersionsOf,
} from './lists.ts';
import { linesOf } from './log-search.ts';
import { durationsOf, permitRows } from './permits.ts';
import { bounded, Statements } from './statements.ts';

const NUMBER_OF = '(SELECT number FROM executions WHERE execution_id = ?)';

const MOVING = UNFINISHED_STATUSES.filter((status) => status !== 'paused')
  .map((status) => `'${status}'`)
  .join(', ');
/** Due executions that one search for stalled ones examines. */
const MAX_EXAMINED = 10_000;

const VERSION_COLUMNS = 'workflow_id AS workflowId, version, hash, definition, created_at AS createdAt';

type Numbered<T> = Omit<T, 'position'> & { readonly position: number };

export class Reads {
  readonly #statements: Statements;
  /** The commit thread may commit between two statements, so one load reads in one transaction. */
  readonly #load: (executionId: ExecutionId, range: LoadRange) => LoadedExecution | undefined;

  constructor(connection: Connection) {
    this.#statements = new Statements(connection);
    this.#load = connection.transaction((executionId: ExecutionId, range: LoadRange) =>
      this.#loadNow(executionId, range),
    );
  }

  load(executionId: ExecutionId, range: LoadRange): LoadedExecution | undefined {
    return this.#load(executionId, range);
  }

  #loadNow(
    executionId: ExecutionId,
    { after, upTo = Number.MAX_SAFE_INTEGER }: LoadRange,
  ): LoadedExecution | undefined {
    const found = this.#statements.first<ExecutionRow & { readonly number: number }>(
      `SELECT number, ${EXECUTION_COLUMNS} FROM executions WHERE execution_id = ?`,
      executionId,
    );
    if (found === undefined) return undefined;
    const { number, ...row } = found;
    const snapshot =
      after === undefined
        ? this.#statements.first<SnapshotRow>(
            'SELECT seq, state FROM snapshots WHERE execution = ? AND seq <= ?',
            number,
            bounded(upTo),
          )
        : undefined;
    const frames = this.#statements.all<StoredFrame>(
      'SELECT seq, at, entries FROM frames WHERE execution = ? AND seq > ? AND seq <= ? ORDER BY seq',
      number,
      after ?? (snapshot === undefined ? 0 : snapshot.seq - 1),
      bounded(upTo),
    );
    return { row, snapshot, frames, inbox: this.inbox(executionId) };
  }

  frames(executionId: ExecutionId, afterSeq: number, limit = Number.MAX_SAFE_INTEGER): readonly FrameRow[] {
    const rows = this.#statements.all<Numbered<Omit<FrameRow, 'executionId'>>>(
      `SELECT seq, at, position, entries FROM frames WHERE execution = ${NUMBER_OF} AND seq > ? ORDER BY seq LIMIT ?`,
      executionId,
      afterSeq,
      bounded(limit),
    );
    return rows.map(({ seq, at, position, entries }) => ({
      executionId,
      seq,
      at,
      position: positionOf(position),
      entries,
    }));
  }

  framesBefore(executionId: ExecutionId, beforeSeq: number, limit: number): readonly FrameRow[] {
    const rows = this.#statements.all<Numbered<Omit<FrameRow, 'executionId'>>>(
      `SELECT seq, at, position, entries FROM frames WHERE execution = ${NUMBER_OF} AND seq < ?
       ORDER BY seq DESC LIMIT ?`,
      executionId,
      bounded(beforeSeq),
      bounded(limit),
    );
    return rows.map((row) => ({ ...row, executionId, position: positionOf(row.position) }));
  }

  heads(executionIds: readonly ExecutionId[]): ReadonlyMap<ExecutionId, number> {
    const rows = this.#statements.all<{ readonly id: string; readonly head: number }>(
      `SELECT execution_id AS id, coalesce((SELECT max(seq) FROM frames WHERE execution = number), 0) AS head
       FROM json_each(?) CROSS JOIN executions ON execution_id = value`,
      JSON.stringify(executionIds),
    );
    return new Map(rows.map(({ id, head }) => [id, head]));
  }

  feed({ after, inclusive = false, limit }: FeedPage): readonly FrameRow[] {
    const rows = this.#statements.all<Numbered<FrameRow>>(
      `SELECT execution_id AS executionId, seq, at, position, entries
       FROM frames CROSS JOIN executions ON executions.number = frames.execution
       WHERE position ${inclusive ? '>=' : '>'} ? ORDER BY position LIMIT ?`,
      Number(after),
      bounded(limit),
    );
    return rows.map((row) => ({ ...row, position: positionOf(row.position) }));
  }

  lastPosition(): Position {
    return positionOf(this.#statements.value<number | null>('SELECT max(position) FROM frames') ?? 0);
  }

  execution(executionId: ExecutionId): ExecutionRow | undefined {
    return this.#statements.first<ExecutionRow>(
      `SELECT ${EXECUTION_COLUMNS} FROM executions WHERE execution_id = ?`,
      executionId,
    );
  }

  known(executionIds: readonly ExecutionId[]): ReadonlySet<ExecutionId> {
    const rows = this.#statements.all<{ readonly id: string }>(
      'SELECT execution_id AS id FROM json_each(?) CROSS JOIN executions ON execution_id = value',
      JSON.stringify(executionIds),
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** Returns one row more than the limit if there is a next page. */
  list(filter: ExecutionFilter, after?: ExecutionCursor): FoundExecutions {
    return isWalked(filter)
      ? walkedExecutions(this.#statements, filter, after)
      : { rows: executionsOf(this.#statements, filter, after) };
  }

  humanTasks(filter: HumanTaskFilter): HumanTaskPage {
    const limit = Math.max(1, filter.limit);
    const after = filter.cursor === undefined ? undefined : decodeTaskCursor(filter.cursor);
    const found = tasksOf(this.#statements, { ...filter, limit }, after);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const isLast = last === undefined || found.length === page.length;
    return { rows: page.map(taskOf), next: isLast ? null : encodeTaskCursor(placeOf(last, filter)) };
  }

  countHumanTasks(scope: HumanTaskScope): HumanTaskCounts {
    return countTasks(this.#statements, scope);
  }

  untaskedExecutions(limit: number): readonly ExecutionId[] {
    return untasked(this.#statements, limit);
  }

  counts(scope: ExecutionScope): ExecutionCounts {
    return countsOf(this.#statements, scope);
  }

  expired(now: number, limit: number): readonly string[] {
    const finished = FINISHED_STATUSES.map((status) => `'${status}'`).join(', ');
    return this.#statements
      .all<{ readonly id: string }>(
        `SELECT execution_id AS id FROM executions
       WHERE expires_at <= ? AND status IN (${finished}) ORDER BY expires_at, number LIMIT ?`,
        now,
        bounded(limit),
      )
      .map((row) => row.id);
  }

  /** Two steps in indexes for each examined execution: about 3 µs. */
  stalled({ dueBy, movedBefore, limit }: StalledFilter): readonly StalledRow[] {
    return this.#statements.all<StalledRow>(
      `SELECT * FROM (
         SELECT ${executionColumns('due')}, coalesce(
           (SELECT at FROM frames WHERE execution = number ORDER BY seq DESC LIMIT 1), created_at) AS movedAt
         FROM (SELECT * FROM executions INDEXED BY executions_by_wake
           WHERE wake_at <= ? AND status IN (${MOVING}) ORDER BY wake_at LIMIT ${MAX_EXAMINED}) AS due)
       WHERE movedAt < ? ORDER BY wakeAt LIMIT ?`,
      dueBy,
      movedBefore,
      bounded(limit),
    );
  }

  inbox(executionId: ExecutionId): readonly InboxRow[] {
    const rows = this.#statements.all<{ readonly messageId: string; readonly body: string }>(
      `SELECT message_id AS messageId, body FROM inbox WHERE execution = ${NUMBER_OF} ORDER BY arrival`,
      executionId,
    );
    return rows.map(({ messageId, body }) => ({ messageId, executionId, body }));
  }

  permits(key: string): readonly PermitRow[] {
    return permitRows(this.#statements, key);
  }

  durations(workflowId: WorkflowId): ReadonlyMap<string, number> {
    return durationsOf(this.#statements, workflowId);
  }

  cached(key: string, now: number): CacheRow | undefined {
    return cachedRow(this.#statements, key, now);
  }

  newestCached(family: string, limit: number): readonly CacheRow[] {
    return newestOfFamily(this.#statements, family, limit);
  }

  cachedOutputs(page: CachePage): readonly CacheRow[] {
    return cachePage(this.#statements, page);
  }

  liveWorkers(workers: readonly string[], now: number): ReadonlySet<string> {
    const sql = 'SELECT 1 AS lives FROM workers WHERE worker = ? AND expires_at > ?';
    return new Set(workers.filter((worker) => this.#statements.first(sql, worker, now) !== undefined));
  }

  workflowVersion(workflowId: WorkflowId, version?: number): WorkflowVersionRow | undefined {
    const select = `SELECT ${VERSION_COLUMNS} FROM workflow_versions WHERE workflow_id = ?`;
    return version === undefined
      ? this.#statements.first<WorkflowVersionRow>(`${select} ORDER BY registered DESC LIMIT 1`, workflowId)
      : this.#statements.first<WorkflowVersionRow>(`${select} AND version = ?`, workflowId, version);
  }

  workflows(page: WorkflowPage): readonly WorkflowHead[] {
    return workflowsOf(this.#statements, page);
  }

  workflowVersions(
    workflowId: WorkflowId,
    page: { readonly after?: number; readonly limit: number },
  ): readonly WorkflowVersionHead[] {
    return workflowVersionsOf(this.#statements, workflowId, page);
  }

  /** Runs a read of records, which have their own queries. */
  with<T>(read: (statements: Statements) => T): T {
    return read(this.#statements);
  }

  lines(filter: LogFilter): readonly StoredLogLine[] {
    return linesOf(this.#statements, filter);
  }

  /** The nodes that have lines after the position, and the last position of the run. Without a position, only that. */
  newLines(
    executionId: ExecutionId,
    afterPosition: number | undefined,
  ): { readonly last: number; readonly lines: readonly NewLine[] } {
    if (afterPosition === undefined) {
      const select = 'SELECT max(position) FROM logs WHERE execution_id = ?';
      return { last: this.#statements.value<number>(select, executionId) ?? 0, lines: [] };
    }
    const lines = this.#statements.all<NewLine & { readonly last: number }>(
      `SELECT execution_id AS executionId, node, max(level) AS level, max(position) AS last FROM logs
       WHERE execution_id = ? AND position > ? GROUP BY node`,
      executionId,
      afterPosition,
    );
    return { last: lines.reduce((most, { last }) => Math.max(most, last), afterPosition), lines };
  }

  /** Changes when another connection has committed. */
  dataVersion(): number {
    return this.#statements.value<number>('PRAGMA data_version') ?? 0;
  }
}
