/** The output cache as a table. Writes are called inside a transaction. */
import type { CacheChoice, CachePage, CacheRow } from '@nebula/ports';
import { endOfPrefix } from '@nebula/ports/rows';
import { bounded, type Statements } from './statements.ts';

const COLUMNS = `key, family, input, output, execution_id AS executionId, node, at, expires_at AS expiresAt`;

export function saveCached(statements: Statements, row: CacheRow): void {
  const { key, family, input, output, executionId, node, at, expiresAt } = row;
  const sql = 'INSERT OR REPLACE INTO cache VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
  statements.run(sql, key, family, input, output, executionId, node, at, expiresAt);
}

export function purgeCached(statements: Statements, now: number, limit: number): string[] {
  const sql = 'SELECT key FROM cache WHERE expires_at <= ? ORDER BY expires_at LIMIT ?';
  return remove(statements, statements.all<{ readonly key: string }>(sql, now, limit));
}

export function forgetCached(statements: Statements, which: CacheChoice, limit: number): string[] {
  if (!('key' in which)) return remove(statements, cachePage(statements, { ...which, limit }));
  const sql = 'SELECT key FROM cache WHERE key = ?';
  return remove(statements, statements.all<{ readonly key: string }>(sql, which.key));
}

function remove(statements: Statements, rows: readonly { readonly key: string }[]): string[] {
  for (const { key } of rows) statements.run('DELETE FROM cache WHERE key = ?', key);
  return rows.map(({ key }) => key);
}

export function cachedRow(statements: Statements, key: string, now: number): CacheRow | undefined {
  const sql = `SELECT ${COLUMNS} FROM cache WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)`;
  return statements.first<CacheRow>(sql, key, now);
}

/** `cache_by_family` has the key as its last column, so the page is read in its order. */
export function cachePage(statements: Statements, { prefix, after, limit }: CachePage): CacheRow[] {
  const conditions = ['family >= ?'];
  const values: (string | number)[] = [prefix];
  const end = endOfPrefix(prefix);
  if (end !== undefined) {
    conditions.push('family < ?');
    values.push(end);
  }
  if (after !== undefined) {
    conditions.push('(family, at, key) > (?, ?, ?)');
    values.push(after.family, after.at, after.key);
  }
  return statements.all<CacheRow>(
    `SELECT ${COLUMNS} FROM cache WHERE ${conditions.join(' AND ')} ORDER BY family, at, key LIMIT ?`,
    ...values,
    bounded(limit),
  );
}

export function newestOfFamily(statements: Statements, family: string, limit: number): CacheRow[] {
  const sql = `SELECT ${COLUMNS} FROM cache WHERE family = ? ORDER BY at DESC LIMIT ?`;
  return statements.all<CacheRow>(sql, family, limit);
}
