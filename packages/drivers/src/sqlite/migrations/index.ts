/** All steps of the schema, in order. A new one is a new file and a line here. */
import { journal } from './0001-journal.ts';
import { shared } from './0002-shared.ts';
import { moments } from './0003-moments.ts';
import type { Migration } from './migration.ts';

export const MIGRATIONS: readonly Migration[] = [journal, shared, moments];
