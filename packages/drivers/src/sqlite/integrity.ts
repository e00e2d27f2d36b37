/** Checks the pages, indexes and rows of a database file that nobody else uses. */
import Database from 'better-sqlite3';
import { explained } from './failure.ts';

/** The first problem that SQLite finds; undefined if the database is whole. */
export function integrityProblem(path: string): string | undefined {
  try {
    const connection = new Database(path, { readonly: true, fileMustExist: true });
    try {
      const found = connection.pragma('integrity_check(1)', { simple: true }) as string;
      return found === 'ok' ? undefined : found;
    } finally {
      connection.close();
    }
  } catch (error) {
    throw explained(error, path);
  }
}
