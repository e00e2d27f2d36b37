/** Every limit of the server on what comes from outside, by name and unit. `budgets.ts` lists them with all others. */

/** The endpoints of workflow-graph. */
export const COMPAT_LIMITS = {
  maxChunks: 1_000,
  maxChunkChars: 100_000,
  maxLabels: 50,
  maxLabelChars: 100,
  maxTtlSeconds: 3_600,
  maxPage: 1_000,
} as const;
