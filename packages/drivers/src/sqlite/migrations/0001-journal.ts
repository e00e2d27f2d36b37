import type { Migration } from './migration.ts';

/**
 * Figures: 64 frames of 150 bytes per transaction, on the machine of docs, November 2026.
 *
 * `frames` by position, with a small index on (execution, seq), where `execution` is a number:
 *   122,000 rows/s FULL, 347,000 NORMAL, 677 bytes of log per row.
 * The same with the text id in each row: 85,000 and 264,000, 938 bytes.
 * Clustered WITHOUT ROWID by (execution, seq), with an index on position: 84,000 and 202,000, 1,807 bytes.
 *
 * An execution's number is the position at which it was created, so one counter serves both, and newest first is
 * by number, without an index of its own. Positions are given by the writer, not by SQLite, which would give the
 * last one again after its deletion; `meta.last_position` remembers deleted ones.
 *
 * Indexes of `executions` cost 0.2 to 0.6 µs each per run, of some 48. One by owner would cost 4.3 and serve only
 * the reaping of dead workers, which happens when an engine starts: `executions_by_status` finds the unfinished.
 */
export const journal: Migration = {
  version: 1,
  sql: `
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES ('last_position', 0);

CREATE TABLE executions (
  number       INTEGER PRIMARY KEY,
  execution_id TEXT NOT NULL,
  workflow_id  TEXT NOT NULL,
  version      INTEGER NOT NULL,
  status       TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  finished_at  INTEGER,
  wake_at      INTEGER,
  owner        TEXT,
  expires_at   INTEGER
);
CREATE UNIQUE INDEX executions_by_id ON executions (execution_id);
CREATE INDEX executions_by_workflow ON executions (workflow_id);
CREATE INDEX executions_by_status ON executions (status) WHERE status <> 'completed';
CREATE INDEX executions_by_wake ON executions (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX executions_by_expiry ON executions (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE frames (
  position  INTEGER PRIMARY KEY,
  execution INTEGER NOT NULL,
  seq       INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  entries   TEXT NOT NULL
);
CREATE UNIQUE INDEX frames_by_execution ON frames (execution, seq);

CREATE TABLE snapshots (
  execution INTEGER PRIMARY KEY,
  seq       INTEGER NOT NULL,
  state     TEXT NOT NULL
);

CREATE TABLE inbox (
  arrival    INTEGER PRIMARY KEY,
  execution  INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  body       TEXT NOT NULL
);
CREATE UNIQUE INDEX inbox_by_execution ON inbox (execution, message_id);

-- Numbers of deleted executions whose frames are still being removed, piece by piece.
CREATE TABLE doomed (
  execution INTEGER PRIMARY KEY
);

CREATE TABLE workers (
  worker     TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE workflow_versions (
  workflow_id TEXT NOT NULL,
  version     INTEGER NOT NULL,
  hash        TEXT NOT NULL,
  definition  TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (workflow_id, version)
);
CREATE UNIQUE INDEX workflow_versions_by_hash ON workflow_versions (workflow_id, hash);

CREATE TABLE logs (
  position     INTEGER PRIMARY KEY,
  execution_id TEXT NOT NULL,
  node         TEXT,
  attempt      INTEGER,
  at           INTEGER NOT NULL,
  level        INTEGER NOT NULL,
  message      TEXT NOT NULL,
  fields       TEXT
);
CREATE INDEX logs_by_execution ON logs (execution_id);
`,
};
