/**
 * Names under which blobs are being written that the store does not know of yet: a fork, an output that outlives its run.
 * Blobs come before the frame that names them, so to the sweeper they look like orphans until then.
 */
export class Holds {
  private readonly counts = new Map<string, number>();

  has(name: string): boolean {
    return this.counts.has(name);
  }

  /** Returns the way to let go. */
  hold(name: string): () => void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    return () => {
      const left = (this.counts.get(name) ?? 0) - 1;
      if (left > 0) this.counts.set(name, left);
      else this.counts.delete(name);
    };
  }
}
