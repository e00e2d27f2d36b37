/** Folds the entries about one node. */
import { assert, type RunError } from '../../error.ts';
import type { NodePlan } from '../../plan/plan.ts';
import { impliedRule } from '../../retry/retry.ts';
import { decideEdges, holdEdges, joinOf } from '../joins/joins.ts';
import type {
  ChildRequested,
  NodeCancelled,
  NodeCompleted,
  NodeConfigured,
  NodeFailed,
  NodeGated,
  NodeGranted,
  NodeRetrying,
  NodeReturned,
  NodeScheduled,
  NodeSettled,
  NodeSkipped,
  NodeStarted,
  NodeUnhandled,
  NodeUnknown,
  NodeWaiting,
} from '../journal/entry.ts';
import {
  countSpilled,
  enqueue,
  enter,
  free,
  leaveQueue,
  noticeHeld,
  queuedSince,
  releaseConcurrencyPermits,
  returnToPending,
} from '../state/phases.ts';
import { dropScope, forgetIterations } from '../state/scopes.ts';
import { bodyOf, isFinal, isUnstarted, requireNode } from '../state/selectors.ts';
import type { BodyState, FinalPhase, NodeState, RunState, ScopeState } from '../state/state.ts';
import { assign } from '../state/variables.ts';
import { dueTime } from '../timers/pause.ts';
import { armAttempt, armGate, armQueued, armRetry, armWait } from '../timers/timers.ts';
import { isAtWork } from '../undo/transactions.ts';
import { forgetUndoneIn, noteUndone, remember } from '../undo/undo-list.ts';
import { gatesOf, permitKey } from '../waits/gates.ts';
import type { Fold } from './fold.ts';

export const nodeFolds = {
  'node.started': start,
  'node.configured': configure,
  'node.completed': complete,
  'node.scheduled': schedule,
  'node.retrying': retry,
  'node.returned': giveBack,
  'node.failed': fail,
  'node.skipped': skip,
  'node.cancelled': cancel,
  'node.unknown': doubt,
  'node.unhandled': leaveUnhandled,
  'node.settled': settle,
  'node.waiting': listen,
  'node.gated': gate,
  'node.granted': grant,
  'child.requested': request,
};

function configure({ state }: Fold, { node, values }: NodeConfigured): void {
  requireNode(state, node).settings = values;
}

function schedule(fold: Fold, { nodes }: NodeScheduled): void {
  for (const path of nodes) enqueue(fold, requireNode(fold.state, path));
}

function giveBack(fold: Fold, { node }: NodeReturned): void {
  enqueue(fold, requireNode(fold.state, node));
}

function start(fold: Fold, entry: NodeStarted): void {
  const { state, at } = fold;
  const node = requireNode(state, entry.node);
  node.queuedAt ??= at;
  node.startedAt ??= at;
  node.attempts = entry.attempt;
  state.lastAttempt = Math.max(state.lastAttempt, entry.attempt);
  if (entry.input !== undefined) {
    node.input = entry.input;
    countSpilled(state, entry.input);
  }
  const { attempt, worker, effect } = entry;
  leaveQueue(state, node);
  enter(fold, node, { status: 'running', since: at, attempt, worker, effect });
  armAttempt(state, node);
}

function complete(fold: Fold, entry: NodeCompleted): void {
  const { state, at } = fold;
  const node = requireNode(state, entry.node);
  const { output, dead, vars } = entry;
  node.startedAt ??= at;
  if (output !== undefined) {
    node.output = output;
    countSpilled(state, output);
  }
  for (const [name, stored] of Object.entries(vars ?? {})) {
    assign(node.scope.realm, node, name, stored);
    countSpilled(state, stored);
  }
  if (node.plan.breaks) breakLoop(node);
  if (entry.undo !== undefined || entry.undoError !== undefined) remember(state, node, entry);
  endNode(fold, node, {
    status: 'completed',
    at,
    dead,
    ...(entry.cached === undefined ? {} : { cached: entry.cached }),
  });
}

/** Ends the node with its body, and decides its outgoing edges. */
export function endNode(fold: Fold, node: NodeState, phase: FinalPhase): void {
  assert(!isFinal(node.phase.status), `node '${node.plan.id}' of ${fold.state.executionId} ends once`);
  const body = bodyOf(node);
  if (body !== undefined) closeBody(fold, node, body, phase);
  leaveQueue(fold.state, node);
  free(fold, node);
  // A body that succeeded leaves only its result.
  const isKept = body !== undefined && !(phase.status === 'completed' && body.scopes.size === 0);
  enter(fold, node, isKept && phase.status !== 'skipped' ? { ...phase, body } : phase);
  if (node.decidedAs === undefined) decideEdges(node);
  noticeHeld(fold.state, node.scope);
}

/** Closes the body. A body that succeeded leaves only its result; otherwise its scopes are kept for a retry. */
function closeBody(fold: Fold, node: NodeState, body: BodyState, phase: FinalPhase): void {
  const { state } = fold;
  state.endChecks.delete(node);
  for (const scope of [...body.scopes.values()]) {
    noteUndone(state, scope);
    if (!scope.isClosed) cancelOpen(fold, scope);
    if (phase.status === 'completed') dropScope(state, scope);
  }
}

/** Cancels the nodes of a failed scope that have not ended. */
export function cancelOpen(fold: Fold, scope: ScopeState, except?: NodePlan): void {
  const { state } = fold;
  for (const node of scope.nodes) {
    if (node.plan === except) continue;
    for (const inner of bodyOf(node)?.scopes.values() ?? []) {
      // Earlier versions cut off a transaction while it was being undone, and started the undo over on a retry.
      if (!isAtWork(inner)) noteUndone(state, inner);
      if (!inner.isClosed) cancelOpen(fold, inner);
    }
    cancelWithScope(fold, node);
  }
  scope.isClosed = true;
  state.endChecks.delete(scope);
}

/** Cancels a node because its scope or its run has ended. Its edges decide nothing any more. */
export function cancelWithScope(fold: Fold, node: NodeState): void {
  if (isFinal(node.phase.status) || node.phase.status === 'unknown') return;
  leaveQueue(fold.state, node);
  free(fold, node);
  const body = bodyOf(node);
  enter(fold, node, { status: 'cancelled', at: fold.at, error: undefined, ...(body && { body }) });
}

/** Keeps the innermost loop around the node from opening another iteration. */
function breakLoop(node: NodeState): void {
  const { parent } = node.scope;
  const body = parent === null ? undefined : bodyOf(parent);
  if (body !== undefined) body.isBroken = true;
}

function retry(fold: Fold, entry: NodeRetrying): void {
  const { state, at } = fold;
  const node = requireNode(state, entry.node);
  countRetry(node, entry.rule ?? impliedRule(entry.error));
  if (node.scope.undoes === null) state.totalRetries++;
  leaveQueue(state, node);
  releaseConcurrencyPermits(fold, node);
  node.child = undefined;
  if (bodyOf(node) !== undefined) renewBody(state, node);
  enter(fold, node, { status: 'waiting', until: dueTime(state, entry.until, at), error: entry.error });
  armRetry(state, node);
}

/** Renews a composite node: it gets new idempotency keys, and numbers of attempts that were never used. */
function renewBody(state: RunState, node: NodeState): void {
  forgetUndoneIn(state, node);
  forgetIterations(state, node);
  state.endChecks.delete(node);
  node.generation = ++state.generations;
  node.attemptsBefore = state.lastAttempt;
}

function countRetry(node: NodeState, rule: number | 'lost'): void {
  if (rule === 'lost') node.lost++;
  else {
    const retries = [...node.retries];
    retries[rule] = (retries[rule] ?? 0) + 1;
    node.retries = Array.from(retries, (count) => count ?? 0);
  }
}

function fail(fold: Fold, entry: NodeFailed): void {
  const { state, at } = fold;
  const node = requireNode(state, entry.node);
  const { error, handling, taken, dead } = entry;
  if (handling === 'deferred') {
    defer(node.scope, error);
    node.isHolding = node.scope.stopping === null && (taken ?? []).length > 0;
  }
  // There is no child to continue.
  if (isUnstarted(error)) node.child = undefined;
  endNode(fold, node, { status: 'failed', at, error, handling, taken, dead });
}

/**
 * Fails the scope at its end. If the scope ends early with the scope around it, a cleanup has failed, so that scope
 * fails too.
 */
function defer(scope: ScopeState, error: RunError): void {
  scope.deferredError ??= error;
  const { parent, stopping, undoes } = scope;
  if (parent === null || undoes !== null || stopping?.finally !== true) return;
  const isAround = parent.scope.stopping?.finally === true && !parent.inFinally;
  if (isAround && parent.plan.onError !== 'ignore') defer(parent.scope, error);
}

/** The handler of the failure was skipped. Nodes that its always edges made ready wait for the finally now. */
function leaveUnhandled(fold: Fold, { node: path, handling }: NodeUnhandled): void {
  const { state } = fold;
  const node = requireNode(state, path);
  if (node.phase.status !== 'failed') return;
  node.phase = { ...node.phase, handling };
  if (handling !== 'deferred') return;
  defer(node.scope, node.phase.error);
  if (node.scope.stopping !== null) return;
  for (const target of holdEdges(node)) {
    if (target.startedAt === null && joinOf(target) === 'open') returnToPending(fold, target);
  }
  noticeHeld(state, node.scope);
}

function cancel(fold: Fold, { node: path, error, dead }: NodeCancelled): void {
  const { state, at } = fold;
  const node = requireNode(state, path);
  endNode(fold, node, { status: 'cancelled', at, error, ran: node.startedAt !== null, dead });
}

/** In a scope that ends early, a node of unknown outcome decides its edges as a cancelled one. */
function doubt(fold: Fold, { node: path, error, dead }: NodeUnknown): void {
  const { state, at } = fold;
  const node = requireNode(state, path);
  if (node.phase.status !== 'unknown') enter(fold, node, { status: 'unknown', at, error, isVerified: false });
  if (node.scope.stopping?.finally === undefined || node.decidedAs !== undefined) return;
  node.decidedAs = { status: 'cancelled', at, error, ran: true, dead };
  decideEdges(node);
}

function skip(fold: Fold, { nodes, why, dead }: NodeSkipped): void {
  const { state, at } = fold;
  for (const path of nodes) endNode(fold, requireNode(state, path), { status: 'skipped', at, why, dead });
}

function settle({ state }: Fold, { node: path, outcome, by }: NodeSettled): void {
  const node = requireNode(state, path);
  if (outcome === 'unknown' && node.phase.status === 'unknown') node.phase = { ...node.phase, isVerified: true };
  // A person may answer late, so a node that they repeat gets its whole `total` time again.
  if (outcome !== 'retry' || by !== 'person') return;
  node.queuedAt = null;
  node.pausedMs = 0;
}

function listen(fold: Fold, entry: NodeWaiting): void {
  const { state, at } = fold;
  const node = requireNode(state, entry.node);
  const { waits, deadline = null, deadlineFixed } = entry;
  node.queuedAt ??= at;
  node.startedAt ??= at;
  node.attempts++;
  leaveQueue(state, node);
  enter(fold, node, {
    status: 'listening',
    since: at,
    waits,
    deadline,
    ...(deadlineFixed && { isDeadlineFixed: true }),
  });
  armWait(state, node);
}

function gate(fold: Fold, { node: path, gate: at, input }: NodeGated): void {
  const { state, at: now } = fold;
  const node = requireNode(state, path);
  node.queuedAt ??= now;
  leaveQueue(state, node);
  node.passed = gatesOf(node.plan).indexOf(at.kind);
  const permit = permitKey(at);
  if (permit !== undefined) node.permits = [...node.permits, permit];
  if (at.kind === 'reserve') {
    const { kind: _, ...miss } = at;
    node.missed = miss;
  }
  if (input !== undefined) {
    node.input = input;
    countSpilled(state, input);
  }
  enter(fold, node, { status: 'gated', since: queuedSince(node, now), gate: at, until: null });
  armQueued(state, node);
}

function grant({ state, at }: Fold, { node: path, until }: NodeGranted): void {
  const node = requireNode(state, path);
  if (node.phase.status === 'gated') node.phase = { ...node.phase, until: dueTime(state, until, at) };
  armGate(state, node);
}

function request(fold: Fold, entry: ChildRequested): void {
  const { state, at } = fold;
  const node = requireNode(state, entry.node);
  const { executionId, attempt, input, again, copied = false } = entry;
  node.child = copied ? undefined : executionId;
  node.queuedAt ??= at;
  node.startedAt ??= at;
  node.attempts = attempt;
  state.lastAttempt = Math.max(state.lastAttempt, attempt);
  state.lastChildAt = at;
  node.input = input;
  countSpilled(state, input);
  leaveQueue(state, node);
  enter(fold, node, { status: 'child', since: at, attempt, executionId, ...(again && { again }) });
  armAttempt(state, node);
}
