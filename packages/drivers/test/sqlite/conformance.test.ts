import { join } from 'node:path';
import { logsSuite, recordsSuite, storeSuite } from '@nebula/ports/conformance';
import { realClock } from '../../src/real/index.ts';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../../src/sqlite/index.ts';
import { temporaryFolder } from '../temporary.ts';

type Variant = Pick<SqliteStoreOptions, 'commitsIn' | 'durability' | 'slowCommitMs' | 'walLimitBytes'>;

/** All stores of one test, in a folder of its own. */
async function subject(variant: Variant) {
  const folder = await temporaryFolder();
  const path = join(folder.path, 'data', 'nebula.db');
  const opened: SqliteStore[] = [];
  const open = async (engine: boolean): Promise<SqliteStore> => {
    const store = await openSqliteStore({ path, clock: realClock, engine, ...variant });
    opened.push(store);
    return store;
  };
  const store = await open(true);
  return {
    store,
    reopen: async () => {
      await store.close();
      return open(true);
    },
    beside: () => open(false),
    close: async () => {
      for (const each of opened.toReversed()) await each.close();
      await folder.remove();
    },
  };
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  'on the main thread': { commitsIn: 'main' },
  'in a thread': { commitsIn: 'thread', durability: 'relaxed' },
  'moving to and fro, relaxed, with a tiny log': {
    commitsIn: 'auto',
    slowCommitMs: 0.02,
    durability: 'relaxed',
    walLimitBytes: 64 * 1024,
  },
};

for (const [name, variant] of Object.entries(VARIANTS)) {
  storeSuite(`sqlite, ${name}`, () => subject(variant));

  logsSuite(`sqlite, ${name}`, async () => {
    const { store, reopen, beside, close } = await subject(variant);
    return {
      logs: store.logs,
      reopen: async () => (await reopen()).logs,
      beside: async () => (await beside()).logs,
      close,
    };
  });

  recordsSuite(`sqlite, ${name}`, async () => {
    const { store, reopen, beside, close } = await subject(variant);
    return {
      records: store.records,
      now: () => realClock.now(),
      pass: (ms) => new Promise((resolve) => realClock.timer(ms, resolve)),
      reopen: async () => (await reopen()).records,
      beside: async () => (await beside()).records,
      close,
    };
  });
}
