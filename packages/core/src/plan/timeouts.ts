/** Compiles the time limits of a node. */
import type { TimeoutDefinition } from '../definition/model.ts';
import type { Timeouts } from './plan.ts';
import { durationOf } from './retry-plan.ts';

export function timeoutsOf(timeout: string | TimeoutDefinition | undefined): Timeouts {
  const { attempt, queued, total } = typeof timeout === 'string' ? { attempt: timeout } : (timeout ?? {});
  return {
    attemptMs: durationOf(attempt) ?? null,
    queuedMs: durationOf(queued) ?? null,
    totalMs: durationOf(total) ?? null,
  };
}
