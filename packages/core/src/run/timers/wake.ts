/** The one wake time of a run: never later than the next moment at which something must be done. */

import type { Heap } from '../../heap.ts';
import type { OpenAttempt } from '../decide/stimulus.ts';
import { actionWork, isFinished, isPaused, isStopped, pathOf, waitsForSlot } from '../state/selectors.ts';
import type { NodeState, RunState } from '../state/state.ts';
import { needsEndCheck } from '../undo/transactions.ts';
import { movesByItself, nextTimer } from './timers.ts';

/** Null when only a stimulus can move the run. `resyncMs`: how long a lost hint may go unnoticed. */
export function wakeTime(state: RunState, now: number, resyncMs: number): number | null {
  if (isFinished(state.phase.status)) return null;
  const timer = nextTimer(state) ?? null;
  const look = isActive(state) ? now + resyncMs : childLook(state, now, resyncMs);
  return timer === null || look === null ? (timer ?? look) : Math.min(timer, look);
}

/** The engine that requested a child may have died before it was started: another engine looks once. */
function childLook({ children, lastChildAt }: RunState, now: number, resyncMs: number): number | null {
  return children.size > 0 && lastChildAt + resyncMs > now ? lastChildAt + resyncMs : null;
}

/** Something is queued or running here, so somebody must keep an eye on it. */
function isActive(state: RunState): boolean {
  return state.running.size > 0 || hasWork(state) || mustAskAgain(state);
}

/** A rate or cache gate is answered by the engine that asked. If that one died, another asks again. The store grants permits. */
function mustAskAgain(state: RunState): boolean {
  if (isPaused(state)) return false;
  for (const { phase } of state.gated) {
    if (phase.status === 'gated' && phase.until === null && ['rate', 'cache'].includes(phase.gate.kind)) return true;
  }
  return false;
}

/** Whether this worker runs an attempt of the run, or could start one. Attempts of other workers wake those. */
export function concerns(state: RunState, worker: string): boolean {
  return hasWork(state) || openAttempts(state).some((open) => open.worker === worker);
}

function hasWork(state: RunState): boolean {
  return state.dispatched > 0 || hasEndChecks(state) || hasReady(state) || toVerify(state).length > 0;
}

/** The last turn left something for the next one. What waits for an answer has been looked at, of which no entry tells. */
export function hasEndChecks(state: RunState): boolean {
  for (const ended of state.endChecks) if (needsEndCheck(state, ended)) return true;
  return false;
}

/** Nodes of unknown outcome whose action can be asked whether it took effect, and has not been. */
export function toVerify(state: RunState): NodeState[] {
  if (state.unknown.size === 0) return [];
  return [...state.unknown].filter(
    (node) => node.phase.status === 'unknown' && !node.phase.isVerified && actionWork(node).action.verify !== undefined,
  );
}

/** Ready, and held back by nothing but a lack of slots. */
function hasReady(state: RunState): boolean {
  if (isPaused(state)) return false;
  return firstReady(state, state.ready) !== undefined || firstReady(state, state.readyRemote) !== undefined;
}

/** The most urgent one; what has lost its place is dropped on the way. */
export function firstReady(state: RunState, ready: Heap<NodeState>): NodeState | undefined {
  for (let node = ready.peek(); node !== undefined; node = ready.peek()) {
    if (node.dispatchState === 'ready' && !isStopped(state, node)) return node;
    ready.pop();
  }
  return undefined;
}

/** A caller that waits for a run sits out a wait, a deadline or a limit of this length; a longer one parks the run. */
export const PARKS_AFTER_MS = 60_000;

/** Unfinished, and waits for a person, a signal, a call or a time that is far away: nothing else will move it soon. */
export function isParked(state: RunState, now: number): boolean {
  return isParkedExceptChildren(state, now) && (isPaused(state) || state.children.size === 0);
}

/** Nothing but a person, a signal, a far time or one of its children will move it: parked, if these are. */
export function isParkedExceptChildren(state: RunState, now: number): boolean {
  return isQuiescent(state, now) && (isPaused(state) || (state.gated.size === 0 && !waitsForSlot(state)));
}

/** Neither a worker nor time, soon, moves it: only people, signals and other executions, also those that hold its places. */
export function isQuiescent(state: RunState, now: number): boolean {
  return !isFinished(state.phase.status) && !isActive(state) && !movesByItself(state, now + PARKS_AFTER_MS);
}

/** `isStopped`: its worker is to stop it, since something around it ends. */
export function openAttempts(state: RunState): (OpenAttempt & { readonly isStopped: boolean })[] {
  const open: (OpenAttempt & { readonly isStopped: boolean })[] = [];
  for (const node of state.running) {
    if (node.phase.status !== 'running') continue;
    const { attempt, worker } = node.phase;
    open.push({ node: pathOf(node), attempt, worker, isStopped: isStopped(state, node) });
  }
  return open;
}
