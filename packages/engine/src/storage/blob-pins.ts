/**
 * Names under which blobs are being written: a fork, a cached output. Blobs are written before the frame that names
 * them; without a pin the sweeper would take them for orphans.
 */
export class BlobPins {
  private readonly counts = new Map<string, number>();

  has(name: string): boolean {
    return this.counts.has(name);
  }

  /** Returns a function that releases the name. */
  pin(name: string): () => void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    return () => {
      const left = (this.counts.get(name) ?? 0) - 1;
      if (left > 0) this.counts.set(name, left);
      else this.counts.delete(name);
    };
  }
}
