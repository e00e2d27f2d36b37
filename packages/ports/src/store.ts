/**
 * The store: everything durable that engines share. Its ports are one object, since one transaction may touch all of
 * them; a part of the engine or server asks for the ports that it uses.
 */
import type { OutputCache } from './cache.ts';
import type { Definitions } from './definitions.ts';
import type { Executions } from './executions.ts';
import type { HumanTasks } from './human-tasks.ts';
import type { Inbox } from './inbox.ts';
import type { Journal } from './journal.ts';
import type { Permits } from './permits.ts';
import type { Statistics } from './statistics.ts';
import type { Workers } from './workers.ts';

/** The code of the error with which a store rejects every call once its data is gone. Retrying does not help. */
export const STORE_GONE = 'STORE_GONE';

export interface Store
  extends Journal,
    Executions,
    Inbox,
    HumanTasks,
    Statistics,
    Permits,
    Workers,
    OutputCache,
    Definitions {
  /** True if no other engine can use this store: leases of earlier workers are void at once. */
  readonly exclusive: boolean;
  /**
   * Calls back after a write of another process; may call too often, never too rarely. Returns a function that stops
   * it.
   */
  watch(onForeignWrite: () => void): () => void;
  close(): Promise<void>;
}
