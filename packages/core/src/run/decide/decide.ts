/**
 * `decide`: what follows from a stimulus. Pure: no I/O, no clock, no chance. It advances the given state and leaves
 * the entries of the next frame, and the attempts to abort, in the turn.
 *
 *  D1 Only the open attempt of a node may report an outcome; anything else is dropped (the fence).
 *  D2 A run that is finished changes by `retry`, `replay` and `migrate` only.
 *  D3 After every stimulus: due timers have fired, every decided join has led to something, and a run in which
 *     nothing can happen any more is finished. A turn that must pause is suspended before that, and continues with
 *     `resumeTurn`; until then it takes no other stimulus.
 */

import { type RunError, unreachable } from '../../error.ts';
import type { NodePath } from '../../ids.ts';
import { WORKER_LOST } from '../../retry/retry.ts';
import { childEnded } from '../composite/children.ts';
import { expand, nextIteration, stopNode } from '../composite/composite.ts';
import { type CacheMiss, JOURNAL_FORMAT } from '../journal/entry.ts';
import { migrate } from '../migrate/migrate.ts';
import {
  failureNodeUnderWay,
  isEnding,
  isFinished,
  isPaused,
  isStopped,
  nodeAt,
  pathOf,
  requireNode,
  stateIn,
  waitsForSlot,
  workerName,
} from '../state/selectors.ts';
import { timeoutsOf } from '../state/settings.ts';
import type { NodeState, RunState, TimerItem } from '../state/state.ts';
import { abort } from '../stop/abort.ts';
import { cancelNode } from '../stop/cancel-node.ts';
import { finishIfDone, giveUpEnding, renewOldStops } from '../stop/finish.ts';
import { attemptsToStop, isPastTotal, popDue } from '../timers/timers.ts';
import { gateRequestId } from '../waits/gates.ts';
import { answer, callback, deadlineError, signal, waited } from '../waits/waits.ts';
import {
  breakOff,
  cancelFinally,
  completeNode,
  endCancelled,
  failAttempt,
  failNode,
  leaveDone,
  stop,
} from './advance.ts';
import { withPlace } from './failure-place.ts';
import { undoesMore } from './preconditions.ts';
import { replay, retry } from './reopen.ts';
import type { Stimulus } from './stimulus.ts';
import { emit, type Turn } from './turn.ts';
import { drain, makeReady, passGate } from './worklist.ts';

type Of<T extends Stimulus['type']> = Extract<Stimulus, { type: T }>;

const reactions: { readonly [T in Stimulus['type']]: (turn: Turn, stimulus: Of<T>) => void } = {
  start,
  child: childEnded,
  ended,
  wake: breakOffLost,
  cancel,
  settle,
  pause,
  resume,
  checkpointed: (turn, { seq }) => emit(turn, { type: 'run.checkpointed', seq }),
  signal,
  answer,
  callback,
  granted,
  cached,
  restart,
  placed: gotSlot,
  migrate,
  // Only an ended run is retried or replayed.
  retry: () => {},
  replay: () => {},
};

/** Returns false for an outcome that the fence drops. */
export function decide(turn: Turn, stimulus: Stimulus): boolean {
  const { state } = turn;
  const isAccepted = stimulus.type !== 'ended' || isOpen(state, stimulus);
  // Without a drawn jitter, a retry waits its whole delay.
  turn.jitter = 'jitter' in stimulus ? stimulus.jitter : 1;
  turn.budgets.renew();
  if (isFinished(state.phase.status)) {
    if (!changesEnded(turn, stimulus)) return isAccepted;
  } else {
    if (state.hasOldStops) renewOldStops(turn);
    if (isAccepted) (reactions[stimulus.type] as (turn: Turn, stimulus: Stimulus) => void)(turn, stimulus);
  }
  resumeTurn(turn);
  return isAccepted;
}

/** Returns false if the run has ended and stays as it is. */
function changesEnded(turn: Turn, stimulus: Stimulus): boolean {
  if (stimulus.type === 'retry') return retry(turn, stimulus);
  if (stimulus.type === 'replay') return replay(turn, stimulus);
  if (stimulus.type === 'migrate') migrate(turn, stimulus);
  return false;
}

/** Continues a suspended turn until it is suspended again, or everything that follows from the stimulus is decided. */
export function resumeTurn(turn: Turn): void {
  drain(turn);
  if (!turn.isSuspended) fireTimers(turn);
  finishIfDone(turn);
}

/** Leaves nothing half done: decides all joins, and ends a run in which nothing can happen any more. */
export function completeTurn(turn: Turn): void {
  drain(turn);
  finishIfDone(turn);
}

/** Breaks off lost attempts and repeats open gate requests. */
function breakOffLost(turn: Turn, { lost }: Of<'wake'>): void {
  repeatGateRequests(turn);
  for (const { node: path, attempt, worker } of lost) {
    const node = nodeAt(turn.state, path);
    if (node?.phase.status !== 'running' || node.phase.attempt !== attempt) continue;
    breakOff(turn, node, lostError(worker));
  }
}

function pause(turn: Turn, { reason }: Of<'pause'>): void {
  if (!isPaused(turn.state)) emit(turn, { type: 'run.paused', ...(reason === undefined ? {} : { reason }) });
}

function resume(turn: Turn): void {
  if (!isPaused(turn.state)) return;
  emit(turn, { type: 'run.resumed' });
  repeatGateRequests(turn);
}

function cached(turn: Turn, { node: path, output, hit }: Of<'cached'>): void {
  const node = nodeAt(turn.state, path);
  if (node?.phase.status !== 'gated' || !['cache', 'reserve'].includes(node.phase.gate.kind)) return;
  completeNode(turn, node, turn.store(output), { cached: hit });
}

function cancel(turn: Turn, { reason, compensate = true, node: path }: Of<'cancel'>): void {
  if (path !== undefined) {
    const node = nodeAt(turn.state, path);
    return node === undefined ? undefined : cancelNode(turn, node, reason, compensate);
  }
  if (isEnding(turn.state)) return cancelEnding(turn, reason, compensate);
  stop(turn, 'cancelled', { code: 'CANCELLED', kind: 'USER', message: reason }, { compensate });
}

/** A cancel of a run that is already ending can only skip its finally, the rest of the undo, and the failure node. */
function cancelEnding(turn: Turn, reason: string, compensate: boolean): void {
  const { state } = turn;
  cancelFinally(turn, reason);
  if (!compensate && undoesMore(state)) return leaveDone(turn, reason);
  const last = failureNodeUnderWay(state);
  if (last === undefined) return;
  if (last.phase.status === 'unknown') return giveUpEnding(turn);
  cancelNode(turn, last, reason, compensate);
}

function start(turn: Turn, stimulus: Of<'start'>): void {
  const { input, trigger, parent, delay, key, estimates, traceparent, seed, slot, authority } = stimulus;
  const { state } = turn;
  if (state.phase.status !== 'pending') return;
  const { workflowId, version } = state.plan;
  emit(turn, {
    type: 'run.started',
    format: JOURNAL_FORMAT,
    workflowId,
    version,
    input: turn.store(input),
    trigger,
    ...(parent === undefined ? {} : { parent }),
    ...(key === undefined ? {} : { key }),
    ...(estimates === undefined ? {} : { estimates }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(seed === undefined ? {} : { seed }),
    ...(slot === undefined ? {} : { place: slot }),
    ...(authority === undefined ? {} : { authority }),
  });
  if (delay === undefined && state.slot?.status !== 'waiting') return enterRoot(turn);
  emit(turn, { type: 'run.held', until: delay?.until ?? turn.now });
}

/** The run got its slot. It begins at its time, which may have passed. */
function gotSlot(turn: Turn): void {
  const { delayedUntil } = turn.state;
  if (delayedUntil !== null && waitsForSlot(turn.state)) {
    emit(turn, { type: 'run.held', until: delayedUntil, placed: true });
  }
}

/** Delays a run that has not begun, and replaces its input. */
function restart(turn: Turn, { input, until }: Of<'restart'>): void {
  if (turn.state.delayedUntil !== null) emit(turn, { type: 'run.held', until, input: turn.store(input) });
}

function enterRoot(turn: Turn): void {
  const { state } = turn;
  // The stack reverses the order, so entry nodes begin in the order of the definition.
  for (const plan of state.plan.root.entries.toReversed()) {
    if (plan !== state.plan.failureNode) turn.work.push(stateIn(state.root, plan));
  }
}

/** The fence: returns whether the outcome is that of the attempt that the node has open. */
function isOpen(state: RunState, { node: path, attempt, worker }: Of<'ended'>): boolean {
  const phase = nodeAt(state, path)?.phase;
  return phase?.status === 'running' && phase.attempt === attempt && phase.worker === (worker ?? phase.worker);
}

function ended(turn: Turn, { node: path, outcome }: Pick<Of<'ended'>, 'node' | 'outcome'>): void {
  const node = requireNode(turn.state, path);
  const { work } = node.plan;
  switch (outcome.status) {
    case 'completed':
      // This applies to a node that is being stopped too: a retry continues in the graph.
      if (work.kind === 'dynamic') return expand(turn, node, work, outcome.output);
      return completeNode(turn, node, outcome.output);
    case 'failed':
      return failAttempt(turn, node, withPlace(node, outcome.error));
    case 'broken-off':
      return breakOff(turn, node, withPlace(node, outcome.error));
    case 'returned':
      if (isStopped(turn.state, node)) return endCancelled(turn, node);
      return emit(turn, { type: 'node.returned', node: path });
    default:
      return unreachable(outcome);
  }
}

/**
 * Repeats open gate requests: the engine that asked may have died before it got the answer. A repeated request has no
 * further effect.
 */
function repeatGateRequests(turn: Turn): void {
  for (const node of turn.state.gated) {
    if (isStopped(turn.state, node)) continue;
    if (node.phase.status === 'gated' && node.phase.until === null) {
      turn.gateRequests.push({ node: pathOf(node), gate: node.phase.gate });
    }
  }
}

function granted(turn: Turn, { node: path, gate, ask, until, miss }: Of<'granted'>): void {
  const node = nodeAt(turn.state, path);
  // The permit was released meanwhile: the node has requested another one.
  if (node !== undefined && ask !== undefined && ask !== gateRequestId(turn.state, node)) return;
  if (node?.phase.status !== 'gated' || node.phase.gate.kind !== gate || node.phase.until !== null) return;
  if (isStopped(turn.state, node)) return;
  if (isPaused(turn.state)) return grantedInPause(turn, path, until, miss);
  if (until !== undefined && until > turn.now) return emit(turn, { type: 'node.granted', node: path, until });
  if (gate === 'cache' && miss === undefined) return;
  passGate(turn, node, miss);
}

/** The node begins, or goes to its next gate, when the run is resumed. A look at the cache is repeated then. */
function grantedInPause(turn: Turn, node: NodePath, until = turn.now, miss?: CacheMiss): void {
  if (miss === undefined) emit(turn, { type: 'node.granted', node, until: Math.max(until, turn.now) });
}

function lostError(worker: string): RunError {
  return {
    code: WORKER_LOST,
    kind: 'SYSTEM',
    message: 'The process that ran this attempt stopped before it ended.',
    details: { worker: workerName(worker) },
  };
}

function settle(turn: Turn, { node: path, by, attempt, settlement }: Of<'settle'>): void {
  const node = nodeAt(turn.state, path);
  if (node?.phase.status !== 'unknown' || (attempt ?? node.attempts) !== node.attempts) return;
  const { error } = node.phase;
  if (settlement.happened === 'unknown')
    return emit(turn, { type: 'node.settled', node: path, by, outcome: 'unknown' });
  if (settlement.happened) {
    emit(turn, { type: 'node.settled', node: path, by, outcome: 'happened' });
    ended(turn, { node: path, outcome: { status: 'completed', output: turn.store(settlement.output) } });
  } else {
    notHappened(turn, node, by, settlement.then, error);
  }
  checkUndoScopes(turn, node);
}

function notHappened(
  turn: Turn,
  node: NodeState,
  by: 'verify' | 'person',
  then: 'retry' | 'fail',
  error: RunError,
): void {
  const path = pathOf(node);
  emit(turn, { type: 'node.settled', node: path, by, outcome: then });
  if (then === 'fail') return failNode(turn, node, error);
  if (isStopped(turn.state, node)) return endCancelled(turn, node, error);
  if (isPastTotal(node, turn.now)) {
    return failNode(turn, node, timeoutError('total', timeoutsOf(node).totalMs, path));
  }
  // This is journalled at once, not at the end of the turn: later stimuli of this turn must not find the outcome
  // unknown.
  emit(turn, { type: 'node.scheduled', nodes: [path] });
}

/**
 * Checks the undo scopes around the node: they may have one more node to undo, or have waited only for this outcome.
 */
function checkUndoScopes(turn: Turn, node: NodeState): void {
  for (let at: NodeState | null = node; at !== null; at = at.scope.parent) {
    const { undoing } = at.scope;
    if (undoing === null) continue;
    for (const one of undoing.nodes) turn.work.push(one);
    if (undoing.parent !== null && undoing.open === 0) turn.state.endChecks.add(undoing);
  }
}

function fireTimers(turn: Turn): void {
  for (let item = popDue(turn.state, turn.now); item !== undefined; item = popDue(turn.state, turn.now)) {
    turn.budgets.renew();
    fire(turn, item);
    drain(turn);
    if (turn.isSuspended) return;
  }
}

function fire(turn: Turn, { kind, node, scope }: TimerItem): void {
  if (kind === 'delayed') {
    emit(turn, { type: 'run.begun' });
    return enterRoot(turn);
  }
  if (kind === 'workflow') {
    return stop(turn, 'timed-out', timeoutError('workflow', turn.state.plan.timeoutMs, undefined));
  }
  if (kind === 'stop') {
    for (const late of attemptsToStop(turn.state, scope ?? node ?? turn.state.root)) giveUp(turn, late);
    return;
  }
  if (node === null) return;
  if (kind === 'retry') return makeReady(turn, node);
  if (kind === 'iteration') return nextIteration(turn, node);
  if (kind === 'gate') return passGate(turn, node);
  if (kind === 'wait') return waited(turn, node);
  if (kind === 'deadline') return failAttempt(turn, node, deadlineError(node, turn.now));
  const timeouts = timeoutsOf(node);
  const limitMs = { attempt: timeouts.attemptMs, queued: timeouts.queuedMs, total: timeouts.totalMs }[kind];
  const error = timeoutError(kind, limitMs, pathOf(node));
  if (node.phase.status === 'open' || node.phase.status === 'child') return stopNode(turn, node, error);
  if (node.phase.status !== 'running') return failAttempt(turn, node, error);
  abort(turn, node, error.message, true);
  breakOff(turn, node, error);
}

/** The attempt was asked to stop and did not: the run continues without its outcome. */
function giveUp(turn: Turn, node: NodeState): void {
  const message = 'The attempt was asked to stop and did not end in time.';
  abort(turn, node, message, true);
  breakOff(turn, node, { code: 'CANCELLED', kind: 'USER', message, node: pathOf(node) });
}

export function timeoutError(
  limit: 'attempt' | 'queued' | 'total' | 'workflow',
  limitMs: number | null,
  node: NodePath | undefined,
): RunError {
  const words = {
    attempt: 'The attempt took longer than',
    queued: 'The node waited for a slot or a grant longer than',
    total: 'The node took, with all its attempts, longer than',
    workflow: 'The run took longer than',
  }[limit];
  return {
    code: 'TIMEOUT',
    kind: 'USER',
    message: `${words} ${limitMs} ms.`,
    ...(node === undefined ? {} : { node }),
    details: { limit, limitMs },
  };
}
