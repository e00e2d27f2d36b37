import type { Migration } from './migration.ts';

/** What was given to the last ask of a node for a moment of a rate, and how long nodes take. */
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

CREATE TABLE durations (
  workflow_id TEXT NOT NULL,
  node        TEXT NOT NULL,
  ms          INTEGER NOT NULL,
  PRIMARY KEY (workflow_id, node)
) WITHOUT ROWID;
`,
};
