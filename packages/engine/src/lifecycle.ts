/** The phase of an engine, and the error that stopped it. */
import { NebulaError } from '@nebula/core';
import type { Clock } from '@nebula/ports';
import type { EngineHealth } from './api.ts';
import type { Effects } from './effects.ts';

/** Pause before a failed operation is repeated. */
export const RETRY_MS = 1_000;

export class Lifecycle {
  phase: EngineHealth['phase'] = 'new';
  /** The error with which the data was lost. */
  lost: NebulaError | undefined;

  get isOpen(): boolean {
    return this.phase === 'open';
  }

  /** Throws `ENGINE_CLOSED`, or the error with which the data was lost. */
  assertOpen(): void {
    if (this.phase !== 'open') throw new NebulaError('ENGINE_CLOSED', 'The engine is not open.');
    if (this.lost !== undefined) throw this.lost;
  }

  /** Like `assertOpen`, for an engine that need not be open yet. */
  assertNotClosed(): void {
    if (this.phase === 'closed') throw new NebulaError('ENGINE_CLOSED', 'The engine is closed.');
    if (this.lost !== undefined) throw this.lost;
  }
}

/** Repeats an operation until it succeeds or the engine closes. */
export function untilDone(
  parts: { readonly clock: Clock; readonly effects: Effects; readonly lifecycle: Lifecycle },
  work: () => Promise<void>,
): void {
  work().catch((error: unknown) => {
    parts.effects.trouble(error);
    parts.clock.timer(RETRY_MS, () => parts.lifecycle.isOpen && untilDone(parts, work));
  });
}
