import type { Migration } from './migration.ts';

/** Permits, rates, the output cache, subscriptions (`listeners`) and signals. */
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

CREATE TABLE listeners (
  since        INTEGER PRIMARY KEY,
  signal       TEXT NOT NULL,
  key          TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  node         TEXT NOT NULL,
  is_taken     INTEGER NOT NULL
);
CREATE UNIQUE INDEX listeners_by_node ON listeners (execution_id, node, signal, key);
CREATE INDEX listeners_by_signal ON listeners (signal, key) WHERE is_taken = 0;

-- Signals that came before anybody listened, and the ids of those that were given to somebody, until they expire.
CREATE TABLE signals (
  arrival    INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL UNIQUE,
  signal     TEXT NOT NULL,
  key        TEXT NOT NULL,
  body       TEXT,
  expires_at INTEGER NOT NULL
);
CREATE INDEX signals_by_name ON signals (signal, key) WHERE body IS NOT NULL;
CREATE INDEX signals_by_expiry ON signals (expires_at);
`,
};
