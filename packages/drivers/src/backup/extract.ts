/**
 * Reads a backup and checks everything that the manifest says. Nothing in the archive chooses a path: names outside of
 * the layout are refused.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { NebulaError } from '@nebula/core';
import { folderName } from '../fs/blobs.ts';
import { syncFolder } from '../fs/durable.ts';
import { addToList } from './create.ts';
import {
  BLOBS,
  DATABASE,
  HEAD,
  KEY,
  MANIFEST,
  type Manifest,
  type Part,
  readHead,
  readManifest,
  SECRETS,
} from './manifest.ts';
import { cutOff, type TarEntry, tarEntries } from './tar.ts';

/** Files that are read into memory: the head, the manifest and secrets. */
const MAX_SMALL_BYTES = 64 * 1024 * 1024;
/** The folder names that `folderName` of `fs/blobs.ts` makes of execution ids. */
const BLOB_NAME = /^blobs\/((?:[A-Za-z0-9_-]|%[0-9a-f]{2}){1,255})\/([0-9a-f]{64})$/;

export interface Extraction {
  /** The file for a part or a blob; undefined: it is checked and not kept. */
  fileFor(name: string): string | undefined;
  /** Called with each blob: the name that `blobName` gives. */
  onBlob?(name: string): void;
  /** Called with the bytes that were read so far. */
  onProgress?(bytes: number): void;
}

/** Rejects with `BACKUP_INVALID`, `BACKUP_INCOMPLETE`, `BACKUP_DAMAGED`, `BACKUP_TOO_NEW` or an error of the file system. */
export async function extractBackup(file: string, extraction: Extraction): Promise<Manifest> {
  const parts = new Map<string, Part>();
  const list = createHash('sha256');
  let [blobs, blobBytes] = [0, 0];
  let manifest: Manifest | undefined;
  for await (const entry of tarEntries(measured(file, extraction))) {
    const { name, bytes } = entry;
    if (manifest !== undefined) throw strange(name);
    if (parts.size === 0 && name !== HEAD) throw strange(name);
    if (name === HEAD || name === MANIFEST) {
      const text = await textOf(entry);
      if (name === HEAD) readHead(text);
      else manifest = readManifest(text);
      parts.set(name, { bytes, sha256: '' });
      continue;
    }
    const blob = BLOB_NAME.exec(name);
    if (blob === null && ![DATABASE, SECRETS, KEY].includes(name)) throw strange(name);
    if (parts.has(name)) throw strange(name);
    const sha256 = await store(entry, extraction.fileFor(name));
    if (blob === null) {
      parts.set(name, { bytes, sha256 });
      continue;
    }
    if (sha256 !== blob[2]) throw damaged(`the stored value ${name} is not the one of its name`);
    const short = name.slice(BLOBS.length + 1);
    extraction.onBlob?.(short);
    addToList(list, short, bytes);
    blobs++;
    blobBytes += bytes;
  }
  if (manifest === undefined) throw cutOff();
  compare(manifest, parts, { count: blobs, bytes: blobBytes, sha256: list.digest('hex') });
  return manifest;
}

async function* measured(file: string, { onProgress }: Extraction): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of createReadStream(file, { highWaterMark: 1024 * 1024 })) {
    bytes += (piece as Buffer).length;
    onProgress?.(bytes);
    yield piece as Buffer;
  }
}

function compare(manifest: Manifest, parts: ReadonlyMap<string, Part>, blobs: Manifest['blobs']): void {
  const expected = { [DATABASE]: manifest.database, [SECRETS]: manifest.secrets, [KEY]: manifest.key };
  for (const [name, part] of Object.entries(expected)) {
    const found = parts.get(name);
    if (part === null && found === undefined) continue;
    if (part === null || found === undefined) throw damaged(`${name} ${part === null ? 'is too much' : 'is missing'}`);
    if (found.bytes !== part.bytes || found.sha256 !== part.sha256) throw damaged(`${name} was changed`);
  }
  if (blobs.count !== manifest.blobs.count) {
    throw damaged(`it has ${blobs.count} stored values, and its manifest names ${manifest.blobs.count}`);
  }
  if (blobs.sha256 !== manifest.blobs.sha256) throw damaged('its stored values are others than those of its manifest');
}

async function textOf({ name, bytes, content }: TarEntry): Promise<string> {
  if (bytes > MAX_SMALL_BYTES) throw strange(name);
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

/** Writes and syncs a file, and returns the hash of its content. */
async function store({ content }: TarEntry, file: string | undefined): Promise<string> {
  const hash = createHash('sha256');
  if (file === undefined) {
    for await (const piece of content) hash.update(piece);
    return hash.digest('hex');
  }
  const made = await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(file, 'wx', 0o600);
  try {
    for await (const piece of content) {
      hash.update(piece);
      await handle.writeFile(piece);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await syncFolder(dirname(file));
  if (made !== undefined) await syncFolder(dirname(dirname(file)));
  return hash.digest('hex');
}

function strange(name: string): NebulaError {
  const shown = JSON.stringify(name.slice(0, 100));
  return new NebulaError('BACKUP_INVALID', `The file is not a backup of Nebula: ${shown} does not belong there.`, {
    hint: 'Give a file that `nebula backup` has written, as it was written.',
  });
}

function damaged(what: string): NebulaError {
  return new NebulaError('BACKUP_DAMAGED', `The backup is damaged: ${what}.`, {
    hint: 'Use another backup, or another copy of this one.',
  });
}

/** The name of a blob in a backup. */
export function blobName(executionId: string, sha256: string): string {
  return `${folderName(executionId)}/${sha256}`;
}
