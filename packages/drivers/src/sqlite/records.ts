/** Records in the database of the store. Reads use the index `records_by_id`, purges `records_by_expiry`. */
import type { Clock, CommitOutcome, RecordChange, RecordPage, RecordRow, Records } from '@nebula/ports';
import { endOfPrefix } from '@nebula/ports/rows';
import { bounded, type Statements } from './statements.ts';

const COLUMNS = 'kind, id, body, revision, updated_at AS updatedAt, expires_at AS expiresAt';
const IS_THERE = '(expires_at IS NULL OR expires_at > ?)';

export interface SqliteRecordsOptions {
  readonly clock: Clock;
  readonly read: <T>(read: (statements: Statements) => T) => Promise<T>;
  readonly commit: (changes: readonly RecordChange[], now: number) => Promise<CommitOutcome>;
  readonly purge: (now: number, limit: number) => Promise<number>;
}

export function sqliteRecords({ clock, read, commit, purge }: SqliteRecordsOptions): Records {
  return {
    get: (kind, id) => read((statements) => recordOf(statements, kind, id, clock.now())),
    list: (kind, page) => read((statements) => recordsOf(statements, kind, page, clock.now())),
    commit: (changes) => commit(changes, clock.now()),
    purge,
  };
}

export function recordOf(statements: Statements, kind: string, id: string, now: number): RecordRow | undefined {
  return statements.first(`SELECT ${COLUMNS} FROM records WHERE kind = ? AND id = ? AND ${IS_THERE}`, kind, id, now);
}

/** The cost is that of the page, plus the expired records in its range that are not purged yet. */
export function recordsOf(
  statements: Statements,
  kind: string,
  { prefix = '', after, order, limit }: RecordPage,
  now: number,
): readonly RecordRow[] {
  const isDescending = order === 'descending';
  const conditions = ['kind = ?', 'id >= ?'];
  const values = [kind, prefix];
  const end = endOfPrefix(prefix);
  if (end !== undefined) {
    conditions.push('id < ?');
    values.push(end);
  }
  if (after !== undefined) {
    conditions.push(isDescending ? 'id < ?' : 'id > ?');
    values.push(after);
  }
  return statements.all(
    `SELECT ${COLUMNS} FROM records WHERE ${conditions.join(' AND ')} AND ${IS_THERE}
     ORDER BY id ${isDescending ? 'DESC' : 'ASC'} LIMIT ?`,
    ...values,
    now,
    bounded(limit),
  );
}

/** Called inside a transaction. A conflict is found before anything is changed. */
export function commitRecords(statements: Statements, changes: readonly RecordChange[], now: number): CommitOutcome {
  const revisionOf = `SELECT revision FROM records WHERE kind = ? AND id = ? AND ${IS_THERE}`;
  for (const { kind, id, expected } of changes) {
    if (expected === undefined) continue;
    const there = statements.value<number>(revisionOf, kind, id, now) ?? 0;
    if (there !== expected) return { ok: false, kind, id, revision: there };
  }
  const revision = statements.value<number>(
    "UPDATE meta SET value = value + 1 WHERE key = 'last_revision' RETURNING value",
  ) as number;
  const remove = statements.prepared('DELETE FROM records WHERE kind = ? AND id = ?');
  const put = statements.prepared(
    `INSERT INTO records (kind, id, body, revision, updated_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body, revision = excluded.revision,
       updated_at = excluded.updated_at, expires_at = excluded.expires_at`,
  );
  for (const { kind, id, body, expiresAt = null } of changes) {
    if (body === null) remove.run(kind, id);
    else put.run(kind, id, body, revision, now, expiresAt);
  }
  return { ok: true, revision };
}

/** Called inside a transaction. */
export function purgeRecords(statements: Statements, now: number, limit: number): number {
  return statements.run('DELETE FROM records WHERE expires_at <= ? ORDER BY expires_at LIMIT ?', now, bounded(limit));
}
