import { MAX_LOG_MESSAGE_CHARS } from '@nebula/ports';

/** Every limit of the in-process sandbox, by name and unit. */
export const SANDBOX_LIMITS = {
  maxErrorMessageChars: 4_000,
  maxErrorCodeChars: 100,
  maxErrorDetailsChars: 16_384,
  maxLogMessageChars: MAX_LOG_MESSAGE_CHARS,
  /**
   * Values in one output. A shared value counts each time: a small graph of shared lists can stand for 2^30 of them.
   */
  maxOutputValues: 10_000_000,
  maxOutputDepth: 1_000,
  maxRedirects: 20,
  /** Pools of connections, by the addresses that the grants name. */
  maxConnectionPools: 32,
  /** The default limit of `files.read`. */
  maxReadBytes: 64 * 1024 * 1024,
  /** The default limit of `shell`, for each of stdout and stderr. */
  maxShellOutputBytes: 1024 * 1024,
  /** The time from SIGTERM to SIGKILL. */
  shellGraceMs: 2_000,
  /** The time from the end of a killed program until its pipes are closed, in case a descendant holds them. */
  shellDrainMs: 250,
} as const;
