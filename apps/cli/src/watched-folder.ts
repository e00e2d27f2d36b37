/**
 * Reports changes of files below some folders.
 *
 *  1 Every folder has its own watcher, so that folders that nobody edits (packages, data, builds) cost nothing.
 *  2 A folder that appears, goes or is replaced is noticed by the watcher of its parent, which compares inodes: a moved folder
 *     keeps its watcher. The parent of a folder given to `add` is watched for this alone.
 *  3 Changes within a short time are reported together: editors write a file in several steps.
 */
import { type FSWatcher, statSync, watch as watchFolder } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'coverage', 'dist']);
/** Files of workflows, tests, actions and their data. */
const RELEVANT = /\.(ya?ml|json|[mc]?[jt]sx?)$/;
const QUIET_MS = 120;
const MAX_FOLDERS = 2_000;

export class WatchedFolders {
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly inode: number }>();
  /** Watchers of parents, by the folder that they are watched for. */
  readonly #parents = new Map<string, FSWatcher>();
  readonly #onChange: (files: readonly string[]) => void;
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(onChange: (files: readonly string[]) => void) {
    this.#onChange = onChange;
  }

  /** Watches a folder and its subfolders. */
  async add(folder: string): Promise<void> {
    await this.#addTree(folder);
    const parent = path.dirname(folder);
    if (this.#isClosed || this.#parents.has(folder) || this.#watchers.has(parent)) return;
    try {
      const watcher = watchFolder(parent, (_, name) => {
        if (name === path.basename(folder)) void this.#look(folder);
      });
      watcher.on('error', () => watcher.close());
      this.#parents.set(folder, watcher);
    } catch {
      // The parent is unreadable: that the folder was replaced is not noticed.
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const watcher of this.#parents.values()) watcher.close();
    for (const folder of [...this.#watchers.keys()]) this.#drop(folder);
  }

  async #addTree(folder: string): Promise<void> {
    if (this.#isClosed || this.#watchers.has(folder) || this.#watchers.size >= MAX_FOLDERS) return;
    try {
      const inode = inodeOf(folder);
      if (inode === undefined) return;
      const watcher = watchFolder(folder, (_, name) => this.#hear(folder, name));
      watcher.on('error', () => this.#drop(folder));
      this.#watchers.set(folder, { watcher, inode });
    } catch {
      // The folder is gone or unreadable; its changes are not reported.
      return;
    }
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries)
      if (entry.isDirectory() && !isSkipped(entry.name)) await this.#addTree(path.join(folder, entry.name));
  }

  /** Watches a folder that is new, or another one than before, and no longer one that is gone. */
  async #look(folder: string): Promise<void> {
    const inode = inodeOf(folder);
    if (this.#isClosed || this.#watchers.get(folder)?.inode === inode) return;
    for (const one of [...this.#watchers.keys()])
      if (one === folder || one.startsWith(folder + path.sep)) this.#drop(one);
    await this.#addTree(folder);
    // The folder may have had its files before it was watched.
    this.#report(folder);
  }

  #hear(folder: string, name: string | null): void {
    if (name === null || isSkipped(name)) return;
    const file = path.join(folder, name);
    if (RELEVANT.test(name)) this.#report(file);
    else void this.#look(file);
  }

  #report(file: string): void {
    if (this.#isClosed) return;
    this.#changed.add(file);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tell(), QUIET_MS);
  }

  #tell(): void {
    const files = [...this.#changed];
    this.#changed.clear();
    this.#onChange(files);
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.watcher.close();
    this.#watchers.delete(folder);
  }
}

/** Undefined if there is no such folder. */
function inodeOf(folder: string): number | undefined {
  const entry = statSync(folder, { throwIfNoEntry: false });
  return entry?.isDirectory() ? entry.ino : undefined;
}

function isSkipped(name: string): boolean {
  return name.startsWith('.') || SKIPPED.has(name);
}
