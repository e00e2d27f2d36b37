/**
 * Tells when a file changes below some folders.
 *
 *  1 Every folder has a watcher of its own, so that what nobody edits (packages, data, builds) costs nothing.
 *  2 A folder that is new is found when its parent says that something has changed.
 *  3 Changes that come together are told together: editors write a file in several steps.
 */
import { type FSWatcher, watch as watchFolder } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'coverage', 'dist']);
/** Workflows, tests, actions, and the data that these read. */
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

  /** With all that is below it. */
  async add(folder: string): Promise<void> {
    if (this.#isClosed || this.#watchers.has(folder) || this.#watchers.size >= MAX_FOLDERS) return;
    try {
      const watcher = watchFolder(folder, (_, name) => this.#hear(folder, name));
      watcher.on('error', () => this.#drop(folder));
      this.#watchers.set(folder, watcher);
    } catch {
      // It has gone, or may not be read: nothing in it will be told.
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
    const place = path.join(folder, name);
    if (!RELEVANT.test(name)) {
      // It may be a new folder; when it is a file, nothing comes of it.
      void this.add(place);
      return;
    }
    this.#changed.add(place);
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
