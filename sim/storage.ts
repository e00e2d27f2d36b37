/**
 * Deleted and expired runs. A run is deleted only after it has ended, and only if somebody asked for it or its retention
 * is over. Nothing of it is left: no frame, no permit, no blob. Blobs that a run or a cached output names are never
 * deleted; blobs that nothing names are.
 */
import type { Json } from '@nebula/core';
import type { MemoryData } from '@nebula/drivers/memory';
import type { Blobs } from '@nebula/ports';
import type { Legality } from './legality.ts';

const CACHE = 'cache-';
/** How often an engine sweeps. */
const SWEEP_MS = 60_000;

export interface StorageParts {
  readonly data: MemoryData;
  readonly blobs: Blobs;
  readonly journals: ReadonlyMap<string, Legality>;
  /** Finished runs expire after this time; null: never. */
  readonly retentionMs: number | null;
  readonly complain: (what: string) => void;
}

export class Storage {
  private readonly parts: StorageParts;
  /** Runs that somebody asked to delete. */
  private readonly asked = new Set<string>();
  private readonly gone = new Set<string>();
  /** Keys of permits that were ever requested. */
  private readonly keys = new Set<string>();

  constructor(parts: StorageParts) {
    this.parts = parts;
  }

  /** The number of deleted runs. */
  get deletions(): number {
    return this.gone.size;
  }

  isDeleted(executionId: string): boolean {
    return this.gone.has(executionId);
  }

  isAsked(executionId: string): boolean {
    return this.asked.has(executionId);
  }

  onAsked(executionId: string): void {
    this.asked.add(executionId);
  }

  onPermits(keys: readonly string[]): void {
    for (const key of keys) this.keys.add(key);
  }

  /** Called after the rows were deleted. `frames`: the number of frames in the journal before. */
  onDeleted(executionId: string, frames: number): void {
    const { data, journals, retentionMs, complain } = this.parts;
    const journal = journals.get(executionId);
    this.gone.add(executionId);
    // The oracle hears of a frame a moment after the store has it.
    const isKnown = journal?.length === frames;
    if (isKnown && !journal.isFinished) complain(`${executionId} is deleted while it is ${journal.status}`);
    if (retentionMs === null && !this.asked.has(executionId)) complain(`${executionId} is deleted, and nobody asked`);
    if (data.journal.some((frame) => frame.executionId === executionId))
      complain(`${executionId} is deleted, and the feed has frames of it`);
    for (const key of this.keys) {
      if (data.permits.rows(key).some((row) => row.executionId === executionId))
        complain(`${executionId} is deleted, and has the permit ${key}`);
    }
  }

  /** Somebody asked to delete the run, and was told that it is deleted. */
  async onConfirmed(executionId: string): Promise<void> {
    for await (const name of this.parts.blobs.executions()) {
      if (name === executionId) this.parts.complain(`${executionId} is deleted, and has blobs`);
    }
  }

  /** Everything had time to end, to expire and to be swept. */
  async atTheEnd(now: number): Promise<void> {
    const { data, blobs, retentionMs, complain } = this.parts;
    for (const [executionId, { row }] of retentionMs === null ? [] : data.runs) {
      // The clock of the engine that ended the run may have been ahead.
      if ((row.expiresAt ?? 0) < now - 2 * SWEEP_MS) complain(`${executionId} has expired, and is still there`);
    }
    for await (const name of blobs.executions()) {
      const isNamed = name.startsWith(CACHE) ? data.permits.cache.has(name.slice(CACHE.length)) : data.runs.has(name);
      if (!isNamed) complain(`the blobs of ${name} are left`);
    }
    for (const [executionId, { frames }] of data.runs) {
      for (const { entries } of frames) await this.allThere(executionId, JSON.parse(entries) as Json);
    }
    for (const key of this.keys) {
      for (const { executionId, node } of data.permits.rows(key))
        complain(`${executionId} ${node} has ended, and has the permit ${key}`);
    }
  }

  /** Every blob that the value names is stored. */
  private async allThere(executionId: string, value: Json): Promise<void> {
    if (typeof value !== 'object' || value === null) return;
    const { sha256, bytes } = value as { sha256?: unknown; bytes?: unknown };
    if (typeof sha256 === 'string' && typeof bytes === 'number') {
      const stored = await this.parts.blobs.get(executionId, sha256);
      if (stored === undefined) this.parts.complain(`a blob that ${executionId} names is gone`);
      return;
    }
    for (const member of Object.values(value)) await this.allThere(executionId, member);
  }
}
