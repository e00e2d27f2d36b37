import type { Migration } from './migration.ts';

/**
 * Human tasks: what waits for a person in all runs. Each order of a list is one piece of an index for each kind and
 * project, so that a page costs the same whatever waits elsewhere. A task costs about 8 µs; runs without one, nothing.
 * `due` is the deadline, or the largest number without one.
 *
 * `untasked` has the unfinished executions of earlier versions: a server reads their journals, a few at a time, and
 * stores their tasks.
 */
export const humanTasks: Migration = {
  version: 10,
  sql: `
CREATE TABLE human_tasks (
  number       INTEGER PRIMARY KEY,
  execution_id TEXT NOT NULL,
  node         TEXT NOT NULL,
  event        TEXT NOT NULL,
  kind         TEXT NOT NULL,
  project      TEXT NOT NULL,
  workflow_id  TEXT NOT NULL,
  since        INTEGER NOT NULL,
  due          INTEGER NOT NULL,
  details      TEXT NOT NULL
);
CREATE UNIQUE INDEX human_tasks_by_node ON human_tasks (execution_id, node, event);
CREATE INDEX human_tasks_since ON human_tasks (kind, since);
CREATE INDEX human_tasks_due ON human_tasks (kind, due);
CREATE INDEX human_tasks_by_project_since ON human_tasks (project, kind, since);
CREATE INDEX human_tasks_by_project_due ON human_tasks (project, kind, due);
CREATE INDEX human_tasks_by_workflow_since ON human_tasks (workflow_id, kind, since, number, project);
CREATE INDEX human_tasks_by_workflow_due ON human_tasks (workflow_id, kind, due, number, project);

CREATE TABLE untasked (
  number INTEGER PRIMARY KEY
);
INSERT INTO untasked
  SELECT number FROM executions WHERE status IN ('pending', 'running', 'paused', 'compensating');
`,
};
