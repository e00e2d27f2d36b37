/** All steps of the schema, in order. A new one is a new file and a line here. */
import { journal } from './0001-journal.ts';
import { shared } from './0002-shared.ts';
import { registrations } from './0003-registrations.ts';
import { moments } from './0004-moments.ts';
import { records } from './0005-records.ts';
import { lists } from './0006-lists.ts';
import { deletedChildren } from './0007-deleted-children.ts';
import { sources } from './0008-sources.ts';
import { testVersions } from './0009-test-versions.ts';
import { humanTasks } from './0010-human-tasks.ts';
import { executionFigures } from './0011-execution-figures.ts';
import { attemptedTests } from './0012-attempted-tests.ts';
import type { Migration } from './migration.ts';

export const MIGRATIONS: readonly Migration[] = [
  journal,
  shared,
  registrations,
  moments,
  records,
  lists,
  deletedChildren,
  sources,
  testVersions,
  humanTasks,
  executionFigures,
  attemptedTests,
];
