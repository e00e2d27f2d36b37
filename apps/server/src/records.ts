/** The records of the server, kind by kind. */
import type { Role } from '@nebula/client/contract';
import { PAGE_LIMITS } from '@nebula/client/limits';
import { type Ceiling, type Json, NebulaError } from '@nebula/core';
import type { RecordChange, RecordRow, Records } from '@nebula/ports';

/**
 * The record of a workflow, by its id. A workflow registered without a server has none: default project, newest
 * version.
 */
export interface WorkflowRecord {
  readonly project: string;
  /** Null: its triggers are off, and starts use the newest version. */
  readonly active: number | null;
  /** The file that the server registers it from; absent: it came by the API. */
  readonly origin?: FileOrigin;
  /** The workflow is inactive, and lists leave it out. */
  readonly archived?: true;
}

export interface FileOrigin {
  /** Relative to the project folder. */
  readonly path: string;
  /** Of the file, and of the files of the workflows that it uses, when the server registered them last. */
  readonly hash: string;
  /** The version that the file had then. */
  readonly version: number;
}

export interface LaunchPlanRecord {
  readonly project: string;
  readonly workflowId: string;
  readonly version: number | 'active';
  readonly description: string | null;
  readonly inputs: Readonly<Record<string, Json>>;
  readonly fixed: Readonly<Record<string, Json>>;
  readonly concurrency: { readonly limit: number; readonly policy: 'skip' | 'wait' | 'replace' } | null;
  readonly active: boolean;
}

export interface ProjectRecord {
  readonly name: string;
  /** The capability ceiling; if absent: that of the configuration, or the default of the preset. */
  readonly ceiling?: Ceiling;
  readonly createdAt: number;
}

export interface UserRecord {
  readonly name: string;
  /** The argon2id hash; null: the user cannot sign in with a password. */
  readonly password: string | null;
  readonly admin: boolean;
  readonly disabled: boolean;
  readonly roles: Readonly<Record<string, Role>>;
  /** Sessions opened under another epoch have ended. */
  readonly epoch: string;
  readonly createdAt: number;
}

/** Ids are unique over all projects. The error does not name the owner of a taken id. */
export function idTaken(id: string): NebulaError {
  return new NebulaError('ID_TAKEN', `The id '${id}' is taken.`, { hint: 'Choose another id.' });
}

export interface Read<Body> {
  readonly id: string;
  readonly body: Body;
  readonly revision: number;
  readonly updatedAt: number;
}

export async function readRecord<Body>(records: Records, kind: string, id: string): Promise<Read<Body> | undefined> {
  const row = await records.get(kind, id);
  return row === undefined ? undefined : parsed<Body>(row);
}

export function parsed<Body>({ id, body, revision, updatedAt }: RecordRow): Read<Body> {
  return { id, body: JSON.parse(body) as Body, revision, updatedAt };
}

/** A page by id; the cursor is the last id. With `keep`, hidden records are skipped, so no page is short. */
export async function listRecords<Body>(
  records: Records,
  kind: string,
  {
    cursor,
    limit = PAGE_LIMITS.default,
    prefix,
  }: { readonly cursor?: string; readonly limit?: number; readonly prefix?: string },
  keep: (record: Read<Body>) => boolean = () => true,
): Promise<{ readonly items: readonly Read<Body>[]; readonly next: string | null }> {
  const items: Read<Body>[] = [];
  const size = limit + 1;
  for (let after = cursor; ; ) {
    const page = { limit: size, ...(after !== undefined && { after }), ...(prefix !== undefined && { prefix }) };
    const rows = await records.list(kind, page);
    for (const row of rows) {
      const record = parsed<Body>(row);
      if (!keep(record)) continue;
      if (items.length === limit) return { items, next: items.at(-1)?.id ?? null };
      items.push(record);
    }
    after = rows.at(-1)?.id;
    if (rows.length < size) return { items, next: null };
  }
}

/** All records of a kind, page by page. */
export async function* everyRecord<Body>(
  records: Records,
  kind: string,
  prefix?: string,
  limit = 500,
): AsyncGenerator<Read<Body>> {
  let cursor: string | undefined;
  do {
    const more = { limit, ...(cursor !== undefined && { cursor }), ...(prefix !== undefined && { prefix }) };
    const page = await listRecords<Body>(records, kind, more);
    yield* page.items;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}

/**
 * The kind of the index of records by project, in which they are counted: a record may have megabytes. Records that were
 * written before there was an index are counted when they are written again.
 */
export const indexKind = (kind: string): string => `${kind}-in`;

/** The entry of a record in the index of its project; `isThere`: false removes it. */
export function indexChange(kind: string, project: string, id: string, isThere: boolean): RecordChange {
  return { kind: indexKind(kind), id: `${project} ${id}`, body: isThere ? '{}' : null };
}

/** Throws `TOO_LARGE` if the project would have more than `limit` records of the kind with these. */
export async function refuseMany(
  records: Records,
  { kind, project, limit, what }: { kind: string; project: string; limit: number; what: string },
  added: readonly string[],
): Promise<void> {
  const rows = await records.list(indexKind(kind), { prefix: `${project} `, limit });
  const known = new Set(rows.map(({ id }) => id.slice(project.length + 1)));
  for (const id of added) known.add(id);
  if (known.size <= limit) return;
  throw new NebulaError('TOO_LARGE', `Project '${project}' would have more than ${limit} ${what}.`, {
    hint: 'Delete those that are no longer used.',
  });
}

/** Removes the record with `also`, or only the revision that the caller has seen. */
export async function removeRecord(
  records: Records,
  kind: string,
  id: string,
  ifMatch: string | readonly string[] | undefined,
  also: readonly RecordChange[] = [],
): Promise<void> {
  const expected = expectedRevision(ifMatch);
  const removed = { kind, id, body: null, ...(expected !== undefined && { expected }) };
  const outcome = await records.commit([removed, ...also]);
  if (!outcome.ok) throw changedBySomebody(id);
}

/** The limit on retries after concurrent writes, for callers without `If-Match`: the last writer wins. */
const PUT_TRIES = 50;

export interface Put<Body> {
  readonly body: Body;
  readonly revision: number;
  readonly isNew: boolean;
}

/**
 * Writes the result of `make` for the current record, and `also`. With `If-Match`, only over the revision that the caller has seen.
 */
export async function putRecord<Body>(
  records: Records,
  { kind, id, ifMatch }: { kind: string; id: string; ifMatch: string | readonly string[] | undefined },
  make: (before: Read<Body> | undefined) => Body | Promise<Body>,
  also: readonly RecordChange[] = [],
): Promise<Put<Body>> {
  const seen = expectedRevision(ifMatch);
  for (let left = seen === undefined ? PUT_TRIES : 1; left > 0; left--) {
    const before = await readRecord<Body>(records, kind, id);
    const body = await make(before);
    const expected = seen ?? before?.revision ?? 0;
    const outcome = await records.commit([{ kind, id, body: JSON.stringify(body), expected }, ...also]);
    if (outcome.ok) return { body, revision: outcome.revision, isNew: before === undefined };
  }
  throw changedBySomebody(id);
}

export function changedBySomebody(id: string): NebulaError {
  return new NebulaError('ETAG_MISMATCH', `'${id}' was changed in the meantime.`, {
    hint: 'Read it again, then repeat the request.',
  });
}

/** `If-Match` contains the revision that the caller has seen; 0: there was no record. */
export function expectedRevision(ifMatch: string | readonly string[] | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  const [, revision] = String(ifMatch).match(/^"(0|[1-9]\d{0,14})(?:\.\d{1,15})?"$/) ?? [];
  if (revision !== undefined) return Number(revision);
  throw new NebulaError('ETAG_MISMATCH', 'If-Match is not an ETag of this server.');
}

/** `beside`: a number that grows with the data that the document shows besides the record. */
export function etagOf({ revision }: { readonly revision: number }, beside?: number): string {
  return `"${revision}${beside === undefined ? '' : `.${beside}`}"`;
}
