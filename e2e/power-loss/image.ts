/**
 * The content of a file: a buffer, and patches over it. Thousands of images share the same megabyte and differ in some
 * pages; so the hash of an image is made from those of its pages, and only patched pages are hashed again.
 */
import { hash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';

export interface Patch {
  readonly offset: number;
  readonly data: Buffer;
}

const PAGE_BYTES = 4096;
const DIGEST_BYTES = 8;

export class Image {
  static readonly EMPTY = new Image(Buffer.alloc(0), [], 0);

  readonly base: Buffer;
  /** In the order in which they are applied; they may reach beyond the length. */
  readonly patches: readonly Patch[];
  readonly length: number;
  #bytes: Buffer | undefined;
  #hash: string | undefined;
  #digests: Buffer | undefined;

  private constructor(base: Buffer, patches: readonly Patch[], length: number, digests?: Buffer) {
    this.base = base;
    this.patches = patches;
    this.length = length;
    this.#digests = digests;
    if (patches.length === 0 && length === base.length) this.#bytes = base;
  }

  patched(patches: readonly Patch[], length: number): Image {
    const image = new Image(this.base, patches, length);
    image.#digests = this.#patchedDigests(patches, length, image);
    return image;
  }

  /** The same content as one buffer. */
  flattened(): Image {
    return new Image(this.bytes(), [], this.length, this.#digests);
  }

  bytes(): Buffer {
    if (this.#bytes !== undefined) return this.#bytes;
    this.#bytes = Buffer.alloc(this.length);
    this.base.copy(this.#bytes);
    for (const { offset, data } of this.patches) if (offset < this.length) data.copy(this.#bytes, offset);
    return this.#bytes;
  }

  hash(): string {
    this.#hash ??= hash('sha1', Buffer.concat([this.#pageDigests(), Buffer.from(String(this.length))]));
    return this.#hash;
  }

  #pageDigests(): Buffer {
    this.#digests ??= digestsOf(this, 0, Math.ceil(this.length / PAGE_BYTES));
    return this.#digests;
  }

  #patchedDigests(patches: readonly Patch[], length: number, image: Image): Buffer {
    const known = this.#pageDigests();
    const pages = Math.ceil(length / PAGE_BYTES);
    const digests = Buffer.alloc(pages * DIGEST_BYTES);
    known.copy(digests);
    const changed = new Set<number>();
    for (const { offset, data } of patches) {
      const last = Math.min(pages - 1, Math.floor((offset + data.length - 1) / PAGE_BYTES));
      for (let page = Math.floor(offset / PAGE_BYTES); page <= last; page++) changed.add(page);
    }
    // The last page of a file that becomes longer or shorter, and those that are new.
    if (length !== this.length) {
      const from = Math.max(0, Math.floor(Math.min(length, this.length) / PAGE_BYTES));
      for (let page = from; page < pages; page++) changed.add(page);
    }
    for (const page of changed) digestsOf(image, page, page + 1).copy(digests, page * DIGEST_BYTES);
    return digests;
  }

  /** The bytes of a page, without the others. */
  page(page: number): Buffer {
    const from = page * PAGE_BYTES;
    const to = Math.min(from + PAGE_BYTES, this.length);
    if (this.#bytes !== undefined) return this.#bytes.subarray(from, to);
    const bytes = Buffer.alloc(to - from);
    if (from < this.base.length) this.base.copy(bytes, 0, from, to);
    for (const { offset, data } of this.patches) {
      if (offset >= to || offset + data.length <= from) continue;
      data.copy(bytes, Math.max(0, offset - from), Math.max(0, from - offset), Math.max(0, to - offset));
    }
    return bytes;
  }
}

function digestsOf(image: Image, from: number, to: number): Buffer {
  const digests = Buffer.alloc((to - from) * DIGEST_BYTES);
  for (let page = from; page < to; page++) {
    const digest = hash('sha1', image.page(page), 'buffer');
    digest.copy(digests, (page - from) * DIGEST_BYTES, 0, DIGEST_BYTES);
  }
  return digests;
}

let readBuffer = Buffer.alloc(1 << 20);

/** The hash of a file on disk. A thousand states a minute leave no garbage this way. */
export function fileHash(file: string): string {
  const handle = openSync(file, 'r');
  try {
    let length = 0;
    for (;;) {
      const read = readSync(handle, readBuffer, length, readBuffer.length - length, length);
      length += read;
      if (read === 0) return hash('sha1', readBuffer.subarray(0, length));
      if (length === readBuffer.length) readBuffer = Buffer.concat([readBuffer], readBuffer.length * 2);
    }
  } finally {
    closeSync(handle);
  }
}
