/**
 * One engine per data directory.
 *
 * `engine.lock` is an empty SQLite file on which an exclusive transaction is held open; the operating system drops it
 * when the process ends, however it ends. Nothing else may open that file in this process: on POSIX systems closing
 * any handle of a file drops the process's locks on it. `engine.json` names the holder, for people.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { NebulaError } from '@nebula/core';
import Database from 'better-sqlite3';
import { explained, isBusy } from './failure.ts';

export interface EngineLock {
  release(): void;
}

export function lockEngine(folder: string, now: number): EngineLock {
  const path = join(folder, 'engine.lock');
  const notePath = join(folder, 'engine.json');
  let lock: Database.Database | undefined;
  try {
    lock = new Database(path, { timeout: 0 });
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    throw isBusy(error) ? locked(folder, notePath, error) : explained(error, path);
  }
  writeNote(notePath, now);
  return {
    release() {
      if (lock === undefined) return;
      rmSync(notePath, { force: true });
      lock.close();
      lock = undefined;
    },
  };
}

/** The process whose engine holds the folder. */
export interface EngineHolder {
  readonly pid: number;
  readonly host: string;
  readonly startedAt: string;
}

/**
 * Returns the holder of the lock; undefined if nobody holds it, or if its note cannot be read. A note alone proves
 * nothing: its process may be dead, and its id that of another program. Never called in a process that holds the lock.
 */
export function engineHolder(folder: string): EngineHolder | undefined {
  const path = join(folder, 'engine.lock');
  if (!existsSync(path)) return undefined;
  const probe = new Database(path, { readonly: true, fileMustExist: true, timeout: 0 });
  try {
    probe.pragma('schema_version');
    return undefined;
  } catch (error) {
    if (isBusy(error)) return readNote(join(folder, 'engine.json'));
    throw explained(error, path);
  } finally {
    probe.close();
  }
}

function writeNote(notePath: string, now: number): void {
  const note = { pid: process.pid, host: hostname(), startedAt: new Date(now).toISOString() };
  try {
    writeFileSync(notePath, `${JSON.stringify(note)}\n`);
  } catch {
    // The lock works without the note; only the error message of a second engine is less precise.
  }
}

function locked(folder: string, notePath: string, cause: unknown): NebulaError {
  const holder = readNote(notePath);
  const who = holder === undefined ? 'Another engine' : `The engine with process id ${holder.pid} on ${holder.host}`;
  const since = holder === undefined ? '' : ` since ${holder.startedAt}`;
  const stop = holder === undefined ? 'Stop that engine' : `Stop it (\`kill ${holder.pid}\`)`;
  return new NebulaError('STORE_LOCKED', `${who} has been using the data directory ${folder}${since}.`, {
    hint: `${stop} or choose another data directory. Commands that only read or record requests work beside it.`,
    ...(holder === undefined ? {} : { details: { ...holder } }),
    cause,
  });
}

function readNote(notePath: string): EngineHolder | undefined {
  try {
    return JSON.parse(readFileSync(notePath, 'utf8'));
  } catch {
    return undefined;
  }
}
