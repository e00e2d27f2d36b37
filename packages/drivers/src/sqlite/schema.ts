/** Identifies the database, and migrates its schema to the current version. */
import { NebulaError } from '@nebula/core';
import type { Connection } from './connection.ts';
import { prepareNewFile } from './connection.ts';
import { emptied } from './failure.ts';
import { MIGRATIONS } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';

/** "NBLA", SQLite's mark for the program that owns a file. */
const APPLICATION_ID = 0x4e424c41;

/** Creates or migrates the schema for an engine, all steps in one transaction. */
export function migrate(connection: Connection, path: string, migrations: readonly Migration[] = MIGRATIONS): void {
  const found = inspect(connection, path);
  const newest = migrations.at(-1)?.version ?? 0;
  refuseNewer(found.version, newest, path);
  if (found.empty) prepareNewFile(connection);
  connection.pragma('journal_mode = WAL');
  if (found.version === newest) return;
  const steps = migrations.filter((migration) => migration.version > found.version);
  const run = connection.transaction(() => {
    for (const step of steps) connection.exec(step.sql);
    connection.pragma(`application_id = ${APPLICATION_ID}`);
    connection.pragma(`user_version = ${newest}`);
  });
  run.exclusive();
}

/** Migrates an existing file for an engine: a file without a table was never finished, or has lost its content. */
export function migrateExisting(connection: Connection, path: string): void {
  if (inspect(connection, path).empty) throw emptied(path);
  migrate(connection, path);
}

/** Checks the schema for a process beside an engine: it must exist and be the current one. */
export function expectSchema(connection: Connection, path: string): void {
  const { version, empty } = inspect(connection, path);
  const newest = MIGRATIONS.at(-1)?.version ?? 0;
  if (empty) throw emptied(path);
  refuseNewer(version, newest, path);
  if (version < newest) {
    throw new NebulaError('STORE_TOO_OLD', `The data at ${path} was written by an older Nebula.`, {
      hint: 'Start an engine of this version on it once, for example with `nebula serve`: it brings the data up to date.',
    });
  }
}

function inspect(connection: Connection, path: string): { readonly version: number; readonly empty: boolean } {
  const pragma = (name: string): number => connection.pragma(name, { simple: true }) as number;
  const empty = connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
  if (!empty && pragma('application_id') !== APPLICATION_ID) {
    throw new NebulaError('STORE_NOT_A_DATABASE', `${path} is the database of another program.`, {
      hint: 'Choose another data directory, or move that file away.',
    });
  }
  return { version: pragma('user_version'), empty };
}

function refuseNewer(version: number, newest: number, path: string): void {
  if (version <= newest) return;
  throw new NebulaError(
    'STORE_TOO_NEW',
    `The data at ${path} was written by a newer Nebula (schema ${version}; this one knows ${newest}).`,
    { hint: 'Use that newer version, or choose another data directory.' },
  );
}
