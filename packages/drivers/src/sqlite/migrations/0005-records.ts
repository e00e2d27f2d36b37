import type { Migration } from './migration.ts';

/**
 * Records by kind and id. Bodies are apart from the index, so that a list finds its way over small pages only, and a
 * new body leaves the indexes alone. Revisions are counted in `meta`: none is given again after a removal.
 */
export const records: Migration = {
  version: 5,
  sql: `
INSERT INTO meta VALUES ('last_revision', 0);

CREATE TABLE records (
  number     INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL,
  id         TEXT NOT NULL,
  body       TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER
);
CREATE UNIQUE INDEX records_by_id ON records (kind, id);
CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;
`,
};
