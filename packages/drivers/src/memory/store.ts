/**
 * The reference store: the shortest one that keeps every guarantee of the ports. It scans where others have indexes.
 * `memoryStore({ data })` opens data that is there, and several stores on the same data see each other as processes do.
 */
import type { Store } from '@nebula/ports';
import { memoryCache } from './cache.ts';
import { type MemoryData, memoryData, OpenData } from './data.ts';
import { memoryDefinitions } from './definitions.ts';
import { memoryExecutions } from './executions.ts';
import { memoryInbox } from './inbox.ts';
import { memoryJournal } from './journal.ts';
import { memoryWorkers } from './workers.ts';

export interface MemoryStoreOptions {
  readonly data?: MemoryData;
  /** False where several engines share the data. */
  readonly exclusive?: boolean;
}

export function memoryStore({ data = memoryData(), exclusive = true }: MemoryStoreOptions = {}): Store {
  const open = new OpenData(data);
  return {
    exclusive,
    ...memoryJournal(open),
    ...memoryExecutions(open),
    ...memoryInbox(open),
    permits: async (key) => open.get().permits.rows(key),
    ...memoryWorkers(open),
    ...memoryCache(open),
    ...memoryDefinitions(open),
    watch: (onForeignWrite) => open.watch(onForeignWrite),
    close: () => open.close(),
  };
}
