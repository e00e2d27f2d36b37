/** Randomness from one seed: the same seed always draws the same values. */
export class Chance {
  private readonly seed: number;
  private state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.state = Math.imul(seed, 0x9e3779b1) >>> 0;
  }

  /** A stream of its own, of the same seed: what it draws does not depend on the draws of others. */
  stream(name: string): Chance {
    let hash = this.seed | 0;
    for (const letter of name) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
    return new Chance(hash);
  }

  /** A number from 0 up to, not including, 1. */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** True once in `times` draws. */
  oneIn(times: number): boolean {
    return this.fraction() * times < 1;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}
