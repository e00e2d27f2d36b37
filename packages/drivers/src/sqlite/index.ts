export type { Durability } from './connection.ts';
export type { DatabaseFigures } from './copy.ts';
export { copyDatabase } from './copy-database.ts';
export { integrityProblem } from './integrity.ts';
export { type EngineHolder, engineHolder } from './lock.ts';
export { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './store.ts';
