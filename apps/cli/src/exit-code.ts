/** Exit codes of the process. */
import type { RunStatus } from '@nebula/core';

export const EXIT = {
  completed: 0,
  failed: 1,
  /** An invalid file or input, or a command that cannot be carried out as it was given. */
  invalid: 2,
  /** Cancelled or timed out. */
  stopped: 3,
  /** Waits for a person, a signal, a call, the settling of an unknown outcome, or for longer than a minute. */
  parked: 4,
  /** A bug in Nebula (EX_SOFTWARE of sysexits). */
  internal: 70,
  interrupted: 130,
} as const;

export function exitCodeOf(status: RunStatus): number {
  switch (status) {
    case 'completed':
      return EXIT.completed;
    case 'failed':
      return EXIT.failed;
    case 'cancelled':
    case 'timed-out':
      return EXIT.stopped;
    case 'pending':
    case 'running':
    case 'paused':
    case 'compensating':
      return EXIT.parked;
  }
}

/** The exit code of several runs is that of the one that ended worst. */
export function worstExitCode(codes: readonly number[]): number {
  const badness = [EXIT.internal, EXIT.failed, EXIT.stopped, EXIT.parked];
  return badness.find((code) => codes.includes(code)) ?? EXIT.completed;
}
