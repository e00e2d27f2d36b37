/** Files that survive a power loss: each is synced before it gets its name, and its folder after that. */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

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
