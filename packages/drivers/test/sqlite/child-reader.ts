/** Opens a store and says what it sees, or the code of what went wrong: `child-reader.ts <path> engine|reader`. */
import { realClock } from '../../src/real/index.ts';
import { openSqliteStore } from '../../src/sqlite/index.ts';

const [path, mode] = process.argv.slice(2);
try {
  const store = await openSqliteStore({
    path: path as string,
    clock: realClock,
    engine: mode === 'engine',
    readonly: mode === 'reader',
    busyTimeoutMs: 500,
  });
  console.log(`${(await store.list({ limit: 100 })).rows.length} executions`);
  await store.close();
} catch (error) {
  console.log((error as { readonly code?: string }).code ?? error);
}
