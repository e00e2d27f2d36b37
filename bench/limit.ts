/**
 * The limit of the machine: what better-sqlite3 alone can append to the same table, in strict durability,
 * in batches of 64 rows of the same size. A figure means something only beside it.
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { realClock } from '@nebula/drivers/real';
import { openSqliteStore } from '@nebula/drivers/sqlite';
import Database from 'better-sqlite3';
import { benchFolder } from './session.ts';

const BATCH = 64;

export async function rowsPerSecond(rowBytes: number, seconds = 1.5): Promise<number> {
  const folder = benchFolder();
  const file = path.join(folder, 'nebula.db');
  const store = await openSqliteStore({ path: file, clock: realClock, engine: true });
  await store.close();
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  const insert = database.prepare('INSERT INTO frames (execution, seq, at, entries) VALUES (?, ?, ?, ?)');
  const entries = 'x'.repeat(rowBytes);
  let seq = 0;
  const append = database.transaction(() => {
    seq++;
    for (let run = 1; run <= BATCH; run++) insert.run(run, seq, 1_700_000_000_000, entries);
  });
  for (let warm = 0; warm < 20; warm++) append();
  const started = performance.now();
  let rows = 0;
  while (performance.now() - started < seconds * 1_000) {
    append();
    rows += BATCH;
  }
  const rate = rows / ((performance.now() - started) / 1_000);
  database.close();
  rmSync(folder, { recursive: true, force: true });
  return rate;
}
