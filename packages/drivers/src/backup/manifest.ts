/** The first and the last file of a backup: what it is, and what it must contain. */
import { isJsonObject, type Json, NebulaError } from '@nebula/core';

/** The version of the layout. A reader refuses a higher one. */
export const BACKUP_FORMAT = 1;

export const HEAD = 'backup.json';
export const MANIFEST = 'manifest.json';
export const DATABASE = 'nebula.db';
export const SECRETS = 'secrets.json';
export const KEY = 'secrets.key';
export const BLOBS = 'blobs';

/** Damaged blobs that the manifest names; all are counted. */
export const MAX_NAMED_DAMAGE = 100;

export interface Part {
  readonly bytes: number;
  readonly sha256: string;
}

export interface Manifest {
  readonly product: 'nebula';
  readonly format: number;
  /** The version of Nebula that made the backup. */
  readonly version: string;
  readonly createdAt: string;
  readonly schemaVersion: number;
  readonly executions: number;
  readonly workflows: number;
  readonly database: Part;
  readonly secrets: Part | null;
  readonly key: Part | null;
  /** The hash is that of the lines `name bytes`, in the order of the archive. The name of a blob is its own hash. */
  readonly blobs: Part & { readonly count: number };
  /** Blobs that were damaged before the backup, and are not in it. */
  readonly damaged: { readonly count: number; readonly names: readonly string[] };
}

/** Throws `BACKUP_INVALID` and `BACKUP_TOO_NEW`. */
export function readHead(text: string): void {
  const head = objectIn(text, HEAD);
  if (head['product'] !== 'nebula' || typeof head['format'] !== 'number') throw invalid(HEAD);
  if (head['format'] > BACKUP_FORMAT) {
    throw new NebulaError(
      'BACKUP_TOO_NEW',
      `The backup was made by a newer Nebula (format ${head['format']}; this one reads ${BACKUP_FORMAT}).`,
      { hint: 'Restore it with that version or a later one.' },
    );
  }
}

/** Throws `BACKUP_INVALID`. */
export function readManifest(text: string): Manifest {
  const manifest = objectIn(text, MANIFEST);
  const { version, createdAt, schemaVersion, executions, workflows, database, secrets, key, blobs, damaged } = manifest;
  const isCount = (value: Json | undefined): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
  const isPart = (value: Json | undefined): boolean =>
    isJsonObject(value ?? null) &&
    isCount((value as { bytes?: Json }).bytes) &&
    /^[0-9a-f]{64}$/.test(String((value as { sha256?: Json }).sha256));
  const isValid =
    typeof version === 'string' &&
    typeof createdAt === 'string' &&
    [schemaVersion, executions, workflows].every(isCount) &&
    isPart(database) &&
    [secrets, key].every((part) => part === null || isPart(part)) &&
    isPart(blobs) &&
    isCount((blobs as { count?: Json }).count) &&
    isJsonObject(damaged ?? null) &&
    isCount((damaged as { count?: Json }).count) &&
    Array.isArray((damaged as { names?: Json }).names);
  if (!isValid) throw invalid(MANIFEST);
  return manifest as unknown as Manifest;
}

function objectIn(text: string, name: string): Readonly<Record<string, Json>> {
  try {
    const value = JSON.parse(text) as Json;
    if (isJsonObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw invalid(name);
}

function invalid(name: string): NebulaError {
  return new NebulaError('BACKUP_INVALID', `The file ${name} of the backup cannot be read.`, {
    hint: 'Give a file that `nebula backup` has written, as it was written.',
  });
}
