/**
 * The end of a run: running attempts stop, finallys run, completed nodes are undone, the failure node runs, and one
 * entry records the end.
 */
import type { RunError } from '../../error.ts';
import type { Json } from '../../value.ts';
import { cutOffInside, stoppingAnew } from '../decide/advance.ts';
import { emit, emitCompensated, emitSkipped, type Turn } from '../decide/turn.ts';
import { admit, drain } from '../decide/worklist.ts';
import { expressionFailure } from '../joins/edges.ts';
import type { StoredValue } from '../journal/stored-value.ts';
import { scopeOutput } from '../state/expression-scope.ts';
import { endingOf, failureNodeOf, isFinal, isFinished, isPaused, isQuiet, pathOf } from '../state/selectors.ts';
import type { Ending, RunState, ScopeState } from '../state/state.ts';
import type { FinalRunStatus } from '../state/status.ts';
import { hasDone, isAtWork, isReadyToEnd, isUndoing } from '../undo/transactions.ts';

export function finishIfDone(turn: Turn): void {
  const { state } = turn;
  const { root } = state;
  if (turn.isSuspended || isFinished(state.phase.status)) return;
  const ending = endingOf(state);
  if (ending !== null) return finishEnding(turn, ending);
  if (state.stopping !== null) {
    return isQuiet(root, state.plan.failureNode) ? stopped(turn, outcomeOf(state, state.stopping)) : undefined;
  }
  if (state.delayedUntil !== null) return;
  const failureNode = failureNodeOf(state);
  const left = failureNode?.phase.status === 'pending' ? 1 : 0;
  if (root.open > left) return;
  if (root.deferredError !== null) return stopped(turn, { status: 'failed', error: root.deferredError, ...NO_OUTPUT });
  if (failureNode !== undefined && left === 1) emitSkipped(turn, failureNode, 'dead');
  complete(turn);
}

const NO_OUTPUT = { output: undefined, compensate: true } as const;

/** An unhandled failure fails a run that would have succeeded; it replaces no other error. */
function outcomeOf({ root: { deferredError } }: RunState, stopping: Ending): Ending {
  if (stopping.status !== 'completed' || deferredError === null) return stopping;
  return { status: 'failed', error: deferredError, ...NO_OUTPUT };
}

/** Nothing in the run is under way any more: begins the undo if there is one, else ends the run. */
function stopped(turn: Turn, { status, error, output, compensate }: Ending): void {
  const { state } = turn;
  // Nothing begins while a run is paused, so neither does an undo: the run continues to its end when it is resumed.
  if (isPaused(state)) return;
  const undoes = compensate && status !== 'completed' && hasDone(state, state.root);
  const failureNode = status === 'completed' || status === 'cancelled' ? undefined : failureNodeOf(state);
  if (!undoes && failureNode?.phase.status !== 'pending') return finish(turn, status, error, output);
  emit(turn, { type: 'scope.compensating', scope: '', status, error, ...(compensate ? {} : { compensate }) });
  const first = state.root.undoing?.nodes[0];
  if (first !== undefined) turn.work.push(first);
  drain(turn);
  finishIfDone(turn);
}

function finishEnding(turn: Turn, { status, error }: Ending): void {
  const { state } = turn;
  if (isPaused(state) || isAtWork(state.root)) return;
  if (!isUndoing(state, state.root)) emitCompensated(turn, state.root);
  const failureNode = status === 'cancelled' ? undefined : failureNodeOf(state);
  if (failureNode !== undefined && !isFinal(failureNode.phase.status)) {
    if (failureNode.phase.status !== 'pending' || failureNode.dispatchState !== 'none') return;
    admit(turn, failureNode);
    drain(turn);
    // The node may have ended at once, or been skipped.
    return isFinal(failureNode.phase.status) ? finishIfDone(turn) : undefined;
  }
  if (isReadyToEnd(state)) finish(turn, status, error);
}

/** Ends a run that waits only for the outcome of its failure node, because a person cancels it. */
export function giveUpEnding(turn: Turn): void {
  const ending = endingOf(turn.state);
  if (ending !== null) finish(turn, ending.status, ending.error);
}

function finish(turn: Turn, status: FinalRunStatus, error: RunError | null, output?: StoredValue): void {
  emit(turn, {
    type: 'run.finished',
    status,
    ...(error === null ? {} : { error }),
    ...(output === undefined ? {} : { output }),
  });
}

function complete(turn: Turn): void {
  let output: Json;
  try {
    output = scopeOutput(turn, turn.state.root);
  } catch (error) {
    return stopped(turn, { status: 'failed', error: expressionFailure(error, 'output'), ...NO_OUTPUT });
  }
  emit(turn, { type: 'run.finished', status: 'completed', output: turn.store(output) });
}

/**
 * Repeats the early ends that entries from before finallys recorded, in today's form, so that they continue as they
 * would today. Nodes that ran keep their outcome.
 */
export function renewOldStops(turn: Turn): void {
  const { state } = turn;
  if (state.stopping !== null && isOld(state.root)) {
    emit(turn, { ...stoppingAnew(state.stopping), ...(!isPaused(state) ? {} : { paused: true }), finally: true });
    cutOffInside(turn, state.root, 'the run is ending');
  }
  for (const scope of [...state.scopes.values()]) {
    if (!isOld(scope) || scope.parent === null) continue;
    const { parent, stopping } = scope;
    if (parent.phase.status === 'open' && parent.phase.stopping !== null) {
      const { since: _, ...how } = parent.phase.stopping;
      emit(turn, { type: 'node.stopping', node: pathOf(parent), ...how, finally: true });
    } else emit(turn, { type: 'scope.stopping', scope: scope.path, error: stopping?.error ?? null, finally: true });
    cutOffInside(turn, scope, 'the scope around it is ending');
  }
}

function isOld({ stopping, undoes, isClosed }: ScopeState): boolean {
  return stopping !== null && stopping.finally === undefined && undoes === null && !isClosed;
}
