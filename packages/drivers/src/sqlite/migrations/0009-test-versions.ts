import type { Migration } from './migration.ts';

/**
 * The definitions of test runs, each with its only execution. They are apart from the versions of workflows, so that no
 * list has to leave them out.
 */
export const testVersions: Migration = {
  version: 9,
  sql: `
CREATE TABLE test_versions (
  number       INTEGER PRIMARY KEY,
  execution_id TEXT NOT NULL,
  workflow_id  TEXT NOT NULL,
  version      INTEGER NOT NULL,
  hash         TEXT NOT NULL,
  definition   TEXT NOT NULL,
  created_at   INTEGER NOT NULL
);
CREATE UNIQUE INDEX test_versions_by_execution ON test_versions (execution_id);
CREATE UNIQUE INDEX test_versions_by_version ON test_versions (workflow_id, version);
CREATE INDEX test_versions_by_time ON test_versions (created_at, execution_id);
`,
};
