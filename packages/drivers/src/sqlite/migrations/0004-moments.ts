import type { Migration } from './migration.ts';

/**
 * The moment granted to the last request of each node, the newest moments of each rate, numbered in the order of
 * granting, and the durations of nodes.
 */
export const moments: Migration = {
  version: 4,
  sql: `
CREATE TABLE moments (
  execution_id TEXT NOT NULL,
  node         TEXT NOT NULL,
  ask          TEXT NOT NULL,
  at           INTEGER NOT NULL,
  PRIMARY KEY (execution_id, node)
) WITHOUT ROWID;

DROP TABLE rates;
CREATE TABLE rates (
  key    TEXT NOT NULL,
  number INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  until  INTEGER NOT NULL,
  PRIMARY KEY (key, number)
) WITHOUT ROWID;
CREATE INDEX rates_by_end ON rates (until);

CREATE TABLE durations (
  workflow_id TEXT NOT NULL,
  node        TEXT NOT NULL,
  ms          INTEGER NOT NULL,
  PRIMARY KEY (workflow_id, node)
) WITHOUT ROWID;
`,
};
