/**
 * While a backup copies blobs, none is deleted.
 *
 *  1. A backup holds an exclusive lock on `backup.lock` from before its copy of the database until its last blob is
 *     read. The operating system drops the lock when the process ends in any way. So one backup runs at a time.
 *  2. The rows of a run are deleted before its blobs. Blobs are left where they are while the lock is held; the sweeper
 *     finds them as orphans afterwards. So every blob that the copied database names is there until it is copied: if
 *     its rows had been deleted before the lock was taken, the copy would not have them.
 */
import { existsSync } from 'node:fs';
import { NebulaError } from '@nebula/core';

const LOCK = 'backup.lock';
/** A process that looks whether the lock is held keeps it for some microseconds. */
const LOCK_WAIT_MS = 100;

/** Returns a function that releases the hold. Rejects with `BACKUP_RUNNING`. */
export async function holdBlobs(dataDir: string): Promise<() => void> {
  const { default: Database } = await import('better-sqlite3');
  const lock = new Database(`${dataDir}/${LOCK}`, { timeout: LOCK_WAIT_MS });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return () => lock.close();
  } catch (error) {
    lock.close();
    throw isBusy(error) ? running(error) : error;
  }
}

export async function areBlobsHeld(dataDir: string): Promise<boolean> {
  const file = `${dataDir}/${LOCK}`;
  if (!existsSync(file)) return false;
  const { default: Database } = await import('better-sqlite3');
  const lock = new Database(file, { timeout: 0 });
  try {
    lock.prepare('SELECT 1 FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    lock.close();
  }
}

function isBusy(error: unknown): boolean {
  return String((error as { readonly code?: unknown }).code).startsWith('SQLITE_BUSY');
}

function running(cause: unknown): NebulaError {
  return new NebulaError('BACKUP_RUNNING', 'Another backup of this data is being made.', {
    hint: 'Wait until it has ended, or stop it. One backup runs at a time.',
    cause,
  });
}
