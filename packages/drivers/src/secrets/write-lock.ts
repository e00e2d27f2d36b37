/**
 * One writer at a time, over all processes: an exclusive transaction on an empty SQLite file. The operating system
 * drops it when the process ends in any way, so no lock is ever stale.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { NebulaError } from '@nebula/core';
import type { Database } from 'better-sqlite3';

const PATIENCE_MS = 10_000;
const PAUSE_MS = 20;

export async function withWriteLock<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  const lock = await acquire(file);
  try {
    return await work();
  } finally {
    lock.close();
  }
}

async function acquire(file: string): Promise<Database> {
  const { default: SqliteDatabase } = await import('better-sqlite3');
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const database = new SqliteDatabase(file, { timeout: 0 });
    try {
      database.exec('BEGIN EXCLUSIVE');
      return database;
    } catch (error) {
      database.close();
      if (!String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) throw error;
      if (performance.now() > deadline) throw busy(file, error);
    }
    await pause(PAUSE_MS);
  }
}

function busy(file: string, cause: unknown): NebulaError {
  return new NebulaError('SECRETS_BUSY', `another process has been changing secrets for ${PATIENCE_MS / 1000} s`, {
    hint: `Try again; it holds ${file}.`,
    retryable: true,
    cause,
  });
}
