/** Limits of the contract on requests, each with its unit in its name. */
export const CONTRACT_LIMITS = {
  /** Per request; send the rest in the next one. */
  maxLogLines: 1_000,
  maxLogLineChars: 100_000,
  /** Length of the text of a definition. */
  maxSourceChars: 256 * 1024,
  /** Nodes with a position of their own in a layout, and collapsed ones. */
  maxLayoutNodes: 10_000,
  /** Executions that each workflow of a list may show. */
  maxRecent: 20,
  /** Of one test run. */
  maxPins: 1_000,
  /** Of one rehearsal. */
  maxRehearsedRuns: 50,
} as const;

/** Items on a page of a list: unless the caller says, and at most. */
export const PAGE_LIMITS = { default: 50, max: 1_000 } as const;

/** How long a lease of a remote worker lasts without a heartbeat, where a claim does not say. */
export const DEFAULT_LEASE_MS = 30_000;
