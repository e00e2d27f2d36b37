import type { Migration } from './migration.ts';

/** The order in which versions were last registered: the newest need not be the one with the highest number. */
export const registrations: Migration = {
  version: 3,
  sql: `
ALTER TABLE workflow_versions ADD COLUMN registered INTEGER NOT NULL DEFAULT 0;
UPDATE workflow_versions SET registered = version;
-- Behind it the definitions, which may be large, are not read to find the newest.
CREATE INDEX workflow_versions_by_registration ON workflow_versions (workflow_id, registered);
`,
};
