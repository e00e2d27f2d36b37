/** Opens the database of a data folder as an engine does at its start, and closes it: all commits are in its file then. */
import path from 'node:path';
import { realClock } from '@nebula/drivers/real';
import { openSqliteStore } from '@nebula/drivers/sqlite';
import { DATABASE } from './workload-options.ts';

export async function recover(dataDir: string): Promise<void> {
  const store = await openSqliteStore({
    path: path.join(dataDir, DATABASE),
    clock: realClock,
    engine: true,
    commitsIn: 'main',
  });
  await store.close();
}
