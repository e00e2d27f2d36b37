import type { Statement } from 'better-sqlite3';
import type { Connection } from './connection.ts';

/** A limit for SQLite: an integer of at least 0. */
export function bounded(limit: number): number {
  return Math.min(Math.max(0, Math.floor(limit)), Number.MAX_SAFE_INTEGER);
}

/** Prepared statements by their text. The texts are a closed set, so the map stays small. */
export class Statements {
  readonly #connection: Connection;
  readonly #prepared = new Map<string, Statement<unknown[], unknown>>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  all<T>(sql: string, ...parameters: unknown[]): T[] {
    return this.prepared(sql).all(...parameters) as T[];
  }

  first<T>(sql: string, ...parameters: unknown[]): T | undefined {
    return this.prepared(sql).get(...parameters) as T | undefined;
  }

  /** The first column of the first row. */
  value<T>(sql: string, ...parameters: unknown[]): T | undefined {
    const row = this.first<Readonly<Record<string, T>>>(sql, ...parameters);
    return row === undefined ? undefined : Object.values(row)[0];
  }

  /** Returns the number of changed rows. */
  run(sql: string, ...parameters: unknown[]): number {
    return this.prepared(sql).run(...parameters).changes;
  }

  prepared(sql: string): Statement<unknown[], unknown> {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare<unknown[], unknown>(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}
