/**
 * Makes a backup of a data folder that an engine may be using, as the bytes of one tar archive.
 *
 *  1. The order is: hold the blobs, copy the database, copy the blobs, release. Blobs are written before the frame that
 *     names them and, while the hold lasts, deleted never (`fs/backup-hold.ts`). So every blob that the copied database
 *     names is there when it is copied. Blobs of later frames are copied in vain; the sweeper of the restored folder
 *     deletes them.
 *  2. The manifest is the last file. A backup without it was interrupted.
 *  3. The copy of the database is a file of the data folder until it is sent. The next backup removes what a killed
 *     process left.
 *  4. Long work is in the thread of `copyDatabase`, or is divided into pieces.
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NebulaError } from '@nebula/core';
import type { BackupOptions, Backups, Clock } from '@nebula/ports';
import { holdBlobs } from '../fs/backup-hold.ts';
import { SealingKey } from '../secrets/key.ts';
import { copyDatabase, type DatabaseFigures } from '../sqlite/index.ts';
import {
  BACKUP_FORMAT,
  BLOBS,
  DATABASE,
  HEAD,
  KEY,
  MANIFEST,
  MAX_NAMED_DAMAGE,
  type Manifest,
  type Part,
  SECRETS,
} from './manifest.ts';
import { END_OF_TAR, tarHeader, tarPadding } from './tar.ts';

export interface FolderBackupsOptions {
  readonly dataDir: string;
  /** The version of Nebula, for the manifest. */
  readonly version: string;
  readonly clock: Pick<Clock, 'now'>;
}

const COPY = 'backup.db';
const PIECE_BYTES = 256 * 1024;
/** A rotation of the key may happen between reading the secrets and their key. */
const KEY_ATTEMPTS = 5;
const SHA256 = /^[0-9a-f]{64}$/;

type Bytes = AsyncGenerator<Uint8Array, void, undefined>;

export function folderBackups(options: FolderBackupsOptions): Backups {
  return { create: (how) => create(options, how) };
}

async function* create({ dataDir, version, clock }: FolderBackupsOptions, { withKey }: BackupOptions): Bytes {
  // Looks for the database before it creates the lock: a folder without one stays as it is.
  await expectDatabase(dataDir);
  const release = await holdBlobs(dataDir);
  const copy = join(dataDir, COPY);
  try {
    for (const ending of ['', '-journal', '-wal', '-shm']) await rm(copy + ending, { force: true });
    const createdAt = new Date(clock.now()).toISOString();
    const figures = await copyDatabase(join(dataDir, DATABASE), copy);
    const parts = new Parts();
    yield* parts.text(HEAD, JSON.stringify({ product: 'nebula', format: BACKUP_FORMAT, version }));
    const database = yield* parts.file(DATABASE, copy);
    const { sealed, keyText } = await secretsOf(dataDir, withKey);
    const secrets = sealed === undefined ? null : yield* parts.text(SECRETS, sealed);
    const key = keyText === undefined ? null : yield* parts.text(KEY, keyText);
    const { blobs, damaged } = yield* blobsOf(parts, join(dataDir, BLOBS));
    const manifest = { ...kindOf(version, createdAt, figures), database, secrets, key, blobs, damaged };
    yield* parts.text(MANIFEST, `${JSON.stringify(manifest satisfies Manifest, null, 2)}\n`);
    yield END_OF_TAR;
  } finally {
    await rm(copy, { force: true });
    release();
  }
}

function kindOf(version: string, createdAt: string, figures: DatabaseFigures) {
  return { product: 'nebula', format: BACKUP_FORMAT, version, createdAt, ...figures } as const;
}

async function expectDatabase(dataDir: string): Promise<void> {
  if ((await stat(join(dataDir, DATABASE)).catch(absent)) !== undefined) return;
  throw new NebulaError('DATA_DIR_MISSING', `There is no Nebula data at ${dataDir}.`, {
    hint: 'Give the data directory that an engine uses.',
  });
}

/** Writes files of the archive, and returns the size and hash of each. */
class Parts {
  async *text(name: string, text: string): AsyncGenerator<Uint8Array, Part, undefined> {
    return yield* this.content(name, Buffer.from(text));
  }

  async *content(name: string, data: Buffer): AsyncGenerator<Uint8Array, Part, undefined> {
    yield tarHeader(name, data.length);
    if (data.length > 0) yield data;
    yield tarPadding(data.length);
    return { bytes: data.length, sha256: await sha256Of(data) };
  }

  async *file(name: string, path: string): AsyncGenerator<Uint8Array, Part, undefined> {
    const { size } = await stat(path);
    const hash = createHash('sha256');
    yield tarHeader(name, size);
    for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
      hash.update(piece as Buffer);
      yield piece as Buffer;
    }
    yield tarPadding(size);
    return { bytes: size, sha256: hash.digest('hex') };
  }
}

/** The hash of content in memory, in pieces: 256 KiB take about 0.2 ms. */
async function sha256Of(data: Buffer): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < data.length; at += PIECE_BYTES) {
    if (at > 0) await nextTurn();
    hash.update(data.subarray(at, at + PIECE_BYTES));
  }
  return hash.digest('hex');
}

type CopiedBlobs = Pick<Manifest, 'blobs' | 'damaged'>;

async function* blobsOf(parts: Parts, root: string): AsyncGenerator<Uint8Array, CopiedBlobs, undefined> {
  const list = createHash('sha256');
  const names: string[] = [];
  let [count, bytes, damaged] = [0, 0, 0];
  for await (const name of blobNames(root)) {
    const data = await readFile(join(root, name)).catch(absent);
    // Deleted by hand: a frame that names it is found when the backup is verified.
    if (data === undefined) continue;
    if (!name.endsWith(`/${await sha256Of(data)}`)) {
      damaged++;
      if (names.length < MAX_NAMED_DAMAGE) names.push(name);
      continue;
    }
    yield* parts.content(`${BLOBS}/${name}`, data);
    addToList(list, name, data.length);
    count++;
    bytes += data.length;
  }
  return { blobs: { count, bytes, sha256: list.digest('hex') }, damaged: { count: damaged, names } };
}

export function addToList(list: Hash, name: string, bytes: number): void {
  list.update(`${name} ${bytes}\n`);
}

/** `execution/sha256`, without files under temporary names. */
async function* blobNames(root: string): AsyncGenerator<string> {
  for (const folder of (await readdir(root, { withFileTypes: true }).catch(absent)) ?? []) {
    if (!folder.isDirectory() || folder.name.startsWith('.')) continue;
    for (const file of (await readdir(join(root, folder.name)).catch(absent)) ?? []) {
      if (SHA256.test(file)) yield `${folder.name}/${file}`;
    }
  }
}

interface SecretFiles {
  readonly sealed: string | undefined;
  readonly keyText: string | undefined;
}

/** The sealed secrets and, with the key, the key that opens them. */
async function secretsOf(dataDir: string, withKey: boolean): Promise<SecretFiles> {
  for (let attempt = 1; ; attempt++) {
    const sealed = (await readFile(join(dataDir, SECRETS), 'utf8').catch(absent)) ?? undefined;
    if (sealed === undefined || !withKey) return { sealed, keyText: undefined };
    const keyId = keyIdIn(sealed);
    for (const file of [`${KEY}.new`, KEY]) {
      const keyText = await readFile(join(dataDir, file), 'utf8').catch(absent);
      if (keyText !== undefined && SealingKey.parse(keyText, file).id === keyId) return { sealed, keyText };
    }
    if (attempt >= KEY_ATTEMPTS) throw keyElsewhere();
  }
}

function keyIdIn(sealed: string): unknown {
  try {
    return (JSON.parse(sealed) as { readonly key?: unknown }).key;
  } catch {
    return undefined;
  }
}

function keyElsewhere(): NebulaError {
  return new NebulaError('SECRETS_KEY_MISSING', 'The key of the secrets is not in the data folder.', {
    hint: 'The environment gives it (NEBULA_SECRETS_KEY). Make the backup without the key, and keep the key as it is kept.',
  });
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
