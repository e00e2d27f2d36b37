/** The limits of the contract on what a request may hold, by name and unit. */
export const CONTRACT_LIMITS = {
  /** Of one request; send the rest in the next. */
  maxLogLines: 1_000,
  maxLogLineChars: 100_000,
  /** Text of a definition. */
  maxSourceChars: 256 * 1024,
} as const;
