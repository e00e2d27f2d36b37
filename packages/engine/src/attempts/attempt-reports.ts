/** Time limit and outcome of attempts, whether this process or a remote worker runs them. */
import type { ExecutionId, NodePath, RunError } from '@nebula/core';
import {
  type Attempt,
  type NodeState,
  type Outcome,
  type Stimulus,
  timeoutError,
  timeoutsOf,
  totalLeftMs,
} from '@nebula/core/run';
import type { EngineContext } from '../context.ts';

/** An attempt of a node. `worker`: reports count only while the journal has the attempt open for this worker. */
export interface AttemptRef {
  readonly executionId: ExecutionId;
  readonly node: NodePath;
  readonly attempt: number;
  readonly worker?: string;
}

/** How long the attempt may take from its start, and the error with which it then ends. */
export interface TimeLimit {
  readonly limitMs: number;
  readonly error: RunError;
}

/** The attempt's own time limit or the rest of the node's total one, whichever ends first; null: none. */
export function timeLimitOf({
  attemptMs,
  totalMs,
  totalLeftMs: leftMs,
  node,
}: Pick<Attempt, 'attemptMs' | 'totalMs' | 'totalLeftMs' | 'node'>): TimeLimit | null {
  if (leftMs !== null && (attemptMs === null || leftMs < attemptMs)) {
    return { limitMs: Math.max(0, leftMs), error: timeoutError('total', totalMs, node) };
  }
  return attemptMs === null ? null : { limitMs: attemptMs, error: timeoutError('attempt', attemptMs, node) };
}

/** The time limit of an attempt that another process began at `since`. */
export function openTimeLimit(node: NodeState, path: NodePath, since: number): TimeLimit | null {
  const { attemptMs, totalMs } = timeoutsOf(node);
  return timeLimitOf({ attemptMs, totalMs, totalLeftMs: totalLeftMs(node, since), node: path });
}

/** Returns the outcome of an attempt as a stimulus of its run. */
export function endOf({ node, attempt, worker }: AttemptRef, outcome: Outcome, { random }: EngineContext): Stimulus {
  const jitter = random.fraction();
  return { type: 'ended', node, attempt, outcome, jitter, ...(worker !== undefined && { worker }) };
}
