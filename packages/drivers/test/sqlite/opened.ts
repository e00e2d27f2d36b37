/** Shared functions of the tests of the SQLite driver. */
import { join } from 'node:path';
import type { ExecutionStatus, StatusChange, Write } from '@nebula/ports';
import { onTestFinished } from 'vitest';
import { realClock } from '../../src/real/index.ts';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../../src/sqlite/index.ts';
import { temporaryFolder } from '../temporary.ts';

export interface TempStore {
  /** The data directory. */
  readonly folder: string;
  readonly path: string;
  readonly open: (options?: Partial<SqliteStoreOptions>) => Promise<SqliteStore>;
}

/** An empty data directory; when the test ends, everything opened in it is closed and the directory removed. */
export async function tempStore(): Promise<TempStore> {
  const temporary = await temporaryFolder();
  const folder = join(temporary.path, 'data');
  const path = join(folder, 'nebula.db');
  const opened: SqliteStore[] = [];
  onTestFinished(async () => {
    for (const store of opened.toReversed()) await store.close();
    await temporary.remove();
  });
  return {
    folder,
    path,
    open: async (options) => {
      const store = await openSqliteStore({ path, clock: realClock, engine: true, ...options });
      opened.push(store);
      return store;
    },
  };
}

export function creating(executionId: string, more: Partial<Write> = {}): Write {
  return {
    executionId,
    create: { workflowId: 'orders', version: 1, createdAt: 1, owner: null },
    frame: { seq: 1, at: 1, entries: '[]' },
    status: changed('running'),
    ...more,
  };
}

/** A change to this status, without an end. */
export function changed(status: ExecutionStatus): StatusChange {
  return { status, finishedAt: null, expiresAt: null };
}

export function framed(executionId: string, seq: number, entries = '[]'): Write {
  return { executionId, frame: { seq, at: seq, entries } };
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
