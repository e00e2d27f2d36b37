/** Opens the data of a directory: for an engine, for a process beside it, and read-only. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { NebulaError } from '@nebula/core';
import Database from 'better-sqlite3';
import { DATA_FOLDER_MODE, makeFolder } from '../fs/durable.ts';
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import { codeOf, emptied, explained, missing, unwritable } from './failure.ts';
import { expectSchema, migrate, migrateExisting } from './schema.ts';

/** The largest database that is read into memory, if it has no log and its folder does not allow one. */
const MAX_IN_MEMORY_BYTES = 1024 * 1024 * 1024;

/** Creates the data folder, if it is missing, so that it survives a power cut. */
export async function makeDataFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder, DATA_FOLDER_MODE);
  } catch (error) {
    throw codeOf(error) === 'ENOSPC' ? explained({ code: 'SQLITE_FULL' }, `${folder}/`) : unwritable(folder, error);
  }
}

/** Opens the database for an engine: creates or migrates it. Throws `STORE_EMPTY` for a file without content. */
export function openForEngine(options: ConnectionOptions): Connection {
  refuseEmptyFile(options.path);
  if (!existsSync(options.path)) makeFile(options);
  return opened(options, () => openConnection(options), migrateExisting);
}

/**
 * A database is created under a temporary name, synced once, and renamed, so that under its own name it is always whole.
 * This takes 15 ms; creating it in place, with a sync for each step, takes 40 to 60.
 */
function makeFile(options: ConnectionOptions): void {
  const temporary = `${options.path}.new`;
  try {
    for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(temporary + ending, { force: true });
    const connection = new Database(temporary);
    connection.pragma('synchronous = OFF');
    migrate(connection, temporary);
    connection.close();
    syncPath(temporary);
    renameSync(temporary, options.path);
    const folder = dirname(options.path);
    syncPath(folder);
    syncNameOf(folder);
  } catch (error) {
    throw explained(error, options.path);
  }
}

/**
 * Runs before SQLite opens the file: opening a database of 0 bytes deletes its log, from which it may be recovered, and a
 * log whose database is missing would be played into the new one.
 */
function refuseEmptyFile(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === 0) throw emptied(path);
  const isLogAlone = size === undefined && statSync(`${path}-wal`, { throwIfNoEntry: false })?.size;
  if (isLogAlone) throw emptied(path, 'is missing, but its write-ahead log exists');
}

/** Opens the database for a process beside an engine. */
export function openBeside(options: ConnectionOptions): Connection {
  refuseEmptyFile(options.path);
  if (!existsSync(options.path)) throw missing(options.path);
  if (!options.readonly) return opened(options, () => openConnection(options), expectSchema);
  try {
    return opened(options, () => openConnection(options), expectSchema);
  } catch (error) {
    // SQLite must create a missing log even to read. If it may not, the file is read without one.
    if (codeOf(error) !== 'DATA_DIR_UNWRITABLE' || existsSync(`${options.path}-wal`)) throw error;
    return opened(options, () => openInMemory(options.path), expectSchema);
  }
}

function opened(
  options: ConnectionOptions,
  open: () => Connection,
  prepare: (connection: Connection, path: string) => void,
): Connection {
  let connection: Connection | undefined;
  try {
    connection = open();
    prepare(connection, options.path);
    return connection;
  } catch (error) {
    connection?.close();
    throw explained(error, options.path);
  }
}

function openInMemory(path: string): Connection {
  if (statSync(path).size > MAX_IN_MEMORY_BYTES) {
    throw new NebulaError('DATA_DIR_UNWRITABLE', `${path} is too large to be read where nothing may be written.`, {
      hint: 'Copy the data directory to a place where this user may write, or give write permission.',
    });
  }
  const content = readFileSync(path);
  // Bytes 18 and 19 declare a log beside the file; in memory there is none.
  content[18] = 1;
  content[19] = 1;
  return new Database(content);
}

/** A process that made the data folder may have died before it was synced. Its owner need not be able to read above it. */
function syncNameOf(folder: string): void {
  try {
    syncPath(dirname(folder));
  } catch (error) {
    if (codeOf(error) !== 'EACCES' && codeOf(error) !== 'EPERM') throw error;
  }
}

function syncPath(path: string): void {
  if (process.platform === 'win32') return; // Windows syncs neither folders nor read-only handles
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
