/** The wake time of a run: one time, never later than the next moment at which the run needs a decision. */

import type { Heap } from '../../heap.ts';
import type { OpenAttempt } from '../decide/stimulus.ts';
import { actionWork, isFinished, isPaused, isStopped, pathOf, waitsForSlot } from '../state/selectors.ts';
import type { NodeState, RunState } from '../state/state.ts';
import { isReadyToEnd, needsEndCheck } from '../undo/transactions.ts';
import { movesByItself, nextTimer } from './timers.ts';

/** Returns null if only a stimulus can move the run. `resyncMs`: how long a lost hint may go unnoticed. */
export function wakeTime(state: RunState, now: number, resyncMs: number): number | null {
  if (isFinished(state.phase.status)) return null;
  const timer = nextTimer(state) ?? null;
  const check = isActive(state) ? now + resyncMs : childCheck(state, now, resyncMs);
  return timer === null || check === null ? (timer ?? check) : Math.min(timer, check);
}

/** The engine that requested a child may have died before it started the child: another engine checks once. */
function childCheck({ children, lastChildAt }: RunState, now: number, resyncMs: number): number | null {
  return children.size > 0 && lastChildAt + resyncMs > now ? lastChildAt + resyncMs : null;
}

/** The run has queued or running work, so an engine must check it again. */
function isActive(state: RunState): boolean {
  return state.running.size > 0 || hasWork(state) || mustAskAgain(state);
}

/**
 * The engine that asked answers a rate or cache gate. If that engine dies, another one asks again. The store grants
 * permits.
 */
function mustAskAgain(state: RunState): boolean {
  if (isPaused(state)) return false;
  for (const { phase } of state.gated) {
    if (phase.status === 'gated' && phase.until === null && ['rate', 'cache'].includes(phase.gate.kind)) return true;
  }
  return false;
}

/**
 * Returns whether this worker runs an attempt of the run, or could start one. Other workers look after their own
 * attempts.
 */
export function concerns(state: RunState, worker: string): boolean {
  return hasWork(state) || openAttempts(state).some((open) => open.worker === worker);
}

function hasWork(state: RunState): boolean {
  if (state.dispatched > 0 || hasEndChecks(state) || hasReady(state) || isReadyToEnd(state)) return true;
  return toVerify(state).length > 0;
}

/**
 * The last turn left an end check for the next turn. Scopes that wait for an answer are not counted: an earlier turn
 * checked them without an entry.
 */
export function hasEndChecks(state: RunState): boolean {
  for (const ended of state.endChecks) if (needsEndCheck(state, ended)) return true;
  return false;
}

/** Nodes of unknown outcome whose action has a `verify` that has not been called yet. */
export function toVerify(state: RunState): NodeState[] {
  if (state.unknown.size === 0) return [];
  return [...state.unknown].filter(
    (node) => node.phase.status === 'unknown' && !node.phase.isVerified && actionWork(node).action.verify !== undefined,
  );
}

/** A node is ready and lacks only a slot. */
function hasReady(state: RunState): boolean {
  if (isPaused(state)) return false;
  return firstReady(state, state.ready) !== undefined || firstReady(state, state.readyRemote) !== undefined;
}

/** Returns the most urgent ready node, and drops nodes that are no longer ready. */
export function firstReady(state: RunState, ready: Heap<NodeState>): NodeState | undefined {
  for (let node = ready.peek(); node !== undefined; node = ready.peek()) {
    if (node.dispatchState === 'ready' && !isStopped(state, node)) return node;
    ready.pop();
  }
  return undefined;
}

/** A caller that waits for a run sits out waits, delays and limits up to this length; a longer one parks the run. */
const PARKS_AFTER_MS = 60_000;

/** The run is unfinished and waits only for a person, a signal, a call or a far time. */
export function isParked(state: RunState, now: number): boolean {
  return isParkedExceptChildren(state, now) && (isPaused(state) || state.children.size === 0);
}

/** Only a person, a signal, a far time or a child moves the run. The run is parked if its children are. */
export function isParkedExceptChildren(state: RunState, now: number): boolean {
  return isQuiescent(state, now) && (isPaused(state) || !(waitsForGrant(state) || waitsForSlot(state)));
}

/** A node waits for the grant of another run. A node that was granted waits for its moment. */
function waitsForGrant({ gated }: RunState): boolean {
  for (const { phase } of gated) if (phase.status === 'gated' && phase.until === null) return true;
  return false;
}

/**
 * Neither a worker nor a near time moves the run: only people, signals, other executions, and holders of its permits.
 */
export function isQuiescent(state: RunState, now: number): boolean {
  return !isFinished(state.phase.status) && !isActive(state) && !movesByItself(state, now + PARKS_AFTER_MS);
}

/** `isStopped`: the worker must stop the attempt, because its scope ends. */
export function openAttempts(state: RunState): (OpenAttempt & { readonly isStopped: boolean })[] {
  const open: (OpenAttempt & { readonly isStopped: boolean })[] = [];
  for (const node of state.running) {
    if (node.phase.status !== 'running') continue;
    const { attempt, worker } = node.phase;
    open.push({ node: pathOf(node), attempt, worker, isStopped: isStopped(state, node) });
  }
  return open;
}
