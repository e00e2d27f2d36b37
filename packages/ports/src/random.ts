/** Chance, passed in. */
export interface Random {
  /** From 0 up to, not including, 1. */
  fraction(): number;
  /** A time-ordered id with a readable prefix, e.g. `exe_01k9…`: ids made later sort later. */
  id(prefix: string): string;
  /** The seed of a run that draws. Left out: two fractions; a test gives the same seed however often a start is repeated. */
  seed?(executionId: string): string;
}
