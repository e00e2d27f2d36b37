/**
 * Secrets in a file of the data folder, each sealed by itself under one key.
 *
 *  1 The file is replaced whole or not at all, so readers need no lock: they see it before or after a write.
 *  2 A writer holds the write lock from reading the file until it has been replaced.
 *  3 All entries are sealed under the key whose id is in the file; `key-ring.ts` finds that key.
 */
import { readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isJsonObject, type Json, NebulaError } from '@nebula/core';
import { type Clock, checkSecret, type Secrets } from '@nebula/ports';
import { DATA_FOLDER_MODE, makeFolder, replaceFile } from '../fs/durable.ts';
import type { SealingKey } from './key.ts';
import { KeyRing, PRIVATE_MODE } from './key-ring.ts';
import { byName } from './memory.ts';
import { withWriteLock } from './write-lock.ts';

export interface SealedSecretsOptions {
  readonly dataDir: string;
  readonly clock: Pick<Clock, 'now'>;
  /** The environment with `NEBULA_SECRETS_KEY` or `NEBULA_SECRETS_KEY_FILE`; by default that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const FORMAT = 1;
/** A rotation may happen between reading the file and looking up its key. */
const READ_ATTEMPTS = 5;

interface Sealed {
  readonly keyId: string;
  readonly entries: Map<string, Entry>;
}

interface Entry {
  readonly sealed: string;
  readonly updatedAt: number;
}

interface Opened extends Sealed {
  readonly key: SealingKey;
}

export function sealedSecrets({ dataDir, clock, env = process.env }: SealedSecretsOptions): Secrets {
  const file = join(dataDir, 'secrets.json');
  const ring = new KeyRing(join(dataDir, 'secrets.key'), env);

  const change = <Result>(work: (opened: Opened | undefined) => Promise<Result>): Promise<Result> =>
    withFileErrors(file, async () => {
      await makeFolder(dataDir, DATA_FOLDER_MODE);
      return withWriteLock(join(dataDir, 'secrets.lock'), async () => {
        const opened = await open(file, ring);
        if (opened !== undefined) await ring.finishRotation(opened.keyId);
        await removeLeftovers(dataDir);
        return work(opened);
      });
    });

  const put = async (opened: Opened | undefined, name: string, value: string): Promise<void> => {
    const key = opened?.key ?? (await ring.first());
    const entries = new Map(opened?.entries).set(name, { sealed: key.seal(name, value), updatedAt: clock.now() });
    await write(file, { keyId: key.id, entries });
  };

  return {
    get: (name) =>
      withFileErrors(file, async () => {
        const opened = await open(file, ring);
        const entry = opened?.entries.get(name);
        return opened === undefined || entry === undefined ? undefined : openEntry(file, opened.key, name, entry);
      }),

    async set(name, value) {
      checkSecret(name, value);
      await change((opened) => put(opened, name, value));
    },

    async rotate(name, value) {
      checkSecret(name, value);
      return change(async (opened) => {
        if (!opened?.entries.has(name)) return false;
        await put(opened, name, value);
        return true;
      });
    },

    delete: (name) =>
      change(async (opened) => {
        if (!opened?.entries.delete(name)) return false;
        await write(file, opened);
        return true;
      }),

    list: () =>
      withFileErrors(file, async () => {
        const entries = (await read(file))?.entries ?? [];
        return [...entries].map(([name, { updatedAt }]) => ({ name, updatedAt })).sort(byName);
      }),

    rotateKey: () => change(async (opened) => (opened === undefined ? 0 : reseal(file, ring, opened))),
  };
}

async function reseal(file: string, ring: KeyRing, opened: Opened): Promise<number> {
  // All entries are opened before anything is written: a damaged one must not be lost with its key.
  const values = [...opened.entries].map(([name, entry]) => {
    return { name, value: openEntry(file, opened.key, name, entry), updatedAt: entry.updatedAt };
  });
  const { key, adopt } = await ring.next(opened.keyId);
  const entries = new Map<string, Entry>();
  for (const { name, value, updatedAt } of values) entries.set(name, { sealed: key.seal(name, value), updatedAt });
  await write(file, { keyId: key.id, entries });
  await adopt();
  return entries.size;
}

/** Deletes temporary files of a killed writer. The write lock is held. */
async function removeLeftovers(dataDir: string): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => name.startsWith('secrets.') && name.includes('.tmp-'));
  for (const name of names) await rm(join(dataDir, name), { force: true });
}

async function open(file: string, ring: KeyRing): Promise<Opened | undefined> {
  for (let attempt = 1; ; attempt++) {
    const sealed = await read(file);
    if (sealed === undefined) return undefined;
    const key = await ring.find(sealed.keyId);
    if (key !== undefined) return { ...sealed, key };
    if (attempt < READ_ATTEMPTS) continue;
    throw (await ring.hasAny()) ? wrongKey(file) : missingKey(file);
  }
}

function openEntry(file: string, key: SealingKey, name: string, { sealed }: Entry): string {
  const value = key.open(name, sealed);
  if (value === undefined) throw damaged(file, `the entry '${name}' was changed since it was sealed`);
  return value;
}

async function read(file: string): Promise<Sealed | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : decode(file, text);
}

function write(file: string, { keyId, entries }: Sealed): Promise<void> {
  const secrets = Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
  return replaceFile(file, `${JSON.stringify({ format: FORMAT, key: keyId, secrets }, null, 2)}\n`, PRIVATE_MODE);
}

function decode(file: string, text: string): Sealed {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw damaged(file, 'it is not JSON');
  }
  if (!isJsonObject(value)) throw damaged(file, 'it is not an object');
  const { format, key, secrets = null } = value;
  if (typeof format === 'number' && format > FORMAT) {
    throw new NebulaError('SECRETS_TOO_NEW', `${file} was written by a newer version of Nebula`, {
      hint: 'Use that version, or a newer one.',
    });
  }
  if (format !== FORMAT || typeof key !== 'string' || !isJsonObject(secrets)) {
    throw damaged(file, 'it is not what Nebula writes');
  }
  const entries = Object.entries(secrets).map(([name, entry]): [string, Entry] => {
    if (!isEntry(entry)) throw damaged(file, `the entry '${name}' is not what Nebula writes`);
    return [name, entry];
  });
  return { keyId: key, entries: new Map(entries) };
}

function isEntry(value: unknown): value is Entry {
  const { sealed, updatedAt } = (value ?? {}) as { readonly sealed?: unknown; readonly updatedAt?: unknown };
  return typeof sealed === 'string' && typeof updatedAt === 'number';
}

/** Explains errors of the file system; our own errors pass unchanged. */
async function withFileErrors<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NebulaError || typeof (error as { code?: unknown }).code !== 'string') throw error;
    throw new NebulaError('SECRETS_FAILED', `Secrets cannot be kept in ${dirname(file)}: ${(error as Error).message}`, {
      hint: 'Look at the permissions of the folder and at its disk.',
      cause: error,
    });
  }
}

function damaged(file: string, why: string): NebulaError {
  return new NebulaError('SECRETS_DAMAGED', `${file} is damaged: ${why}`, {
    hint: 'Restore it from a backup, or delete what is damaged and set it again.',
  });
}

function wrongKey(file: string): NebulaError {
  return new NebulaError('SECRETS_KEY_WRONG', `${file} is sealed under another key than the one that is here`, {
    hint: 'Give the key that it was sealed under: in NEBULA_SECRETS_KEY, in the file of NEBULA_SECRETS_KEY_FILE, or as secrets.key beside it.',
  });
}

function missingKey(file: string): NebulaError {
  return new NebulaError('SECRETS_KEY_MISSING', `${file} is sealed, and there is no key`, {
    hint: 'Give the key that it was sealed under: in NEBULA_SECRETS_KEY, in the file of NEBULA_SECRETS_KEY_FILE, or as secrets.key beside it.',
  });
}
