import type { Migration } from './migration.ts';

/**
 * The ids of deleted children, by the number of their parent, so that none is created again; they are deleted with the
 * parent. A number is never given again, and so is not that of another parent. Executions of earlier versions have no
 * parent in their row, and their deletion leaves no id.
 */
export const deletedChildren: Migration = {
  version: 7,
  sql: `
ALTER TABLE executions ADD COLUMN parent INTEGER;

CREATE TABLE deleted_children (
  parent       INTEGER NOT NULL,
  execution_id TEXT NOT NULL,
  PRIMARY KEY (parent, execution_id)
) WITHOUT ROWID;
`,
};
