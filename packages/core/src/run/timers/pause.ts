/**
 * A paused run stands still. Its clock stops at the pause, so a duration that begins during the pause begins there, and
 * `run.resumed` moves every timer of the run by the length of the pause.
 *
 *  P1 A moment that an author wrote as a date (`fixed`) is not moved.
 *  P2 Attempts that workers run continue during the pause, so their own limits, and the grace time of those that were
 *     asked to stop, are not moved.
 */
import type { AwaitedEvent } from '../journal/entry.ts';
import { bodyOf, isFinal } from '../state/selectors.ts';
import type { NodeState, Phase, RunState } from '../state/state.ts';
import { armAll } from './timers.ts';

/** The end of a duration that begins at `at`, in the time of the run. */
export function dueTime({ phase }: RunState, until: number, at: number): number {
  return phase.status === 'paused' ? until - (at - phase.at) : until;
}

/** Ends the pause. Linear in the nodes of the run: people resume runs rarely. */
export function endPause(state: RunState, pausedAt: number, at: number): void {
  const lengthMs = at - pausedAt;
  const since = (moment: number): number => moment + at - Math.max(moment, pausedAt);
  state.activeSince = since(state.activeSince);
  if (state.delayedUntil !== null) state.delayedUntil += lengthMs;
  for (const scope of state.scopes.values()) {
    for (const node of scope.nodes) if (!isFinal(node.phase.status)) move(node, lengthMs, since);
  }
  armAll(state);
}

function move(node: NodeState, lengthMs: number, since: (moment: number) => number): void {
  const { queuedAt, pausedMs } = node;
  if (queuedAt !== null) node.pausedMs = since(queuedAt + pausedMs) - queuedAt;
  const body = bodyOf(node);
  if (body !== undefined && body.until !== null) body.until += lengthMs;
  node.phase = moved(node.phase, lengthMs, since);
}

function moved(phase: Phase, lengthMs: number, since: (moment: number) => number): Phase {
  switch (phase.status) {
    case 'queued':
    case 'open':
    case 'child':
      return { ...phase, since: since(phase.since) };
    case 'waiting':
      return { ...phase, until: phase.until + lengthMs };
    case 'gated':
      return { ...phase, since: since(phase.since), until: phase.until === null ? null : phase.until + lengthMs };
    case 'listening': {
      const { deadline, isDeadlineFixed = false } = phase;
      return {
        ...phase,
        since: since(phase.since),
        waits: phase.waits.map((wait) => movedWait(wait, lengthMs)),
        deadline: deadline === null || isDeadlineFixed ? deadline : deadline + lengthMs,
      };
    }
    case 'pending':
    case 'running':
    case 'completed':
    case 'failed':
    case 'skipped':
    case 'cancelled':
    case 'unknown':
      return phase;
  }
}

function movedWait(wait: AwaitedEvent, lengthMs: number): AwaitedEvent {
  return wait.kind === 'time' && wait.fixed !== true ? { ...wait, at: wait.at + lengthMs } : wait;
}
