import type { Migration } from './migration.ts';

/**
 * The text that a version was registered from. A table of its own: a start of a run reads the newest version and does not
 * read past its text.
 */
export const sources: Migration = {
  version: 8,
  sql: `
CREATE TABLE workflow_sources (
  workflow_id TEXT NOT NULL,
  version     INTEGER NOT NULL,
  format      TEXT NOT NULL,
  filename    TEXT,
  text        TEXT,
  PRIMARY KEY (workflow_id, version)
);
`,
};
