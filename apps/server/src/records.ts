/** What the server keeps in records, kind by kind. */
import type { Role } from '@nebula/client/contract';
import { type Json, NebulaError } from '@nebula/core';
import type { RecordRow, Records } from '@nebula/ports';

/** By workflow id. One that was registered without a server has none: default project, newest version. */
export interface WorkflowRecord {
  readonly project: string;
  /** Null: its triggers are off, and starts take the newest. */
  readonly active: number | null;
}

export interface PlanRecord {
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
  readonly createdAt: number;
}

export interface UserRecord {
  readonly name: string;
  /** argon2id, in its own notation; null: cannot sign in with a password. */
  readonly password: string | null;
  readonly admin: boolean;
  readonly disabled: boolean;
  readonly roles: Readonly<Record<string, Role>>;
  readonly createdAt: number;
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

/** A page by id; the cursor is the last id. */
export async function listRecords<Body>(
  records: Records,
  kind: string,
  { cursor, limit = 50 }: { readonly cursor?: string; readonly limit?: number },
): Promise<{ readonly items: readonly Read<Body>[]; readonly next: string | null }> {
  const rows = await records.list(kind, { limit: limit + 1, ...(cursor !== undefined && { after: cursor }) });
  const items = rows.slice(0, limit).map((row) => parsed<Body>(row));
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** `If-Match` holds the revision that the caller has seen. */
export function expectedRevision(ifMatch: string | readonly string[] | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  const revision = Number(String(ifMatch).replaceAll('"', ''));
  if (Number.isInteger(revision)) return revision;
  throw new NebulaError('ETAG_MISMATCH', 'If-Match is not an ETag of this server.');
}

export function etagOf({ revision }: { readonly revision: number }): string {
  return `"${revision}"`;
}
