/**
 * Transitions of a node between phases, and the queues in which it waits: for a slot, a level, a gate. The fold changes
 * phases only through `enter`, which keeps the indexes of the state in step.
 */
import type { Heap } from '../../heap.ts';
import { HERE } from '../../plan/route.ts';
import type { Fold } from '../evolve/fold.ts';
import { updateHeld } from '../joins/joins.ts';
import type { StoredValue } from '../journal/stored-value.ts';
import { armQueued } from '../timers/timers.ts';
import { gatesOf, isReservation } from '../waits/gates.ts';
import { countBusy } from './scopes.ts';
import { countOpen, isBlockedByLevel, isFinal, isPaused, isQuiet, pathOf } from './selectors.ts';
import type { NodeState, Phase, RunState, ScopeState } from './state.ts';

/** The only place that changes a phase with an index behind it. */
export function enter({ state, effects }: Fold, node: NodeState, phase: Phase): void {
  const before = node.phase.status;
  const busy = Number(isBusy(node, phase.status)) - Number(isBusy(node, before));
  const isEnding = node.scope.stopping?.finally !== undefined;
  const wasQuiet = isEnding && isQuiet(node.scope, state.plan.failureNode);
  const hadToEnd = isEnding && mustEnd(node);
  node.phase = phase;
  if (node.heldSources > 0) updateHeld(node);
  if (before === 'unknown') node.scope.unknowns--;
  if (phase.status === 'unknown') node.scope.unknowns++;
  else if (isFinal(phase.status)) leaveOpen(state, node);
  if (isEnding) noticeEnding(state, node, hadToEnd, wasQuiet);
  if (busy !== 0) countBusy(state, node, busy > 0 ? 1 : -1);
  if (before === 'running') leaveRunning(state, node);
  else if (before === 'child') state.children.delete(node);
  else if (before === 'unknown') {
    state.unknown.delete(node);
    effects.leftUnknown.push(pathOf(node));
  } else if (before === 'listening') {
    state.listening.delete(node);
    effects.unsubscribed.push(pathOf(node));
  } else if (before === 'gated') state.gated.delete(node);
  if (phase.status === 'running') enterRunning(state, node);
  else if (phase.status === 'child') state.children.add(node);
  else if (phase.status === 'unknown') state.unknown.add(node);
  else if (phase.status === 'listening') state.listening.add(node);
  else if (phase.status === 'gated') state.gated.add(node);
}

/** The node is under way in a scope that ends early, and the finally of that scope waits for it. */
export function mustEnd({ phase: { status }, scope: { stopping }, inFinally }: NodeState): boolean {
  if (status === 'pending' || status === 'unknown' || isFinal(status)) return false;
  return !inFinally || stopping?.finally !== true;
}

/** Checks, after a node of a scope that ends early has changed, whether the finally may begin or is over. */
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

/** Indexes a running node. Also called when a snapshot is read. */
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
 * Something outside this run works for the node, and stopping the node has to wait for it. The answer whether a
 * compensation took effect counts too: a later retry must know which nodes to run again and which to undo.
 */
export function isBusy({ scope }: NodeState, status: Phase['status']): boolean {
  return status === 'running' || status === 'child' || (status === 'unknown' && scope.undoes !== null);
}

export function leaveQueue(state: RunState, node: NodeState): void {
  // A node that leaves the queue has passed all its gates.
  if (node.phase.status === 'gated' || node.phase.status === 'queued') node.passed = Number.MAX_SAFE_INTEGER;
  if (node.dispatchState === 'dispatched') leaveDispatched(state, node);
  else if (node.dispatchState === 'blocked') node.scope.blockedByLevel.delete(node);
  state.released.delete(node);
  node.dispatchState = 'none';
}

/** The wait from gate to gate and on to a slot counts as one. */
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
  // A node that became ready in this turn is queued already.
  if (node.dispatchState === 'none') addReady(state, node);
  armQueued(state, node);
}

/** Makes every dispatched node ready again, because the queue may have lost it. */
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

/**
 * Queues the node for a slot of this run or, in `mode: levels`, for its level. `passed`: the gates that it has passed.
 */
export function addReady(state: RunState, node: NodeState, passed = node.passed): void {
  const isReady = takesSlot(node) && passed >= gatesOf(node.plan).length;
  if (isBlockedByLevel(state, node) || (isPaused(state) && !isReady)) {
    node.dispatchState = 'blocked';
    node.scope.blockedByLevel.add(node);
  } else if (isReady) {
    node.dispatchState = 'ready';
    readyOf(state, node).push(node);
  } else {
    // The node needs no slot or has a gate to pass: the turn looks at it at once.
    state.released.add(node);
  }
}

/** Queues the nodes that nothing holds back any more for a slot. */
export function releaseBlocked(state: RunState, scope: ScopeState): void {
  for (const node of [...scope.blockedByLevel]) if (!isBlockedByLevel(state, node)) release(state, node);
}

/** Queues the nodes of a level whose turn has come. The edges of the node that ended are not decided yet. */
function releaseLevel(state: RunState, scope: ScopeState): void {
  for (const node of [...scope.blockedByLevel]) if (node.plan.level <= scope.level) release(state, node);
}

function release(state: RunState, node: NodeState): void {
  node.scope.blockedByLevel.delete(node);
  node.dispatchState = 'none';
  addReady(state, node);
}

function leaveOpen(state: RunState, { scope, plan }: NodeState): void {
  scope.open--;
  countOpen(scope, plan, -1);
  passLevels(state, scope);
  if (scope.open === 0 && scope.parent !== null && !scope.isClosed) state.endChecks.add(scope);
}

function passLevels(state: RunState, scope: ScopeState): void {
  const { level } = scope;
  while (scope.level < scope.openPerLevel.length && scope.openPerLevel[scope.level] === 0) scope.level++;
  if (scope.level > level && scope.blockedByLevel.size > 0) releaseLevel(state, scope);
}

/** Nodes wait for the finally of a deferred failure: levels that only they keep open are passed, and it may begin. */
export function noticeHeld(state: RunState, scope: ScopeState): void {
  if (scope.held === 0) return;
  passLevels(state, scope);
  state.endChecks.add(scope);
}

/** Puts a ready node back to pending: the finally of its scope runs it later. */
export function returnToPending(fold: Fold, node: NodeState): void {
  leaveQueue(fold.state, node);
  free(fold, node);
  node.passed = 0;
  node.queuedAt = null;
  node.pausedMs = 0;
  if (node.phase.status !== 'pending') enter(fold, node, { status: 'pending' });
}

/** Releases the permits that the node holds or waits for. */
export function free({ effects }: Fold, node: NodeState): void {
  if (node.permits.length === 0) return;
  const path = pathOf(node);
  for (const key of node.permits) effects.freedPermits.push({ key, node: path });
  node.permits = [];
}

/**
 * Releases the concurrency permits between attempts. The node keeps its cache reservation: another node would run the
 * same work under another idempotency key while the outcome of this attempt is unknown.
 */
export function releaseConcurrencyPermits(fold: Fold, node: NodeState): void {
  const kept = node.permits.filter(isReservation);
  node.permits = node.permits.filter((key) => !isReservation(key));
  free(fold, node);
  node.permits = kept;
  node.passed = kept.length === 0 ? 0 : gatesOf(node.plan).indexOf('reserve') + 1;
}

/** Releases all permits of a node whose outcome is unknown. A further attempt requests them again. */
export function releasePermits(fold: Fold, node: NodeState): void {
  free(fold, node);
  node.passed = 0;
}

export function countSpilled(state: RunState, stored: StoredValue): void {
  if (stored.blob !== undefined) state.spilled++;
}
