/** Records in the same database as the store. Everything is found by `records_by_id`, purges by `records_by_expiry`. */
import type { Clock, CommitOutcome, RecordChange, RecordPage, RecordRow, Records } from '@nebula/ports';
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

/** Reads what is in the page, and what has expired there and is not purged yet. */
export function recordsOf(
  statements: Statements,
  kind: string,
  { prefix = '', after, order, limit }: RecordPage,
  now: number,
): readonly RecordRow[] {
  const isDescending = order === 'descending';
  const conditions = ['kind = ?', 'id >= ?'];
  const values = [kind, prefix];
  const end = endOf(prefix);
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

/** Inside a transaction of its caller. A conflict is found before anything is changed. */
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

/** Inside a transaction of its caller. */
export function purgeRecords(statements: Statements, now: number, limit: number): number {
  return statements.run('DELETE FROM records WHERE expires_at <= ? ORDER BY expires_at LIMIT ?', now, bounded(limit));
}

const LAST_CODE_POINT = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;

/** The least text above all that begin with the prefix; undefined when there is none. */
export function endOf(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last + 1 === FIRST_SURROGATE ? AFTER_SURROGATES : last + 1;
  return String.fromCodePoint(...points, next);
}
