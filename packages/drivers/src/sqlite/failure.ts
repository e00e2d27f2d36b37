/** Explains errors of SQLite in plain words, with a hint. */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { NebulaError } from '@nebula/core';

/** The code of an error of SQLite, of the file system or of a side thread. */
export function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY') || codeOf(error) === 'SQLITE_LOCKED';
}

/** The row itself cannot be written, whatever the state of the disk; other rows of its transaction can. */
export function isUnwritable(error: unknown): boolean {
  const code = codeOf(error);
  if (code.startsWith('SQLITE_CONSTRAINT') || code === 'SQLITE_MISMATCH' || code === 'SQLITE_TOOBIG') return true;
  return error instanceof TypeError || error instanceof RangeError;
}

/** The error for callers. Errors of other origins pass unchanged. */
export function explained(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === 'THREAD_LOST') return failed(path, error);
  if (error instanceof NebulaError || !code.startsWith('SQLITE_')) return error;
  if (isBusy(error)) return busy(path, error);
  if (code === 'SQLITE_FULL' || (code.startsWith('SQLITE_IOERR') && diskIsFull(path))) return diskFull(path, error);
  if (code.startsWith('SQLITE_CORRUPT')) return corrupt(path, error);
  if (code === 'SQLITE_NOTADB') return notADatabase(path, error);
  if (code.startsWith('SQLITE_READONLY') || code === 'SQLITE_PERM' || code.startsWith('SQLITE_CANTOPEN')) {
    return unwritable(dirname(path), error);
  }
  return failed(path, error);
}

export function unwritable(folder: string, cause: unknown): NebulaError {
  return new NebulaError('DATA_DIR_UNWRITABLE', `Nebula may not write into ${folder}.`, {
    hint: 'Give this user write permission there, or choose another data directory.',
    cause,
  });
}

export function missing(path: string): NebulaError {
  return new NebulaError('DATA_DIR_MISSING', `There is no Nebula data at ${dirname(path)}.`, {
    hint: 'Run a workflow there first, or give the data directory that an engine uses.',
  });
}

/** Nebula creates its database under a temporary name and renames it, so an empty file has lost its content. */
export function emptied(path: string, is = 'is there, but empty'): NebulaError {
  return new NebulaError('STORE_EMPTY', `The database ${path} ${is}: its content is lost.`, {
    hint: `Restore a backup of the data directory. To begin anew without the old runs, remove ${path}, ${path}-wal and ${path}-shm.`,
  });
}

export function gone(path: string): NebulaError {
  return new NebulaError('STORE_GONE', `The database ${path} was deleted or replaced while it was in use.`, {
    hint: 'Nothing more is written. Put the data directory back, or choose another one, and start again.',
  });
}

function failed(path: string, cause: unknown): NebulaError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new NebulaError('STORE_FAILED', `The database ${path} failed: ${message} (${codeOf(cause)}).`, {
    hint: 'If this happens again, look at the disk and the system log.',
    cause,
    retryable: true,
  });
}

function busy(path: string, cause: unknown): NebulaError {
  return new NebulaError('STORE_BUSY', `Another program has kept the database ${path} locked for too long.`, {
    hint: 'Look for a backup, a database browser or another tool that has the file open, and close it.',
    cause,
    retryable: true,
  });
}

function diskFull(path: string, cause: unknown): NebulaError {
  return new NebulaError(
    'DISK_FULL',
    `There is no space left on the disk of ${path}. Nothing that was saved is lost.`,
    { hint: 'Free some space; runs go on from where they stand.', cause, retryable: true },
  );
}

function corrupt(path: string, cause: unknown): NebulaError {
  return new NebulaError('STORE_CORRUPT', `The database ${path} is damaged.`, {
    hint: 'Stop Nebula, keep a copy of the data directory, and restore a backup; `sqlite3 FILE .recover` may save the rest.',
    cause,
  });
}

function notADatabase(path: string, cause: unknown): NebulaError {
  return new NebulaError('STORE_NOT_A_DATABASE', `${path} is not a Nebula database.`, {
    hint: 'Choose another data directory. If this was one of Nebula, its beginning is damaged: restore a backup.',
    cause,
  });
}

function diskIsFull(path: string): boolean {
  try {
    return statfsSync(dirname(path)).bavail === 0;
  } catch {
    return false;
  }
}
