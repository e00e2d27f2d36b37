/**
 * Large values live in blobs. `Values` makes blobs of values above the inline limit and caches the values that were used
 * last, bounded by bytes.
 *
 *  V1 `lookup` answers for values that `fetch` or `store` brought in since the last `trim`; for others it throws
 *     `BlobMissing`, and recovery fetches them and decides again.
 *  V2 A blob is in the blob store before the frame that names it is written.
 */

import { type ExecutionId, type Json, NebulaError } from '@nebula/core';
import { type BlobRef, exceedsBytes, inlineValue, type StoredValue } from '@nebula/core/run';
import { type Blobs, type Clock, type Digest, pauseFor } from '@nebula/ports';

const CACHE_BYTES = 64 * 1024 * 1024;

/**
 * Blobs that are not in the blob store yet, each once. A list: one is made for each turn of a run, and is nearly always
 * empty.
 */
export type NewBlobs = { readonly sha256: string; readonly data: Uint8Array }[];

/** A value that is needed to decide is not in memory. */
export class BlobMissing extends Error {
  readonly blob: BlobRef;

  constructor(blob: BlobRef) {
    super(`blob ${blob.sha256} is not in memory`);
    this.blob = blob;
  }
}

export class Values {
  private readonly blobs: Blobs;
  private readonly digest: Digest;
  private readonly clock: Clock;
  private readonly inlineLimitBytes: number;
  private readonly cache = new Map<string, { readonly value: Json; readonly bytes: number }>();
  private cachedBytes = 0;

  constructor(drivers: { blobs: Blobs; digest: Digest; clock: Clock }, inlineLimitBytes: number) {
    this.blobs = drivers.blobs;
    this.digest = drivers.digest;
    this.clock = drivers.clock;
    this.inlineLimitBytes = inlineLimitBytes;
  }

  /** The value as a run keeps it. A large one becomes a blob, which is added to `blobs`: `put` stores these. */
  store(value: Json, blobs: NewBlobs): StoredValue {
    if (this.isInline(value)) return inlineValue(value);
    const data = new TextEncoder().encode(JSON.stringify(value));
    const sha256 = this.digest(data);
    this.remember(sha256, value, data.length);
    if (!blobs.some((one) => one.sha256 === sha256)) blobs.push({ sha256, data });
    return { blob: { sha256, bytes: data.length } };
  }

  isInline(value: Json): boolean {
    return !exceedsBytes(value, this.inlineLimitBytes);
  }

  async put(executionId: ExecutionId, blobs: NewBlobs): Promise<void> {
    for (const { sha256, data } of blobs) await this.blobs.put(executionId, sha256, data);
  }

  /** The blobs among these that have to be fetched first. */
  missing(blobs: readonly BlobRef[]): BlobRef[] {
    return blobs.filter((blob) => !this.cache.has(blob.sha256));
  }

  async fetch(executionId: ExecutionId, blobs: readonly BlobRef[]): Promise<void> {
    for (const blob of blobs) {
      if (this.touch(blob.sha256) !== undefined) continue;
      const data = await this.blobs.get(executionId, blob.sha256);
      if (data === undefined) {
        throw new NebulaError('BLOB_MISSING', `A value of ${executionId} (blob ${blob.sha256}) is gone.`, {
          hint: 'The blobs folder belongs to the data folder: restore both together.',
        });
      }
      await pauseFor(data.length, this.clock);
      this.remember(blob.sha256, JSON.parse(new TextDecoder().decode(data)) as Json, data.length);
    }
  }

  /** The value, fetched if it is a blob; null for none. */
  async read(executionId: ExecutionId, stored: StoredValue | undefined): Promise<Json> {
    if (stored?.blob === undefined) return stored?.value ?? null;
    await this.fetch(executionId, [stored.blob]);
    return this.lookup(stored.blob);
  }

  /** Stores the same value for another execution, which outlives this one. */
  async copy(from: string, to: string, { sha256 }: BlobRef): Promise<void> {
    const data = await this.blobs.get(from, sha256);
    if (data !== undefined) await this.blobs.put(to, sha256, data);
  }

  readonly lookup = (blob: BlobRef): Json => {
    const found = this.touch(blob.sha256);
    if (found === undefined) throw new BlobMissing(blob);
    return found.value;
  };

  /** For views: a value that is not in memory is named, not fetched. */
  readonly glance = (blob: BlobRef): Json => this.touch(blob.sha256)?.value ?? { blob: blob.sha256, bytes: blob.bytes };

  private touch(sha256: string): { readonly value: Json } | undefined {
    const found = this.cache.get(sha256);
    if (found === undefined) return undefined;
    this.cache.delete(sha256);
    this.cache.set(sha256, found);
    return found;
  }

  private remember(sha256: string, value: Json, bytes: number): void {
    if (this.cache.has(sha256)) return;
    this.cache.set(sha256, { value, bytes });
    this.cachedBytes += bytes;
  }

  /** Between turns, never inside one: drops the values that were used longest ago. */
  trim(): void {
    for (const [sha256, { bytes }] of this.cache) {
      if (this.cachedBytes <= CACHE_BYTES) return;
      this.cache.delete(sha256);
      this.cachedBytes -= bytes;
    }
  }
}
