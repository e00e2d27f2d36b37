/** Everything that belongs to a project besides its workflows and their runs: what goes with it when it is deleted. */
import { NebulaError } from '@nebula/core';
import { type RecordChange, secretsIn } from '@nebula/ports';
import type { Parts } from '../parts.ts';
import { everyRecord, indexKind, type Read, type UserRecord } from '../records.ts';
import { draftsOf } from '../routes/drafts.ts';
import type { KeyRecord } from './accounts.ts';

/** Records that name their project. */
const NAMING = ['worker', 'plan', 'schedule', 'notification', 'webhook', 'event', 'file'] as const;
/** Records whose ids begin with their project. */
const PREFIXED = [
  ['action', '/'],
  [indexKind('plan'), ' '],
  [indexKind('schedule'), ' '],
  [indexKind('notification'), ' '],
] as const;

/** A plan or a schedule may have megabytes of input. */
const PAGE = 20;

/** The changes that remove the records of a project, and its roles from users and keys. */
export async function belongingsOf({ records }: Parts, project: string): Promise<readonly RecordChange[]> {
  const changes: RecordChange[] = [];
  for (const kind of NAMING) {
    for await (const { id, body } of everyRecord<{ readonly project?: string }>(records, kind, undefined, PAGE)) {
      if (body.project === project) changes.push({ kind, id, body: null });
    }
  }
  for (const [kind, separator] of PREFIXED) {
    for await (const { id } of everyRecord(records, kind, `${project}${separator}`)) {
      changes.push({ kind, id, body: null });
    }
  }
  changes.push(...(await draftsOf(records, { project })));
  for await (const user of everyRecord<UserRecord>(records, 'user'))
    changes.push(...withoutRole('user', user, project));
  for await (const key of everyRecord<KeyRecord>(records, 'key')) changes.push(...withoutRole('key', key, project));
  return changes;
}

function withoutRole(
  kind: 'user' | 'key',
  { id, body, revision }: Read<UserRecord | KeyRecord>,
  project: string,
): RecordChange[] {
  if (!Object.hasOwn(body.roles, project)) return [];
  const { [project]: _, ...roles } = body.roles;
  const expiresAt = 'expiresAt' in body ? body.expiresAt : null;
  return [{ kind, id, body: JSON.stringify({ ...body, roles }), expected: revision, expiresAt }];
}

/** Deletes what is kept beside the records: secrets, and signals that no run has taken. */
export async function forgetBeside({ secrets, executions }: Parts, project: string): Promise<void> {
  const own = secretsIn(secrets, project);
  for (const { name } of await own.list()) {
    await own.delete(name).catch((error: unknown) => {
      // Secrets of the environment cannot be deleted here.
      if (!(error instanceof NebulaError) || error.code !== 'SECRETS_READ_ONLY') throw error;
    });
  }
  await executions.forgetSignals(project);
}
