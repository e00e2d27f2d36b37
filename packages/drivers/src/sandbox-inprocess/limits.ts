/** Every limit of the in-process sandbox, by name and unit. */
export const SANDBOX_LIMITS = {
  maxErrorMessageChars: 4_000,
  maxErrorCodeChars: 100,
  maxErrorDetailsChars: 16_384,
  maxLogMessageChars: 16_384,
  /** Values in one output, shared ones counted each time: a small graph of shared lists can stand for 2^30 of them. */
  maxOutputValues: 10_000_000,
  maxOutputDepth: 1_000,
  maxRedirects: 20,
  /** Of connections, by the addresses that the grants name. */
  maxConnectionPools: 32,
  /** When `files.read` is not told otherwise. */
  maxReadBytes: 64 * 1024 * 1024,
  /** Of each of stdout and stderr, when `shell` is not told otherwise. */
  maxShellOutputBytes: 1024 * 1024,
  /** From SIGTERM to SIGKILL. */
  shellGraceMs: 2_000,
  /** From the end of a killed program until its pipes are torn down, should a stray descendant hold them. */
  shellDrainMs: 250,
} as const;
