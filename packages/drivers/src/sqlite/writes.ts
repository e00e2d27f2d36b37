/**
 * All writes, by the methods of the ports. The same code runs on the main thread and in the commit thread.
 *
 *  1. Each method is one transaction, begun as a writer, so that nothing that it reads can change before the commit.
 *  2. A method that throws has changed nothing.
 *  3. Nothing here waits, reads a clock or knows about threads; errors are those of SQLite.
 */
import type { ExecutionId } from '@nebula/core';
import {
  type CacheChoice,
  type CommitOutcome,
  type DueClaim,
  FINISHED_STATUSES,
  type HumanTask,
  type InboxRow,
  type NewWorkflowVersion,
  type PublishedSignal,
  type RecordChange,
  type RegisterOutcome,
  type SnapshotRow,
  type TestVersionRow,
  UNFINISHED_STATUSES,
  type WorkerLease,
  type Write,
  type WriteOutcome,
} from '@nebula/ports';
import type { EncodedLine } from '@nebula/ports/rows';
import type { Statement } from 'better-sqlite3';
import { Appender } from './appender.ts';
import { forgetCached, purgeCached, saveCached } from './cache.ts';
import type { Connection } from './connection.ts';
import { isUnwritable } from './failure.ts';
import { changeTasks, saveTasks } from './human-tasks.ts';
import { setAside } from './line-buffer.ts';
import { Permits } from './permits.ts';
import { commitRecords, purgeRecords } from './records.ts';
import { bounded, Statements } from './statements.ts';

/** The most rows or pages that one call deletes: about 10 ms. */
const PIECE_FRAMES = 2_000;
const PIECE_LINES = 2_000;
const PIECE_PAGES = 512;

/** Fewer free pages are soon reused; returning them would only cost work. */
const MIN_FREE_PAGES = 64;

export class Writes {
  readonly #connection: Connection;
  readonly #statements: Statements;
  readonly #appender: Appender;
  readonly #permits: Permits;
  readonly #begin: Statement<[]>;
  readonly #commit: Statement<[]>;
  readonly #dataVersion: Statement<[], number>;
  #seenDataVersion = -1;

  /** The duration of the last call's COMMIT, which waits for the disk; 0 when there was nothing to commit. */
  lastCommitMs = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#statements = new Statements(connection);
    this.#appender = new Appender(connection);
    this.#permits = new Permits(this.#statements);
    this.#begin = connection.prepare('BEGIN IMMEDIATE');
    this.#commit = connection.prepare('COMMIT');
    this.#dataVersion = connection.prepare<[], number>('PRAGMA data_version').pluck();
  }

  append(writes: readonly Write[], lines: readonly EncodedLine[]): readonly WriteOutcome[] {
    this.lastCommitMs = 0;
    if (writes.length === 0 && lines.length === 0) return [];
    return this.#transaction(() => {
      const outcomes = this.#appendAll(writes);
      if (lines.length > 0) this.#insertLines(lines);
      return outcomes;
    });
  }

  /** Frames are inserted together, at the end, and then the effects on other runs, unless a later write depends on them. */
  #appendAll(writes: readonly Write[]): WriteOutcome[] {
    const outcomes: WriteOutcome[] = [];
    let shared = 0;
    const shareAll = (): void => {
      for (; shared < outcomes.length; shared++) this.#share(writes[shared] as Write, outcomes, shared);
    };
    for (const write of writes) {
      const requires = write.permits?.requests?.some(({ isRequired }) => isRequired === true) === true;
      if (requires) shareAll();
      const heldBy = requires ? this.#permits.inTheWay(write.executionId, write.permits ?? { at: 0 }) : undefined;
      outcomes.push(this.#appender.write(write, heldBy));
    }
    this.#appender.flush();
    shareAll();
    return outcomes;
  }

  /** The effects of an accepted write on other runs. */
  #share(write: Write, outcomes: WriteOutcome[], index: number): void {
    const { executionId, sends, permits, subscriptions, humanTasks, cache, durations } = write;
    const outcome = outcomes[index];
    if (!outcome?.ok || (sends ?? permits ?? subscriptions ?? humanTasks ?? cache ?? durations) === undefined) return;
    for (const message of sends ?? []) this.#deliver(message, message.wakeAt);
    for (const row of cache ?? []) saveCached(this.#statements, row);
    for (const row of durations ?? []) this.#permits.saveDuration(row);
    const deliver = (message: InboxRow, at: number): void => void this.#deliver(message, at);
    if (humanTasks !== undefined) changeTasks(this.#statements, executionId, humanTasks);
    if (subscriptions !== undefined) this.#permits.listen(executionId, subscriptions, deliver);
    if (permits === undefined) return;
    const rates = this.#permits.change(executionId, permits, deliver);
    if (rates.length > 0) outcomes[index] = { ...outcome, rates };
  }

  publish(signal: PublishedSignal): string | undefined {
    return this.#transaction(() => this.#permits.publish(signal, (message, at) => this.#deliver(message, at)));
  }

  saveHumanTasks(executionId: ExecutionId, seq: number, tasks: readonly HumanTask[]): boolean {
    return this.#transaction(() => saveTasks(this.#statements, executionId, seq, tasks));
  }

  forgetSignals(prefix: string): void {
    this.#transaction(() => this.#permits.forgetSignals(prefix));
  }

  forgetCached(which: CacheChoice, limit: number): readonly string[] {
    return this.#transaction(() => forgetCached(this.#statements, which, bounded(limit)));
  }

  purgeCache(now: number, limit: number): readonly string[] {
    return this.#transaction(() => {
      this.#permits.purgeRates(now, bounded(limit));
      return purgeCached(this.#statements, now, bounded(limit));
    });
  }

  saveSnapshot(executionId: ExecutionId, snapshot: SnapshotRow): void {
    this.#transaction(() =>
      this.#statements.run(
        `INSERT INTO snapshots (execution, seq, state) SELECT number, ?, ? FROM executions WHERE execution_id = ?
         ON CONFLICT (execution) DO UPDATE SET seq = excluded.seq, state = excluded.state WHERE excluded.seq > seq`,
        snapshot.seq,
        snapshot.state,
        executionId,
      ),
    );
  }

  deleteExecution(executionId: ExecutionId): boolean {
    return this.#transaction(() => {
      const found = this.#statements.first<{
        readonly number: number;
        readonly parent: number | null;
        readonly version: number;
      }>(
        `SELECT number, parent, version FROM executions WHERE execution_id = ? AND status IN (${literals(FINISHED_STATUSES)})`,
        executionId,
      );
      if (found === undefined) return false;
      const { number, parent, version } = found;
      this.#statements.run("UPDATE meta SET value = ? WHERE key = 'last_position'", this.#appender.position());
      this.#statements.run('DELETE FROM executions WHERE number = ?', number);
      this.#statements.run('DELETE FROM snapshots WHERE execution = ?', number);
      this.#statements.run('DELETE FROM inbox WHERE execution = ?', number);
      this.#statements.run('DELETE FROM human_tasks WHERE execution_id = ?', executionId);
      this.#statements.run('DELETE FROM untasked WHERE number = ?', number);
      if (parent !== null) {
        this.#statements.run(
          'INSERT INTO deleted_children SELECT number, ? FROM executions WHERE number = ?',
          executionId,
          parent,
        );
      }
      if (version < 0) this.#statements.run('DELETE FROM test_versions WHERE execution_id = ?', executionId);
      this.#permits.forget(executionId);
      if (!this.#deletePiece(number)) this.#statements.run('INSERT INTO doomed VALUES (?)', number);
      this.#appender.forget(executionId);
      return true;
    });
  }

  /** Removes a bounded part of what deletions left. Returns true if more is left. */
  reclaimSpace(): boolean {
    const freePages = (): number => this.#statements.value<number>('PRAGMA freelist_count') ?? 0;
    if (freePages() < MIN_FREE_PAGES && this.#statements.value('SELECT 1 FROM doomed') === undefined) return false;
    return this.#transaction(() => {
      const doomed = this.#statements.value<number>('SELECT execution FROM doomed LIMIT 1');
      if (doomed !== undefined) {
        if (this.#deletePiece(doomed)) this.#statements.run('DELETE FROM doomed WHERE execution = ?', doomed);
        return true;
      }
      this.#connection.exec(`PRAGMA incremental_vacuum(${PIECE_PAGES})`);
      return freePages() >= MIN_FREE_PAGES;
    });
  }

  send(message: InboxRow, wakeAt: number): boolean {
    return this.#transaction(() => this.#deliver(message, wakeAt));
  }

  #deliver(message: InboxRow, wakeAt: number): boolean {
    const number = this.#statements.value<number>(
      'SELECT number FROM executions WHERE execution_id = ?',
      message.executionId,
    );
    if (number === undefined) return false;
    this.#statements.run(
      'INSERT INTO inbox (execution, message_id, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      number,
      message.messageId,
      message.body,
    );
    this.#statements.run(
      'UPDATE executions SET wake_at = coalesce(min(wake_at, ?), ?) WHERE number = ?',
      wakeAt,
      wakeAt,
      number,
    );
    return true;
  }

  claimDue(now: number, until: number, owner: string, limit: number, only?: readonly string[]): DueClaim {
    const among = only === undefined ? '' : ' AND execution_id IN (SELECT value FROM json_each(?))';
    const names = only === undefined ? [] : [JSON.stringify(only)];
    const nextWakeAt = (): number | null =>
      this.#statements.value<number | null>(
        `SELECT min(wake_at) FROM executions WHERE wake_at IS NOT NULL${among}`,
        ...names,
      ) ?? null;
    // An idle engine must not write.
    const earliest = nextWakeAt();
    if (earliest === null || earliest > now || limit <= 0)
      return { executionIds: [], nextWakeAt: earliest, dueSince: null };
    return this.#transaction(() => {
      const due = this.#statements.all<{ readonly number: number; readonly id: string }>(
        `SELECT number, execution_id AS id FROM executions WHERE wake_at <= ?${among} ORDER BY wake_at, number LIMIT ?`,
        now,
        ...names,
        bounded(limit),
      );
      for (const { number } of due) {
        this.#statements.run('UPDATE executions SET wake_at = ?, owner = ? WHERE number = ?', until, owner, number);
      }
      const dueSince = due.length > 0 ? earliest : null;
      return { executionIds: due.map((row) => row.id), nextWakeAt: nextWakeAt(), dueSince };
    });
  }

  heartbeat(leases: readonly WorkerLease[]): void {
    const sql = 'INSERT INTO workers VALUES (?, ?) ON CONFLICT (worker) DO UPDATE SET expires_at = excluded.expires_at';
    this.#transaction(() => {
      for (const { worker, expiresAt } of leases) this.#statements.run(sql, worker, expiresAt);
    });
  }

  reapWorkers(now: number, except: string, wakeAt: number, processes?: string): number {
    const isAlone = processes !== undefined;
    const gone = isAlone
      ? 'worker <> ? AND (expires_at <= ? OR substr(worker, 1, ?) = ?)'
      : 'worker <> ? AND expires_at <= ?';
    const parameters = isAlone ? [except, now, processes.length, processes] : [except, now];
    // For an exclusive engine every other owner is dead, even one that never had a lease.
    const owners = isAlone ? 'owner <> ?' : `owner IN (SELECT worker FROM workers WHERE ${gone})`;
    return this.#transaction(() => {
      this.#statements.run(
        `UPDATE executions INDEXED BY executions_by_status SET wake_at = coalesce(min(wake_at, ?), ?)
         WHERE status IN (${literals(UNFINISHED_STATUSES)}) AND ${owners}`,
        wakeAt,
        wakeAt,
        ...(isAlone ? [except] : parameters),
      );
      return this.#statements.run(`DELETE FROM workers WHERE ${gone}`, ...parameters);
    });
  }

  registerWorkflow(row: NewWorkflowVersion): RegisterOutcome {
    return this.#transaction((): RegisterOutcome => {
      const same = this.#statements.value<number>(
        'SELECT version FROM workflow_versions WHERE workflow_id = ? AND hash = ?',
        row.workflowId,
        row.hash,
      );
      const highest = (column: 'version' | 'registered'): number =>
        this.#statements.value<number>(
          `SELECT coalesce(max(${column}), 0) FROM workflow_versions WHERE workflow_id = ?`,
          row.workflowId,
        ) as number;
      const registered = highest('registered');
      if (same !== undefined) {
        // The version becomes the newest again; nearly always it already is.
        this.#statements.run(
          'UPDATE workflow_versions SET registered = ? WHERE workflow_id = ? AND version = ? AND registered < ?',
          registered + 1,
          row.workflowId,
          same,
          registered,
        );
        this.#keepSource(row, same);
        return { ok: true, version: same, created: false };
      }
      const version = row.version ?? highest('version') + 1;
      const created = this.#statements.run(
        `INSERT INTO workflow_versions (workflow_id, version, hash, definition, created_at, registered)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        row.workflowId,
        version,
        row.hash,
        row.definition,
        row.createdAt,
        registered + 1,
      );
      if (created === 0) return { ok: false, reason: 'version-taken' };
      this.#keepSource(row, version);
      return { ok: true, version, created: true };
    });
  }

  /** Servers register their files at every start, nearly always with the text that is there. */
  #keepSource({ workflowId, source }: NewWorkflowVersion, version: number): void {
    if (source === undefined) return;
    this.#statements.run(
      `INSERT INTO workflow_sources (workflow_id, version, format, filename, text) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET format = excluded.format, filename = excluded.filename, text = excluded.text
       WHERE (format, filename, text) IS NOT (excluded.format, excluded.filename, excluded.text)`,
      workflowId,
      version,
      source.format,
      source.filename,
      source.text,
    );
  }

  storeTestVersion({ executionId, workflowId, version, hash, definition, createdAt }: TestVersionRow): void {
    this.#transaction(() => {
      this.#statements.run(
        `INSERT INTO test_versions (execution_id, workflow_id, version, hash, definition, created_at)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (workflow_id, version) DO UPDATE SET created_at = excluded.created_at`,
        executionId,
        workflowId,
        version,
        hash,
        definition,
        createdAt,
      );
    });
  }

  purgeTestVersions(before: number, limit: number): number {
    return this.#transaction(() =>
      this.#statements.run(
        `DELETE FROM test_versions WHERE number IN (
           SELECT number FROM test_versions INDEXED BY test_versions_by_time
           WHERE created_at < ? AND NOT EXISTS (
             SELECT 1 FROM executions WHERE executions.execution_id = test_versions.execution_id)
           LIMIT ?)`,
        before,
        bounded(limit),
      ),
    );
  }

  commitRecords(changes: readonly RecordChange[], now: number): CommitOutcome {
    return this.#transaction(() => commitRecords(this.#statements, changes, now));
  }

  purgeRecords(now: number, limit: number): number {
    return this.#transaction(() => purgeRecords(this.#statements, now, limit));
  }

  /** Deletes a bounded part of an execution's log. Returns true if more is left. */
  deleteLines(executionId: ExecutionId): boolean {
    return this.#transaction(
      () =>
        this.#statements.run(`DELETE FROM logs WHERE execution_id = ? LIMIT ${PIECE_LINES}`, executionId) ===
        PIECE_LINES,
    );
  }

  #insertLines(lines: readonly EncodedLine[]): void {
    const insert = this.#statements.prepared(
      'INSERT INTO logs (execution_id, node, attempt, at, level, message, fields) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    for (const line of lines) {
      const { executionId, node, attempt, at, level, message, fields } = line;
      try {
        insert.run(executionId, node, attempt, at, level, message, fields);
      } catch (error) {
        if (!isUnwritable(error)) throw error;
        const note = setAside(line, error);
        insert.run(note.executionId, null, null, note.at, note.level, note.message, null);
      }
    }
  }

  /** Deletes a bounded part of the frames, then of the ids of deleted children. Returns true if none is left. */
  #deletePiece(number: number): boolean {
    const frames = this.#statements.run(`DELETE FROM frames WHERE execution = ? LIMIT ${PIECE_FRAMES}`, number);
    if (frames === PIECE_FRAMES) return false;
    const ids = this.#statements.run(`DELETE FROM deleted_children WHERE parent = ? LIMIT ${PIECE_FRAMES}`, number);
    return ids < PIECE_FRAMES;
  }

  #transaction<T>(body: () => T): T {
    if (this.#connection.inTransaction) this.#connection.exec('ROLLBACK'); // an earlier rollback failed
    this.#begin.run();
    try {
      const dataVersion = this.#dataVersion.get() as number;
      if (dataVersion !== this.#seenDataVersion) {
        this.#seenDataVersion = dataVersion;
        this.#appender.forget();
      }
      const result = body();
      const startedAt = performance.now();
      this.#commit.run();
      this.lastCommitMs = performance.now() - startedAt;
      return result;
    } catch (error) {
      // SQLite rolls back by itself after some errors, e.g. a full disk.
      if (this.#connection.inTransaction) this.#connection.exec('ROLLBACK');
      this.#appender.forget();
      throw error;
    }
  }
}

export type WriteMethod = {
  [K in keyof Writes]: Writes[K] extends (...args: never[]) => unknown ? K : never;
}[keyof Writes];

/** Carries out a call given as data, because it may come from another thread. */
export function carryOut(writes: Writes, method: WriteMethod, args: readonly unknown[]): unknown {
  writes.lastCommitMs = 0;
  const write = writes[method] as (...args: readonly unknown[]) => unknown;
  return write.apply(writes, args as unknown[]);
}

function literals(statuses: readonly string[]): string {
  return statuses.map((status) => `'${status}'`).join(', ');
}
