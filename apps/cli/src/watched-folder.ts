/**
 * Reports changes of files below some folders.
 *
 *  1 Every folder has its own watcher, so that folders that nobody edits (packages, data, builds) cost nothing.
 *  2 A new folder is found through the watcher of its parent.
 *  3 Changes within a short time are reported together: editors write a file in several steps.
 */
import { type FSWatcher, watch as watchFolder } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'coverage', 'dist']);
/** Files of workflows, tests, actions and their data. */
const RELEVANT = /\.(ya?ml|json|[mc]?[jt]sx?)$/;
const QUIET_MS = 120;
const MAX_FOLDERS = 2_000;

export class WatchedFolders {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #onChange: (files: readonly string[]) => void;
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(onChange: (files: readonly string[]) => void) {
    this.#onChange = onChange;
  }

  /** Watches a folder and its subfolders. */
  async add(folder: string): Promise<void> {
    if (this.#isClosed || this.#watchers.has(folder) || this.#watchers.size >= MAX_FOLDERS) return;
    try {
      const watcher = watchFolder(folder, (_, name) => this.#hear(folder, name));
      watcher.on('error', () => this.#drop(folder));
      this.#watchers.set(folder, watcher);
    } catch {
      // The folder is gone or unreadable; its changes are not reported.
      return;
    }
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries)
      if (entry.isDirectory() && !isSkipped(entry.name)) await this.add(path.join(folder, entry.name));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const folder of [...this.#watchers.keys()]) this.#drop(folder);
  }

  #hear(folder: string, name: string | null): void {
    if (name === null || isSkipped(name)) return;
    const file = path.join(folder, name);
    if (!RELEVANT.test(name)) {
      // The entry may be a new folder; `add` ignores files.
      void this.add(file);
      return;
    }
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
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }
}

function isSkipped(name: string): boolean {
  return name.startsWith('.') || SKIPPED.has(name);
}
