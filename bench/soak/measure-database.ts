/** The size of a data folder: bytes of the database and of its write-ahead log, rows, and blobs. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';

const TABLES = ['executions', 'frames', 'logs', 'snapshots', 'inbox', 'doomed'];

export interface DatabaseFigures {
  readonly bytes: number;
  readonly logBytes: number;
  readonly rows: number;
  readonly blobs: number;
}

export function measureDatabase(folder: string): DatabaseFigures {
  const file = path.join(folder, 'nebula.db');
  return {
    bytes: sizeOf(file),
    logBytes: sizeOf(`${file}-wal`),
    rows: rowsIn(file),
    blobs: blobsIn(path.join(folder, 'blobs')),
  };
}

/** Not a number when the database is not there yet, or is being opened just now. */
function rowsIn(file: string): number {
  try {
    const database = new Database(file, { readonly: true, fileMustExist: true });
    try {
      const counts = TABLES.map((table) => `(SELECT count(*) FROM ${table})`).join(' + ');
      return database.prepare<[], number>(`SELECT ${counts}`).pluck().get() as number;
    } finally {
      database.close();
    }
  } catch {
    return Number.NaN;
  }
}

function blobsIn(folder: string): number {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
  } catch {
    return 0;
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
