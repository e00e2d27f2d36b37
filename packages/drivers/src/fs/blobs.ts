/**
 * Blobs on disk: `<root>/<execution>/<sha256>`.
 *
 *  1. A file under its final name is whole: it is written under another name, synced, then renamed.
 *  2. When `put` resolves, the file is on disk, with its name and the names of the folders above it, whoever made these.
 *  3. Names are made from ids by an encoding that leaves no dot, slash or NUL, and can be read back.
 *  4. Nothing is deleted while a backup copies the files (`backup-hold.ts`); the sweeper deletes it later.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ExecutionId, NebulaError } from '@nebula/core';
import type { Blobs } from '@nebula/ports';
import { areBlobsHeld } from './backup-hold.ts';
import { makeFolder, syncFolder, writeSynced } from './durable.ts';

export interface FsBlobsOptions {
  readonly root: string;
}

/** Folder names may have 255 bytes on common file systems. */
const MAX_FOLDER_NAME_LENGTH = 255;

const TEMPORARY = '.tmp-';

/** Folders whose names are known to be on disk; the next put into a forgotten one syncs the root once more. */
const MAX_DURABLE_FOLDERS = 10_000;

/** A temporary file this old belongs to a process that died. */
const FORGOTTEN_AFTER_MS = 3_600_000;

export function fsBlobs(options: FsBlobsOptions): Blobs {
  const { root } = options;
  const fileOf = (executionId: ExecutionId, sha256: string): string => {
    if (!/^[0-9a-f]{64}$/.test(sha256)) {
      throw new NebulaError('BLOB_KEY_INVALID', `'${sha256}' is not a SHA-256 in lower-case hexadecimal digits.`);
    }
    return join(root, folderName(executionId), sha256);
  };
  let written = 0;
  const folders = new DurableFolders(root);

  return {
    async put(executionId, sha256, data) {
      const file = fileOf(executionId, sha256);
      // The process that wrote it may have died before the folders were synced.
      if ((await sizeOf(file)) === data.byteLength) return folders.sync(dirname(file), false);
      const temporary = join(root, `${TEMPORARY}${process.pid}-${written++}`);
      try {
        await makeFolder(root);
        await writeSynced(temporary, data, 'wx');
        await moveSynced(folders, temporary, file);
      } catch (error) {
        await rm(temporary, { force: true });
        throw explained(error, root);
      }
    },

    async get(executionId, sha256) {
      const file = fileOf(executionId, sha256);
      const data = await readFile(file).catch(absentIfMissing);
      if (data === undefined) return undefined;
      if (createHash('sha256').update(data).digest('hex') !== sha256) {
        throw new NebulaError(
          'BLOB_CORRUPT',
          `The stored value ${file} is damaged: its content does not fit its name.`,
          { hint: 'Restore the file from a backup, or retry the run from the node that made the value.' },
        );
      }
      return data;
    },

    async deleteExecution(executionId) {
      if (await areBlobsHeld(dirname(root))) return;
      const folder = join(root, folderName(executionId));
      folders.forget(folder);
      await rm(folder, { recursive: true, force: true });
    },

    async *executions() {
      const folders = (await readdir(root, { withFileTypes: true }).catch(absentIfMissing)) ?? [];
      for (const folder of folders) {
        if (folder.name.startsWith(TEMPORARY)) await removeIfForgotten(join(root, folder.name));
        if (!folder.isDirectory() || folder.name.startsWith('.')) continue;
        const executionId = idOf(folder.name);
        if (executionId !== undefined && (await readdir(join(root, folder.name))).length > 0) yield executionId;
      }
    },
  };
}

/** The folder of an execution. Letters, digits, `_` and `-` stay; every other byte becomes `%XX`. */
export function folderName(executionId: ExecutionId): string {
  let name = '';
  for (const byte of Buffer.from(executionId, 'utf8')) {
    const character = String.fromCharCode(byte);
    name += /[A-Za-z0-9_-]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`;
  }
  if (name === '' || name.length > MAX_FOLDER_NAME_LENGTH || !executionId.isWellFormed()) {
    throw new NebulaError('BLOB_KEY_INVALID', `The execution id '${executionId.slice(0, 80)}' cannot name a folder.`, {
      hint: 'Ids have 1 to 255 characters; letters, digits, _ and - are best.',
    });
  }
  return name;
}

function idOf(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined; // a folder that is not ours
  }
}

async function moveSynced(folders: DurableFolders, temporary: string, file: string): Promise<void> {
  const folder = dirname(file);
  for (let attempt = 1; ; attempt++) {
    const isNew = (await mkdir(folder, { recursive: true })) !== undefined;
    try {
      await rename(temporary, file);
    } catch (error) {
      // The execution may be deleted by another process between the two calls.
      if (codeOf(error) === 'ENOENT' && attempt < 3) continue;
      throw error;
    }
    return folders.sync(folder, isNew);
  }
}

/**
 * The folders of executions whose names are on disk. Another put, or a process that died, may have made a folder and not
 * have synced the one above it: so a folder counts only after this driver has synced its name.
 */
class DurableFolders {
  readonly #root: string;
  readonly #known = new Set<string>();
  #isRootDurable = false;

  constructor(root: string) {
    this.#root = root;
  }

  /** Syncs the names in the folder and, unless they are known to be on disk, those of the folder and the root. */
  async sync(folder: string, isNew: boolean): Promise<void> {
    await syncFolder(folder);
    if (isNew || !this.#known.has(folder)) {
      await syncFolder(this.#root);
      if (this.#known.size >= MAX_DURABLE_FOLDERS) this.#known.clear();
      this.#known.add(folder);
    }
    if (this.#isRootDurable) return;
    await syncFolder(dirname(this.#root));
    this.#isRootDurable = true;
  }

  forget(folder: string): void {
    this.#known.delete(folder);
  }
}

async function sizeOf(file: string): Promise<number | undefined> {
  return (await stat(file).catch(absentIfMissing))?.size;
}

async function removeIfForgotten(file: string): Promise<void> {
  const changedAt = (await stat(file).catch(absentIfMissing))?.mtimeMs;
  if (changedAt !== undefined && changedAt < Date.now() - FORGOTTEN_AFTER_MS) await rm(file, { force: true });
}

function absentIfMissing(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
  throw error;
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code;
}

function explained(error: unknown, root: string): unknown {
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new NebulaError('DISK_FULL', `There is no space left for large values in ${root}.`, {
        hint: 'Free some space; the run then continues by itself.',
        cause: error,
        retryable: true,
      });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new NebulaError('DATA_DIR_UNWRITABLE', `Nebula may not write into ${root}.`, {
        hint: 'Give this user write permission, or choose another data directory.',
        cause: error,
      });
    default:
      if (typeof codeOf(error) !== 'string') return error;
      return new NebulaError('STORE_FAILED', `Large values cannot be kept in ${root}: ${(error as Error).message}`, {
        hint: 'Check the folder and its disk; the run continues by itself once it can be written.',
        cause: error,
        retryable: true,
      });
  }
}
