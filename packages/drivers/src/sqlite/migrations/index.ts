/** All steps of the schema, in order; numbers may be left out. A new one is a new file and a line here. */
import { journal } from './0001-journal.ts';
import { shared } from './0002-shared.ts';
import { records } from './0010-records.ts';
import { lists } from './0011-lists.ts';
import type { Migration } from './migration.ts';

export const MIGRATIONS: readonly Migration[] = [journal, shared, records, lists];
