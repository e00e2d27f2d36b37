/**
 * Chooses the thread for commits by how long the last ones waited for the disk. `store.ts` has the limit.
 *
 * Batches of 64 frames, where a commit costs nothing (tmpfs): 180,000 frames/s on the main thread, 149,000 in the
 * thread, and 3.0 against 6.1 µs of CPU per frame, because every write is copied there. Where a commit takes 4 ms (a
 * busy disk): 17,300 against 18,200, but the main thread stands still for those 4 ms, again and again.
 */
export type CommitThread = 'main' | 'thread';

const SAMPLES = 64;

/** Keeps a median near the limit from moving commits back and forth. */
const RETURN_BELOW_FRACTION = 0.5;

export class Pace {
  readonly #slowCommitMs: number;
  readonly #samples = new Float64Array(SAMPLES);
  #count = 0;
  #thread: CommitThread = 'main';

  constructor(slowCommitMs: number) {
    this.#slowCommitMs = slowCommitMs;
  }

  /** Decides once every 64 commits. */
  note(commitMs: number): CommitThread {
    this.#samples[this.#count % SAMPLES] = commitMs;
    if (++this.#count % SAMPLES === 0) {
      const median = this.#samples.toSorted()[SAMPLES / 2] as number;
      if (median >= this.#slowCommitMs) this.#thread = 'thread';
      else if (median < this.#slowCommitMs * RETURN_BELOW_FRACTION) this.#thread = 'main';
    }
    return this.#thread;
  }
}
