/** Folds what happens to the run as a whole. */
import { assert, NebulaError, unreachable } from '../../error.ts';
import { estimate } from '../dispatch/dispatch-order.ts';
import {
  JOURNAL_FORMAT,
  type RunBegun,
  type RunFinished,
  type RunHeld,
  type RunPaused,
  type RunResumed,
  type RunStarted,
  type RunStopping,
} from '../journal/entry.ts';
import { countSpilled, end, recallDispatched, releaseBlocked, releasePermits } from '../state/phases.ts';
import { isFinal, isFinished, slotPermit, startPermit } from '../state/selectors.ts';
import type { RunState } from '../state/state.ts';
import { endEarly, markStopped } from '../stop/early-end.ts';
import { dueTime, endPause } from '../timers/pause.ts';
import { armDelayed, armStop, armWorkflow } from '../timers/timers.ts';
import { isAtWork } from '../undo/transactions.ts';
import { noteUndone } from '../undo/undo-list.ts';

export type RunEntry = RunStarted | RunHeld | RunBegun | RunPaused | RunResumed | RunStopping | RunFinished;

export function evolveRun(state: RunState, entry: RunEntry, at: number): void {
  switch (entry.type) {
    case 'run.started':
      return start(state, entry, at);
    case 'run.held':
      return holdBack(state, entry, at);
    case 'run.begun':
      state.delayedUntil = null;
      state.status = 'running';
      // A singleton may have waited for its place: its key is free when it has ended.
      if (state.plan.start?.policy !== 'singleton') freeStart(state);
      state.activeSince = at;
      return armWorkflow(state);
    case 'run.paused':
      state.status = 'paused';
      state.pausedAt = at;
      state.pauseReason = entry.reason ?? null;
      return recallDispatched(state);
    case 'run.resumed':
      return resume(state, at);
    case 'run.stopping':
      return stop(state, entry, at);
    case 'run.finished':
      return finish(state, entry, at);
    default:
      return unreachable(entry);
  }
}

function start(state: RunState, entry: RunStarted, at: number): void {
  if (entry.format > JOURNAL_FORMAT) tooNew(`is of format ${entry.format}`);
  const { place } = entry;
  const mustWait = place !== undefined && place.policy !== 'skip';
  state.status = mustWait ? 'pending' : 'running';
  state.slot = place === undefined ? null : { ...place, standing: mustWait ? 'waiting' : 'held' };
  state.startedAt = at;
  state.activeSince = at;
  state.root.realm = { ...state.root.realm, input: entry.input };
  state.trigger = entry.trigger;
  state.parent = entry.parent ?? null;
  state.traceparent = entry.traceparent ?? null;
  state.seed = entry.seed ?? null;
  state.startKey = entry.key ?? null;
  state.authority = entry.authority ?? null;
  if (entry.estimates !== undefined) estimate(state, entry.estimates);
  countSpilled(state, entry.input);
  armWorkflow(state);
}

function holdBack(state: RunState, { until, input, placed }: RunHeld, at: number): void {
  // A run that gets its place keeps its time, which is in the time of the run already.
  state.delayedUntil = placed ? until : dueTime(state, until, at);
  if (placed && state.slot !== null) state.slot = { ...state.slot, standing: 'held' };
  if (input !== undefined) {
    state.root.realm = { ...state.root.realm, input };
    countSpilled(state, input);
  }
  armDelayed(state);
}

export function resume(state: RunState, at: number): void {
  state.status = state.ending !== null ? 'compensating' : hasToWait(state) ? 'pending' : 'running';
  endPause(state, at);
  for (const scope of state.scopes.values()) releaseBlocked(state, scope);
}

function stop(state: RunState, entry: RunStopping, at: number): void {
  const { status, error, output, compensate = true, paused } = entry;
  if (state.pausedAt !== null && paused !== true) resume(state, at);
  const since = entry.finally === false ? at : (state.stopping?.since ?? at);
  const isRequested = entry.cancelRequested === true || state.stopping?.cancelRequested === true;
  state.stopping = { status, error, output, compensate, since, ...(isRequested ? { cancelRequested: true } : {}) };
  if (output !== undefined) countSpilled(state, output);
  if (entry.finally === undefined) markStopped(state, state.root, { error, since });
  else endEarly(state, state.root, { error, since, finally: entry.finally }, at);
  armStop(state);
}

function finish(state: RunState, entry: RunFinished, at: number): void {
  assert(!isFinished(state.status), `run ${state.executionId} ends once`);
  for (const scope of state.scopes.values()) {
    if (scope.open === 0) continue;
    for (const node of scope.nodes) {
      if (isFinal(node.phase.status) || node.phase.status === 'unknown') continue;
      end(state, node, { status: 'cancelled', at, error: undefined });
    }
  }
  for (const node of state.unknown) releasePermits(state, node);
  state.status = entry.status;
  state.finishedAt = at;
  state.output = entry.output;
  if (entry.output !== undefined) countSpilled(state, entry.output);
  state.error = entry.error ?? null;
  for (const scope of state.scopes.values()) if (scope === state.root || !isAtWork(scope)) noteUndone(state, scope);
  freeStart(state);
  releaseSlot(state);
  state.stopping = null;
  state.ending = null;
  state.delayedUntil = null;
  state.pausedAt = null;
  state.ready.clear();
  state.readyRemote.clear();
  state.timers.clear();
  state.endChecks.clear();
  state.released.clear();
}

/** Others with the same key may start. */
function freeStart(state: RunState): void {
  if (state.startKey === null) return;
  state.freed.push({ key: startPermit(state.plan.workflowId, state.startKey), node: '' });
  state.startKey = null;
}

/** Whoever waits for it, or comes next, may have it. */
function releaseSlot(state: RunState): void {
  if (state.slot === null || state.slot.standing === 'over') return;
  state.freed.push({ key: slotPermit(state.slot), node: '' });
  state.slot = { ...state.slot, standing: 'over' };
}

/** Not begun, and more than time is missing. */
function hasToWait({ delayedUntil, slot }: RunState): boolean {
  return delayedUntil !== null && slot !== null && slot.policy !== 'skip';
}

export function tooNew(what: string): never {
  throw new NebulaError('JOURNAL_TOO_NEW', `The journal ${what}, which this version does not know.`, {
    hint: 'It was written by a newer Nebula: upgrade this one.',
  });
}
