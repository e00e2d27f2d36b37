/**
 * A reader of the feed. It reads pages from its position, through any engine's store, and begins again at its position
 * when that process dies or the read fails. It sees every frame once, in the order of the writes, without a gap; only
 * frames of deleted runs may be missing.
 */
import { comparePositions, FEED_START, type FrameRow, type Position } from '@nebula/ports';
import type { Chance } from './chance.ts';
import type { Process } from './process.ts';

const LIMITS = [1, 3, 40, 500];

interface Written {
  readonly executionId: string;
  readonly seq: number;
  readonly entries: string;
}

export interface FollowerParts {
  readonly chance: Chance;
  readonly isDeleted: (executionId: string) => boolean;
  readonly complain: (what: string) => void;
}

export class Follower {
  private readonly parts: FollowerParts;
  /** All frames in the order of their writes. */
  private readonly written: Written[] = [];
  /** The number of written frames that the reader has passed. */
  private passed = 0;
  private position: Position = FEED_START;
  /** The read under way; an answer to an earlier one is dropped. */
  private reading: { readonly process: Process } | undefined;

  constructor(parts: FollowerParts) {
    this.parts = parts;
  }

  onFrame(frame: Written): void {
    this.written.push(frame);
  }

  /** Reads one page, unless a read is under way in a process that lives. */
  read(process: Process): void {
    if (this.reading !== undefined && !this.reading.process.isDead) return;
    const reading = { process };
    this.reading = reading;
    const limit = this.parts.chance.pick(LIMITS);
    // A reader that does not know whether it has handled its last frame asks for it again.
    const inclusive = this.position !== FEED_START && this.parts.chance.oneIn(4);
    const after = this.position;
    const ended = (page: readonly FrameRow[]): void => {
      if (this.reading !== reading) return;
      this.reading = undefined;
      this.take(page, inclusive ? after : undefined);
      if (page.length === limit) this.read(process);
    };
    process.store.feed({ after, inclusive, limit }).then(ended, () => ended([]));
  }

  /** Everything was read: returns whether the reader has seen all frames. */
  get isLevel(): boolean {
    return this.written.slice(this.passed).every(({ executionId }) => this.parts.isDeleted(executionId));
  }

  atTheEnd(): void {
    if (!this.isLevel) this.parts.complain(`the feed ends at ${this.position}, before the last frames`);
  }

  private take(page: readonly FrameRow[], again: Position | undefined): void {
    for (const [index, row] of page.entries()) {
      if (index === 0 && row.position === again) continue;
      if (comparePositions(row.position, this.position) <= 0)
        this.parts.complain(`the feed gives ${row.position} after ${this.position}`);
      this.position = row.position;
      this.pass(row);
    }
  }

  private pass({ executionId, seq, entries }: FrameRow): void {
    for (;;) {
      const next = this.written[this.passed++];
      if (next === undefined) return this.parts.complain(`the feed has frame ${seq} of ${executionId} once too often`);
      if (next.executionId === executionId && next.seq === seq) {
        if (next.entries !== entries) this.parts.complain(`the feed has other entries in ${seq} of ${executionId}`);
        return;
      }
      if (!this.parts.isDeleted(next.executionId))
        return this.parts.complain(`the feed leaves out frame ${next.seq} of ${next.executionId}`);
    }
  }
}
