/** Checks backups, and restores them into an empty data folder. No engine is started. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NebulaError } from '@nebula/core';
import { blobName, DATABASE, extractBackup } from '@nebula/drivers/backup';
import { syncFolder } from '@nebula/drivers/fs';
import { realClock } from '@nebula/drivers/real';
import { integrityProblem, openSqliteStore } from '@nebula/drivers/sqlite';
import { missingBlobs } from '@nebula/engine';
import type { BackupServices, CheckedBackup } from '../services.ts';

type OnProgress = (readBytes: number, totalBytes: number) => void;

export const backupServices: BackupServices = { verify, restore };

/** The database is copied to a temporary folder for the check; stored values are only read. */
async function verify(file: string, onProgress: OnProgress): Promise<CheckedBackup> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nebula-verify-'));
  try {
    return await extracted(file, path.join(folder, DATABASE), () => undefined, onProgress);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The database gets its name last. Until then an empty file has that name, with which no engine starts: an interrupted
 * restore is not taken for a new folder.
 */
async function restore(file: string, dataDir: string, onProgress: OnProgress): Promise<CheckedBackup> {
  await sizeOf(file);
  const isNew = await makeEmptyFolder(dataDir);
  const database = path.join(dataDir, DATABASE);
  const restoring = `${database}.restoring`;
  // Another restore, or an engine, may have begun in this folder meanwhile: nothing of it is removed.
  await writeFile(database, '', { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? notEmpty(dataDir, false) : error;
  });
  try {
    const checked = await extracted(file, restoring, (name) => path.join(dataDir, name), onProgress);
    if (existsSync(`${restoring}-wal`)) throw new Error('invariant broken: closing a database removes its log');
    await rename(restoring, database);
    await syncFolder(dataDir);
    return checked;
  } catch (error) {
    for (const name of await readdir(dataDir)) {
      if (!IGNORED.has(name)) await rm(path.join(dataDir, name), { recursive: true, force: true });
    }
    if (isNew) await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}

async function extracted(
  file: string,
  database: string,
  fileFor: (name: string) => string | undefined,
  onProgress: OnProgress,
): Promise<CheckedBackup> {
  const total = await sizeOf(file);
  const blobs = new Set<string>();
  const manifest = await extractBackup(file, {
    fileFor: (name) => (name === DATABASE ? database : fileFor(name)),
    onBlob: (name) => blobs.add(name),
    onProgress: (bytes) => onProgress(bytes, total),
  });
  const problem = integrityProblem(database);
  if (problem !== undefined) {
    throw new NebulaError('BACKUP_DAMAGED', `The database of the backup is damaged: ${problem}`, {
      hint: 'The database was damaged when the backup was made. Use an earlier backup.',
    });
  }
  // Opened as by an engine: that brings the copy of an older version up to date.
  const store = await openSqliteStore({ path: database, clock: realClock, engine: true });
  try {
    const missing = await missingBlobs(store, (executionId, sha256) => blobs.has(blobName(executionId, sha256)));
    return { manifest, runs: await store.counts({}), missing };
  } finally {
    await store.close();
  }
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() === true) return found.size;
  const what = found === undefined ? 'there is no file' : 'not a file:';
  throw new NebulaError('BACKUP_INVALID', `${what} ${file}`, {
    hint: 'Give the file that `nebula backup` has written.',
  });
}

/** Entries of a fresh disk. */
const IGNORED: ReadonlySet<string> = new Set(['lost+found']);

/** Returns whether the folder was created. Rejects with `DATA_DIR_NOT_EMPTY`. */
async function makeEmptyFolder(folder: string): Promise<boolean> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw unusable(folder, error);
  });
  if (found === undefined) {
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      throw unusable(folder, error);
    });
    return true;
  }
  const names = found.filter((name) => !IGNORED.has(name));
  if (names.length === 0) return false;
  const isBroken = names.includes(`${DATABASE}.restoring`);
  throw notEmpty(folder, isBroken);
}

function notEmpty(folder: string, isBroken: boolean): NebulaError {
  return new NebulaError(
    'DATA_DIR_NOT_EMPTY',
    isBroken ? `${folder} has an interrupted restore` : `${folder} is not empty; a restore never overwrites data`,
    { hint: isBroken ? 'delete that folder, and restore again' : 'name an empty or a new folder with --data-dir' },
  );
}

function unusable(folder: string, cause: NodeJS.ErrnoException): NebulaError {
  return new NebulaError('DATA_DIR_UNWRITABLE', `${folder} cannot be used: ${cause.message}`, {
    hint: 'name a folder in which this user may write with --data-dir',
    cause,
  });
}
