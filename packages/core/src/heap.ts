/** A binary min-heap. Removal is lazy: the owner skips stale items when it pops them. */
export class Heap<T> {
  private readonly items: T[] = [];
  private readonly before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.before = before;
  }

  get size(): number {
    return this.items.length;
  }

  /** Iterates in no particular order. */
  [Symbol.iterator](): Iterator<T> {
    return this.items.values();
  }

  peek(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    const { items, before } = this;
    let hole = items.length;
    items.push(item);
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      const above = items[parent] as T;
      if (!before(item, above)) break;
      items[hole] = above;
      hole = parent;
    }
    items[hole] = item;
  }

  pop(): T | undefined {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (items.length > 0) this.sink(last as T);
    return top;
  }

  clear(): void {
    this.items.length = 0;
  }

  private sink(item: T): void {
    const { items, before } = this;
    const half = items.length >> 1;
    let hole = 0;
    while (hole < half) {
      let child = 2 * hole + 1;
      if (child + 1 < items.length && before(items[child + 1] as T, items[child] as T)) child++;
      if (!before(items[child] as T, item)) break;
      items[hole] = items[child] as T;
      hole = child;
    }
    items[hole] = item;
  }
}
