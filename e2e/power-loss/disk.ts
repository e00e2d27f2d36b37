/**
 * A disk that loses its power: files and folders as they are for sure, and the changes that may or may not be there.
 *
 *  1. `content` of a file and `entries` of a folder are durable: every change in them was made before a sync of that file
 *     or folder began which has returned.
 *  2. `pending` has the later changes, in order. After a power cut each of them may be there, be missing, or, for a write,
 *     be there in some of its sectors. A sector keeps the bytes that a write does not cover (SQLite assumes the same:
 *     SQLITE_IOCAP_POWERSAFE_OVERWRITE).
 *  3. A sync of a file does not make its name durable; a sync of a folder does not make the files in it durable.
 *  4. A rename inside a folder is one change. A rename between folders is one change in each, and both are independent.
 */
import path from 'node:path';
import { Image, type Patch } from './image.ts';
import type { Operation } from './recording.ts';

export type PendingChange =
  | { readonly kind: 'write'; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly length: number }
  | { readonly kind: 'names'; readonly names: readonly (readonly [name: string, node: DiskNode | null])[] };

export interface Pending {
  /** Grows with every change of the disk. */
  readonly number: number;
  readonly node: DiskNode;
  readonly change: PendingChange;
}

export interface DiskNode {
  readonly id: number;
  readonly isFolder: boolean;
  /** The last name that the node was given, for people and for what is left out. */
  path: string;
  content: Image;
  readonly entries: Map<string, DiskNode>;
  pending: Pending[];
}

/** The part of a pending change that has reached the disk: for a write, one bit for each sector that it touches. */
export type Kept = 'all' | 'none' | Uint8Array;

export interface Choice {
  /** A change that is not named here is lost. */
  readonly kept: ReadonlyMap<Pending, Kept>;
  /** Files whose length has reached the disk, but not all their data: zeros are in its place. */
  readonly grown: ReadonlySet<DiskNode>;
}

const SECTOR_BYTES = 512;

export class Disk {
  readonly root: DiskNode = newNode(0, true, '');
  /** The names as the running process sees them. */
  readonly #seen = new Map<string, DiskNode>([['', this.root]]);
  readonly #byInode = new Map<number, DiskNode>();
  readonly #syncs = new Map<number, { readonly node: DiskNode; readonly before: number }>();
  readonly #dirty = new Set<DiskNode>();
  #number = 0;
  #nodes = 0;

  apply(operation: Operation): void {
    switch (operation.kind) {
      case 'create':
      case 'mkdir': {
        const node = newNode(++this.#nodes, operation.kind === 'mkdir', operation.path);
        this.#byInode.set(operation.inode, node);
        this.#rename([[operation.path, node]]);
        return;
      }
      case 'rename': {
        const node = this.#at(operation.from);
        node.path = operation.to;
        return this.#rename([
          [operation.from, null],
          [operation.to, node],
        ]);
      }
      case 'unlink':
      case 'rmdir':
        return this.#rename([[operation.path, null]]);
      case 'write':
        return this.#add(this.#ofInode(operation.inode), operation);
      case 'truncate':
        return this.#add(this.#ofInode(operation.inode), operation);
      case 'sync-begin': {
        // The recorded folder itself is never created, so its inode is the only unknown one.
        const node = this.#byInode.get(operation.inode) ?? this.root;
        this.#syncs.set(operation.sync, { node, before: this.#number });
        return;
      }
      case 'sync-end':
        return this.#synced(operation.sync);
      case 'sync-lost':
      case 'mark':
        return;
      default:
        operation satisfies never;
    }
  }

  /** Every change that a power cut may lose, in the order in which the changes were made. */
  pending(): Pending[] {
    return [...this.#dirty].flatMap((node) => node.pending).sort((a, b) => a.number - b.number);
  }

  /** The running process sees this inode at this path. */
  isAt(inode: number, file: string): boolean {
    const node = this.#seen.get(file);
    return node !== undefined && node === this.#byInode.get(inode);
  }

  /** The files that are on the disk after a power cut, by path. */
  files(choice: Choice): Map<string, Image> {
    const files = new Map<string, Image>();
    const walk = (folder: DiskNode, at: string): void => {
      for (const [name, node] of entriesOf(folder, choice)) {
        if (node.isFolder) walk(node, path.join(at, name));
        else files.set(path.join(at, name), contentOf(node, choice));
      }
    };
    walk(this.root, '');
    return files;
  }

  #rename(changes: readonly (readonly [file: string, node: DiskNode | null])[]): void {
    const byFolder = new Map<DiskNode, (readonly [string, DiskNode | null])[]>();
    for (const [file, node] of changes) {
      const folder = this.#at(path.dirname(file) === '.' ? '' : path.dirname(file));
      byFolder.set(folder, [...(byFolder.get(folder) ?? []), [path.basename(file), node]]);
      if (node === null) this.#seen.delete(file);
      else this.#seen.set(file, node);
    }
    for (const [folder, names] of byFolder) this.#add(folder, { kind: 'names', names });
  }

  #add(node: DiskNode, change: PendingChange): void {
    node.pending.push({ number: ++this.#number, node, change });
    this.#dirty.add(node);
  }

  #synced(sync: number): void {
    const { node, before } = this.#syncs.get(sync) ?? fail(`sync ${sync} ended and did not begin`);
    this.#syncs.delete(sync);
    const done = node.pending.filter((pending) => pending.number <= before);
    if (done.length === 0) return;
    const choice: Choice = { kept: new Map(done.map((pending) => [pending, 'all'])), grown: new Set() };
    if (node.isFolder) {
      const entries = entriesOf(node, choice);
      node.entries.clear();
      for (const [name, child] of entries) node.entries.set(name, child);
    } else {
      node.content = contentOf(node, choice).flattened();
    }
    node.pending = node.pending.filter((pending) => pending.number > before);
    if (node.pending.length === 0) this.#dirty.delete(node);
  }

  #at(file: string): DiskNode {
    return this.#seen.get(file) ?? fail(`the record has no ${file}`);
  }

  #ofInode(inode: number): DiskNode {
    return this.#byInode.get(inode) ?? fail(`the record has no file with inode ${inode}`);
  }
}

/** The sectors that a write touches. */
export function sectorsOf({ offset, data }: { readonly offset: number; readonly data: Buffer }): number {
  return data.length === 0
    ? 0
    : Math.floor((offset + data.length - 1) / SECTOR_BYTES) - Math.floor(offset / SECTOR_BYTES) + 1;
}

function newNode(id: number, isFolder: boolean, name: string): DiskNode {
  return { id, isFolder, path: name, content: Image.EMPTY, entries: new Map(), pending: [] };
}

function entriesOf(folder: DiskNode, { kept }: Choice): Map<string, DiskNode> {
  const entries = new Map(folder.entries);
  for (const pending of folder.pending) {
    if (pending.change.kind !== 'names' || (kept.get(pending) ?? 'none') === 'none') continue;
    for (const [name, node] of pending.change.names) {
      if (node === null) entries.delete(name);
      else entries.set(name, node);
    }
  }
  return entries;
}

/** The durable image itself where no pending change is kept. */
function contentOf(node: DiskNode, { kept, grown }: Choice): Image {
  const patches: Patch[] = [];
  let { length } = node.content;
  let isChanged = false;
  for (const pending of node.pending) {
    const { change } = pending;
    const part = kept.get(pending) ?? 'none';
    if (change.kind === 'write' && grown.has(node) && change.offset + change.data.length > length) {
      length = change.offset + change.data.length;
      isChanged = true;
    }
    if (part === 'none' || change.kind === 'names') continue;
    isChanged = true;
    if (change.kind === 'truncate') {
      // The bytes behind the new end are zeros if the file grows again.
      if (change.length < length) patches.push({ offset: change.length, data: Buffer.alloc(length - change.length) });
      length = change.length;
    } else {
      for (const patch of keptParts(change, part)) {
        patches.push(patch);
        length = Math.max(length, patch.offset + patch.data.length);
      }
    }
  }
  return isChanged ? node.content.patched(patches, length) : node.content;
}

/** The sectors of a write that are kept. */
function keptParts({ offset, data }: Patch, kept: Exclude<Kept, 'none'>): Patch[] {
  if (kept === 'all') return [{ offset, data }];
  const first = Math.floor(offset / SECTOR_BYTES);
  return [...kept.entries()].flatMap(([index, isKept]) => {
    if (isKept === 0) return [];
    const from = Math.max(offset, (first + index) * SECTOR_BYTES);
    const to = Math.min(offset + data.length, (first + index + 1) * SECTOR_BYTES);
    return [{ offset: from, data: data.subarray(from - offset, to - offset) }];
  });
}

function fail(message: string): never {
  throw new Error(`The record is broken: ${message}.`);
}
