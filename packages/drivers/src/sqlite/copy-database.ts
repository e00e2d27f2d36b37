/** Copies a database that an engine of any process may be using, without blocking this thread. */

import type { ConnectionOptions } from './connection.ts';
import type { DatabaseFigures } from './copy.ts';
import { explained } from './failure.ts';
import { openBeside } from './open.ts';
import { SideThread } from './side-thread.ts';

const COPY_THREAD = new URL('./copy-thread.ts', import.meta.url);
const LOCK_WAIT_MS = 10_000;

/** `to` must not exist. Rejects with the errors of opening a store: `DATA_DIR_MISSING`, `STORE_TOO_OLD` and so on. */
export async function copyDatabase(path: string, to: string): Promise<DatabaseFigures> {
  const options: ConnectionOptions = {
    path,
    durability: 'strict',
    readonly: true,
    fileMustExist: true,
    lockWaitMs: LOCK_WAIT_MS,
  };
  openBeside(options).close();
  const thread = new SideThread(COPY_THREAD, options);
  try {
    return (await thread.call('copy', [to])).result as DatabaseFigures;
  } catch (error) {
    throw explained(error, path);
  } finally {
    await thread.close();
  }
}
