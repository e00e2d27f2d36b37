import type { Migration } from './migration.ts';

/**
 * What was given to the last ask of a node for a moment of a rate, the newest moments of each rate, numbered in the order
 * in which they were given, and how long nodes take.
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
