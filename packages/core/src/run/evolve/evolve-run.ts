/** Folds the entries about the run as a whole. */
import { assert, NebulaError, type RunError } from '../../error.ts';
import { estimate } from '../dispatch/dispatch-order.ts';
import {
  JOURNAL_FORMAT,
  type RunFinished,
  type RunHeld,
  type RunPaused,
  type RunStarted,
  type RunStopping,
} from '../journal/entry.ts';
import { NULL_VALUE } from '../journal/stored-value.ts';
import { countSpilled, noticeHeld, recallDispatched, releaseBlocked, releasePermits } from '../state/phases.ts';
import { isFinishedPhase, slotPermit, startPermit } from '../state/selectors.ts';
import type { FinishedPhase } from '../state/state.ts';
import { endEarly, markStopped } from '../stop/early-end.ts';
import { dueTime, endPause } from '../timers/pause.ts';
import { armDelayed, armStop, armWorkflow } from '../timers/timers.ts';
import { isAtWork } from '../undo/transactions.ts';
import { noteUndone } from '../undo/undo-list.ts';
import { cancelWithScope } from './evolve-node.ts';
import type { Fold } from './fold.ts';

export const runFolds = {
  'run.started': start,
  'run.held': delayStart,
  'run.begun': begin,
  'run.paused': pause,
  'run.resumed': resume,
  'run.stopping': stop,
  'run.finished': finish,
};

function start({ state, at }: Fold, entry: RunStarted): void {
  if (entry.format > JOURNAL_FORMAT) tooNew(`is of format ${entry.format}`);
  const { place } = entry;
  const mustWait = place !== undefined && place.policy !== 'skip';
  state.phase = { status: mustWait ? 'pending' : 'running' };
  state.slot = place === undefined ? null : { ...place, status: mustWait ? 'waiting' : 'held' };
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

function delayStart({ state, at }: Fold, { until, input, placed }: RunHeld): void {
  // The time of a run that gets its slot was converted to the run's clock before.
  state.delayedUntil = placed ? until : dueTime(state, until, at);
  if (state.phase.status === 'running') state.phase = { status: 'pending' };
  if (placed && state.slot !== null) state.slot = { ...state.slot, status: 'held' };
  if (input !== undefined) {
    state.root.realm = { ...state.root.realm, input };
    countSpilled(state, input);
  }
  armDelayed(state);
}

function begin(fold: Fold): void {
  const { state, at } = fold;
  state.delayedUntil = null;
  state.phase = { status: 'running' };
  // A singleton may have waited for its concurrency slot; its start key is released when it ends.
  if (state.plan.start?.policy !== 'singleton') freeStart(fold);
  state.activeSince = at;
  armWorkflow(state);
}

function pause({ state, at }: Fold, { reason }: RunPaused): void {
  const { phase } = state;
  assert(!isFinishedPhase(phase), `run ${state.executionId} is paused before it ends`);
  state.phase = {
    status: 'paused',
    at,
    reason: reason ?? null,
    resumes: phase.status === 'paused' ? phase.resumes : phase,
  };
  recallDispatched(state);
}

/** Does nothing if the run is not paused. */
export function resume({ state, at }: Fold): void {
  const { phase } = state;
  if (phase.status !== 'paused') return;
  state.phase = phase.resumes;
  endPause(state, phase.at, at);
  for (const scope of state.scopes.values()) {
    releaseBlocked(state, scope);
    noticeHeld(state, scope);
  }
}

function stop(fold: Fold, entry: RunStopping): void {
  const { state, at } = fold;
  const { status, error, output, compensate = true, paused } = entry;
  if (paused !== true) resume(fold);
  const since = entry.finally === false ? at : (state.stopping?.since ?? at);
  const isRequested = entry.cancelRequested === true || state.stopping?.cancelRequested === true;
  state.stopping = { status, error, output, compensate, since, ...(isRequested ? { cancelRequested: true } : {}) };
  if (output !== undefined) countSpilled(state, output);
  if (entry.finally === undefined) markStopped(state, state.root, { error, since });
  else endEarly(fold, state.root, { error, since, finally: entry.finally });
  armStop(state);
}

function finish(fold: Fold, entry: RunFinished): void {
  const { state, at } = fold;
  assert(!isFinishedPhase(state.phase), `run ${state.executionId} ends once`);
  for (const scope of state.scopes.values()) {
    if (scope.open === 0) continue;
    for (const node of scope.nodes) cancelWithScope(fold, node);
  }
  for (const node of state.unknown) releasePermits(fold, node);
  state.phase = finishedPhase(entry, at);
  if (entry.output !== undefined) countSpilled(state, entry.output);
  for (const scope of state.scopes.values()) if (scope === state.root || !isAtWork(scope)) noteUndone(state, scope);
  freeStart(fold);
  releaseSlot(fold);
  state.stopping = null;
  state.delayedUntil = null;
  state.ready.clear();
  state.readyRemote.clear();
  state.timers.clear();
  state.endChecks.clear();
  state.released.clear();
}

function finishedPhase({ status, output = NULL_VALUE, error = UNEXPLAINED }: RunFinished, at: number): FinishedPhase {
  return status === 'completed' ? { status, at, output } : { status, at, error };
}

/** The error of a run whose journal does not record one. */
const UNEXPLAINED: RunError = { code: 'UNKNOWN', kind: 'SYSTEM', message: 'The journal does not say why.' };

/** Releases the start key, so that others with the same key may start. */
function freeStart({ state, effects }: Fold): void {
  if (state.startKey === null) return;
  effects.freedPermits.push({ key: startPermit(state.plan.workflowId, state.startKey), node: '' });
  state.startKey = null;
}

/** Releases the concurrency slot. */
function releaseSlot({ state, effects }: Fold): void {
  if (state.slot === null || state.slot.status === 'over') return;
  effects.freedPermits.push({ key: slotPermit(state.slot), node: '' });
  state.slot = { ...state.slot, status: 'over' };
}

export function tooNew(what: string): never {
  throw new NebulaError('JOURNAL_TOO_NEW', `The journal ${what}, which this version does not know.`, {
    hint: 'It was written by a newer Nebula: upgrade this one.',
  });
}
