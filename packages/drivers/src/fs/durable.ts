/** Files that survive a power loss: each is synced before it gets its name, and its folder after that. */
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The data folder has secrets and journals: for its owner only. */
export const DATA_FOLDER_MODE = 0o700;

let written = 0;

/** Readers see the old content or the new one; when the promise resolves, the new one is on disk. */
export async function replaceFile(file: string, data: string, mode: number): Promise<void> {
  const temporary = `${file}.tmp-${process.pid}-${written++}`;
  try {
    await writeSynced(temporary, data, 'wx', mode);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}

export async function writeSynced(
  file: string,
  data: string | Uint8Array,
  flags: string | number,
  mode?: number,
): Promise<void> {
  const handle = await open(file, flags, mode);
  try {
    await handle.writeFile(data);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Creates the folder and those above it, each durable before the next. Returns false if it was there.
 *
 * One at a time: Node's `recursive` never ends if a parent refuses children with ENOENT (/proc).
 */
export async function makeFolder(folder: string, mode?: number): Promise<boolean> {
  if (await isFolder(folder)) return false;
  const parent = dirname(folder);
  if (parent !== folder) await makeFolder(parent, mode);
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    // Another call may have made it since. Its sync may not have returned, so this call syncs, too.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !(await isFolder(folder))) throw error;
  }
  await syncFolder(parent);
  return true;
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return found?.isDirectory() === true;
}

/** A new name is an entry of the folder, so the folder must reach the disk. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // folders cannot be opened there, and NTFS journals names itself
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
