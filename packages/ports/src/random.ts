/** Randomness, passed in. */
import type { ExecutionId } from '@nebula/core';
export interface Random {
  /** At least 0, and below 1. */
  fraction(): number;
  /** A time-ordered id with a readable prefix, e.g. `exe_01k9…`: ids made later sort later. */
  id(prefix: string): string;
  /**
   * The seed of a run that draws random numbers. If absent: two fractions. A test gives the same seed to a repeated
   * start.
   */
  seed?(executionId: ExecutionId): string;
}
