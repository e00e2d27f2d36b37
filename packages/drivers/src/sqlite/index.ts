export type { Durability } from './connection.ts';
export { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './store.ts';
