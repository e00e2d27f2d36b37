export type { Durability } from './connection.ts';
export { type EngineHolder, engineHolder } from './lock.ts';
export { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './store.ts';
