/**
 * How a node goes from one phase to the next, and what waits for it: a slot, a level, a gate. Everything that folds an
 * entry changes phases through here, which keeps the indexes of the state true.
 */
import type { Heap } from '../../heap.ts';
import { HERE } from '../../plan/route.ts';
import type { Fold } from '../evolve/fold.ts';
import type { StoredValue } from '../journal/stored-value.ts';
import { armQueued } from '../timers/timers.ts';
import { gatesOf, isReservation } from '../waits/gates.ts';
import { countBusy } from './scopes.ts';
import { bodyOf, countOpen, isBlockedByLevel, isFinal, isPaused, isQuiet, pathOf } from './selectors.ts';
import type { FinalPhase, NodeState, Phase, RunState, ScopeState } from './state.ts';

/** Every change of phase goes through here: it keeps the indexes true. */
export function enter({ state, effects }: Fold, node: NodeState, phase: Phase): void {
  const before = node.phase.status;
  const busy = Number(isBusy(node, phase.status)) - Number(isBusy(node, before));
  const isEnding = node.scope.stopping?.finally !== undefined;
  const wasQuiet = isEnding && isQuiet(node.scope, state.plan.failureNode);
  const hadToEnd = isEnding && mustEnd(node);
  node.phase = phase;
  if (before === 'unknown') node.scope.doubts--;
  if (phase.status === 'unknown') node.scope.doubts++;
  else if (isFinal(phase.status)) leaveOpen(state, node);
  if (isEnding) noticeEnding(state, node, hadToEnd, wasQuiet);
  if (busy !== 0) countBusy(state, node, busy > 0 ? 1 : -1);
  if (before === 'running') leaveRunning(state, node);
  else if (before === 'child') state.children.delete(node);
  else if (before === 'unknown') state.unknown.delete(node);
  else if (before === 'listening') {
    state.listening.delete(node);
    effects.unsubscribed.push(pathOf(node));
  } else if (before === 'gated') state.gated.delete(node);
  if (phase.status === 'running') enterRunning(state, node);
  else if (phase.status === 'child') state.children.add(node);
  else if (phase.status === 'unknown') state.unknown.add(node);
  else if (phase.status === 'listening') state.listening.add(node);
  else if (phase.status === 'gated') state.gated.add(node);
}

/** The node is under way in a scope that ends early, and the finally of that scope waits for its end. */
export function mustEnd({ phase: { status }, scope: { stopping }, inFinally }: NodeState): boolean {
  if (status === 'pending' || status === 'unknown' || isFinal(status)) return false;
  return !inFinally || stopping?.finally !== true;
}

/** After a node of a scope that ends early has changed: its finally may begin now, or it may be over. */
function noticeEnding(state: RunState, node: NodeState, hadToEnd: boolean, wasQuiet: boolean): void {
  const { scope } = node;
  const mustStill = mustEnd(node);
  if (mustStill && !hadToEnd) scope.underWay++;
  if (hadToEnd && !mustStill && --scope.underWay === 0) state.endChecks.add(scope);
  if (wasQuiet || !isQuiet(scope, state.plan.failureNode)) return;
  state.endChecks.add(scope);
  const { parent } = scope;
  if (parent !== null && parent.endings > 0 && --parent.endings === 0) state.endChecks.add(parent);
}

/** Also where a snapshot says so. */
export function enterRunning(state: RunState, node: NodeState): void {
  state.running.add(node);
  if (isRemote(node)) state.runningRemote++;
}

function leaveRunning(state: RunState, node: NodeState): void {
  state.running.delete(node);
  if (isRemote(node)) state.runningRemote--;
}

function isRemote({ plan }: NodeState): boolean {
  return plan.route !== HERE;
}

function readyOf(state: RunState, node: NodeState): Heap<NodeState> {
  return isRemote(node) ? state.readyRemote : state.ready;
}

/**
 * Something outside works for the node, and has to be waited for when it is stopped. So has the answer whether something
 * was undone: a later retry must know what to do again, and what to undo.
 */
export function isBusy({ scope }: NodeState, status: Phase['status']): boolean {
  return status === 'running' || status === 'child' || (status === 'unknown' && scope.undoes !== null);
}

export function leaveQueue(state: RunState, node: NodeState): void {
  // Whatever it goes to now, it has passed.
  if (node.phase.status === 'gated' || node.phase.status === 'queued') node.passed = Number.MAX_SAFE_INTEGER;
  if (node.dispatchState === 'dispatched') leaveDispatched(state, node);
  else if (node.dispatchState === 'blocked') node.scope.blockedByLevel.delete(node);
  state.released.delete(node);
  node.dispatchState = 'none';
}

/** From gate to gate and on to a slot it is one wait. */
export function queuedSince({ phase }: NodeState, at: number): number {
  return phase.status === 'gated' || phase.status === 'queued' ? phase.since : at;
}

export function enterDispatched(state: RunState, node: NodeState): void {
  node.dispatchState = 'dispatched';
  state.dispatched++;
  if (isRemote(node)) state.dispatchedRemote++;
}

function leaveDispatched(state: RunState, node: NodeState): void {
  state.dispatched--;
  if (isRemote(node)) state.dispatchedRemote--;
}

export function enqueue(fold: Fold, node: NodeState): void {
  const { state, at } = fold;
  node.queuedAt ??= at;
  if (node.phase.status === 'gated') node.passed = Number.MAX_SAFE_INTEGER;
  enter(fold, node, { status: 'queued', since: queuedSince(node, at) });
  // A node that was found ready in this very turn has its place already.
  if (node.dispatchState === 'none') addReady(state, node);
  armQueued(state, node);
}

/** Everything that was handed to the queue is ready again: the queue may have lost it. */
export function recallDispatched(state: RunState): void {
  if (state.dispatched === 0) return;
  for (const scope of state.scopes.values()) {
    for (const node of scope.nodes) {
      if (node.dispatchState !== 'dispatched') continue;
      node.dispatchState = 'ready';
      readyOf(state, node).push(node);
    }
  }
  state.dispatched = 0;
  state.dispatchedRemote = 0;
}

export function takesSlot({ plan }: NodeState): boolean {
  return plan.work.kind === 'action' || plan.work.kind === 'dynamic';
}

/** Among those that wait for a slot of this run, or, in `mode: levels`, for their level. `passed`: gates behind it. */
export function addReady(state: RunState, node: NodeState, passed = node.passed): void {
  const isReady = takesSlot(node) && passed >= gatesOf(node.plan).length;
  if (isBlockedByLevel(state, node) || (isPaused(state) && !isReady)) {
    node.dispatchState = 'blocked';
    node.scope.blockedByLevel.add(node);
  } else if (isReady) {
    node.dispatchState = 'ready';
    readyOf(state, node).push(node);
  } else {
    // Needs no slot, or must be granted something first: whoever decides looks at it at once.
    state.released.add(node);
  }
}

/** A level has come: its nodes wait for a slot now. */
export function releaseBlocked(state: RunState, scope: ScopeState): void {
  for (const node of [...scope.blockedByLevel]) {
    if (isBlockedByLevel(state, node)) continue;
    scope.blockedByLevel.delete(node);
    node.dispatchState = 'none';
    addReady(state, node);
  }
}

export function end(fold: Fold, node: NodeState, phase: FinalPhase): void {
  leaveQueue(fold.state, node);
  free(fold, node);
  const body = bodyOf(node);
  // Of a body that went well only its result is left.
  const isKept = body !== undefined && !(phase.status === 'completed' && body.scopes.size === 0);
  enter(fold, node, isKept && phase.status !== 'skipped' ? { ...phase, body } : phase);
}

function leaveOpen(state: RunState, { scope, plan }: NodeState): void {
  scope.open--;
  countOpen(scope, plan, -1);
  const { level } = scope;
  while (scope.level < scope.openPerLevel.length && scope.openPerLevel[scope.level] === 0) scope.level++;
  if (scope.level > level && scope.blockedByLevel.size > 0) releaseBlocked(state, scope);
  if (scope.open === 0 && scope.parent !== null && !scope.isClosed) state.endChecks.add(scope);
}

/** Ready, and put back to where it was before: the finally of its scope comes to it later. */
export function returnToPending(fold: Fold, node: NodeState): void {
  leaveQueue(fold.state, node);
  free(fold, node);
  node.passed = 0;
  node.queuedAt = null;
  if (node.phase.status !== 'pending') enter(fold, node, { status: 'pending' });
}

/** What it held, or waited for, is for others. */
function free({ effects }: Fold, node: NodeState): void {
  if (node.permits.length === 0) return;
  const path = pathOf(node);
  for (const key of node.permits) effects.freedPermits.push({ key, node: path });
  node.permits = [];
}

/**
 * Between attempts its place among those with its key is for others. What it alone works out for the cache stays with
 * it: another one would do it a second time, under another idempotency key, while nobody knows what became of the first.
 */
export function releaseConcurrencyPermits(fold: Fold, node: NodeState): void {
  const kept = node.permits.filter(isReservation);
  node.permits = node.permits.filter((key) => !isReservation(key));
  free(fold, node);
  node.permits = kept;
  node.passed = kept.length === 0 ? 0 : gatesOf(node.plan).indexOf('reserve') + 1;
}

/** Others need not wait until somebody says what became of it; if it is done again, it stands in line again. */
export function releasePermits(fold: Fold, node: NodeState): void {
  free(fold, node);
  node.passed = 0;
}

export function countSpilled(state: RunState, stored: StoredValue): void {
  if (stored.blob !== undefined) state.spilled++;
}
