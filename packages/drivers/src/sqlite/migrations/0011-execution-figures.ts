import type { Migration } from './migration.ts';

/**
 * What lists and statistics show of an execution besides its status. The columns are written with its creation and its
 * end, so that no frame writes more than before.
 *
 * A list with a filter walks through one of these indexes in the order of the page (`lists.ts`). They cost 0.2 to 0.6 µs
 * each per run. `executions_by_end` has all that statistics read, so that they never touch a row: about 0.3 s for a
 * million ended executions.
 */
export const executionFigures: Migration = {
  version: 11,
  sql: `
ALTER TABLE executions ADD COLUMN trigger_type TEXT;
ALTER TABLE executions ADD COLUMN started_at INTEGER;
ALTER TABLE executions ADD COLUMN error_code TEXT;
ALTER TABLE executions ADD COLUMN error_node TEXT;
ALTER TABLE executions ADD COLUMN error_message TEXT;

CREATE INDEX executions_by_trigger ON executions (trigger_type, created_at);
CREATE INDEX executions_by_error ON executions (error_code, created_at) WHERE error_code IS NOT NULL;
CREATE INDEX executions_by_parent ON executions (parent, created_at) WHERE parent IS NOT NULL;
CREATE INDEX executions_roots ON executions (created_at) WHERE parent IS NULL OR trigger_type <> 'workflow';
CREATE INDEX executions_by_end ON executions (finished_at, status, project, workflow_id, created_at, started_at)
  WHERE finished_at IS NOT NULL;
`,
};
