import type { Migration } from './migration.ts';

/** An execution may have several definitions: those of starts that failed, and the one that it was started with. */
export const attemptedTests: Migration = {
  version: 12,
  sql: `
DROP INDEX test_versions_by_execution;
CREATE INDEX test_versions_by_execution ON test_versions (execution_id);
`,
};
