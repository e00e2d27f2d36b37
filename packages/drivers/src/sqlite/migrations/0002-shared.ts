import type { Migration } from './migration.ts';

/** What runs share: places among the holders of a key, rates, and outputs that may be used again. */
export const shared: Migration = {
  version: 2,
  sql: `
CREATE TABLE permits (
  asked        INTEGER PRIMARY KEY,
  key          TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  node         TEXT NOT NULL,
  places       INTEGER NOT NULL,
  is_held      INTEGER NOT NULL,
  message_id   TEXT NOT NULL,
  body         TEXT NOT NULL
);
CREATE UNIQUE INDEX permits_by_holder ON permits (key, execution_id, node);
CREATE INDEX permits_in_order ON permits (key, is_held, asked);

CREATE TABLE rates (
  key     TEXT PRIMARY KEY,
  even_at REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE cache (
  key          TEXT PRIMARY KEY,
  family       TEXT NOT NULL,
  input        TEXT NOT NULL,
  output       TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  node         TEXT NOT NULL,
  at           INTEGER NOT NULL,
  expires_at   INTEGER
) WITHOUT ROWID;
CREATE INDEX cache_by_family ON cache (family, at);
CREATE INDEX cache_by_expiry ON cache (expires_at) WHERE expires_at IS NOT NULL;
`,
};
