/** The files of a rebuilt state, in a folder: only what differs from the state before is written. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { isImportant } from './choices.ts';
import type { Image, Patch } from './image.ts';

/** The same for states that differ only in files that promise nothing. */
export function stateHash(files: ReadonlyMap<string, Image>): string {
  const hash = createHash('sha1');
  for (const file of [...files.keys()].filter(isImportant).sort()) hash.update(`${file}\0${files.get(file)?.hash()}\0`);
  return hash.digest('hex');
}

export class RebuiltFolder {
  readonly folder: string;
  /** The content that a file has for certain; files that were opened since are not in it. */
  readonly #written = new Map<string, Image>();
  readonly #log: LinkedFile;

  constructor(folder: string) {
    this.folder = folder;
    this.#log = new LinkedFile(`${folder}.log`);
    this.clear();
  }

  clear(): void {
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { recursive: true });
    this.#written.clear();
  }

  write(files: ReadonlyMap<string, Image>): void {
    for (const file of this.#written.keys()) {
      if (files.has(file)) continue;
      rmSync(path.join(this.folder, file), { force: true });
      this.#written.delete(file);
    }
    for (const [file, image] of files) {
      if (this.#written.get(file) === image) continue;
      const target = path.join(this.folder, file);
      mkdirSync(path.dirname(target), { recursive: true });
      rmSync(target, { force: true });
      if (file.endsWith('-wal')) this.#log.writeTo(target, image);
      else writeFileSync(target, image.bytes());
      this.#written.set(file, image);
    }
  }

  /** A store has opened the files directly in this folder: they are removed, and written again for the next state. */
  used(folder: string): void {
    const used = path.join(this.folder, folder);
    for (const entry of readdirSync(used, { withFileTypes: true })) {
      if (!entry.isDirectory()) rmSync(path.join(used, entry.name), { force: true });
    }
    for (const file of [...this.#written.keys()]) if (path.dirname(file) === folder) this.#written.delete(file);
  }
}

/**
 * A file that states have under a second name. SQLite reads a log and removes its name, but does not change it while it
 * recovers: so the file stays as it was, and the next state writes its differences into it.
 */
class LinkedFile {
  readonly #file: string;
  #base: Buffer | undefined;
  #patches: readonly Patch[] = [];
  #length = 0;

  constructor(file: string) {
    this.#file = file;
  }

  writeTo(target: string, image: Image): void {
    if (this.#base !== image.base) {
      rmSync(this.#file, { force: true });
      writeFileSync(this.#file, image.base);
      this.#base = image.base;
      this.#patches = [];
      this.#length = image.base.length;
    }
    const handle = openSync(this.#file, 'r+');
    for (const { offset, data } of this.#patches) {
      const before = image.base.subarray(offset, offset + data.length);
      if (before.length > 0) writeSync(handle, before, 0, before.length, offset);
    }
    // Bytes behind the end of the base are zeros, unless this state has others.
    if (this.#length > image.base.length) ftruncateSync(handle, image.base.length);
    for (const { offset, data } of image.patches) {
      if (offset >= image.length) continue;
      writeSync(handle, data, 0, Math.min(data.length, image.length - offset), offset);
    }
    ftruncateSync(handle, image.length);
    closeSync(handle);
    this.#patches = image.patches;
    this.#length = image.length;
    if (image.length < image.base.length) this.#base = undefined;
    linkSync(this.#file, target);
  }
}
