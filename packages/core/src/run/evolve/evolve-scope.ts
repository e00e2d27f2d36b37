/** Folds the entries about composite nodes and their scopes. */
import { assert } from '../../error.ts';
import type {
  ItemsAdded,
  NodeCompensating,
  NodeOpened,
  NodeStopping,
  RoundDelayed,
  ScopeClosed,
  ScopeCompensated,
  ScopeCompensating,
  ScopeStopping,
  ScopesOpened,
} from '../journal/entry.ts';
import { countSpilled, enter, leaveQueue } from '../state/phases.ts';
import {
  closeIteration,
  isWhole,
  newBody,
  noticeStopped,
  openScope,
  realmInside,
  runsOnce,
  wholeOf,
} from '../state/scopes.ts';
import { bodyOf, isStopped, requireBody, requireNode, requireScope } from '../state/selectors.ts';
import type { NodeState, ScopeState } from '../state/state.ts';
import { endEarly, endIterationsEarly, markStopped } from '../stop/early-end.ts';
import { dueTime } from '../timers/pause.ts';
import { armIteration, armOpen, armStopping } from '../timers/timers.ts';
import { openUndo, toUndo } from '../undo/undo.ts';
import { cancelOpen } from './evolve-node.ts';
import { resume } from './evolve-run.ts';
import type { Fold } from './fold.ts';

export const scopeFolds = {
  'node.opened': open,
  'node.stopping': stopNode,
  'scopes.opened': openIterations,
  'scope.stopping': stopScope,
  'scope.closed': closeScope,
  'scope.compensating': compensate,
  'scope.compensated': noteCompensated,
  'node.compensating': compensateNode,
  'items.added': addItems,
  'round.delayed': delayIteration,
};

/** Opens a composite node. A node that runs its body once opens the body too. */
function open(fold: Fold, { node: path, items, count, input, graph }: NodeOpened): void {
  const { state, at } = fold;
  const node = requireNode(state, path);
  node.queuedAt ??= at;
  node.startedAt ??= at;
  // The attempt of a dynamic node's action was counted by `node.started`.
  if (node.plan.work.kind !== 'dynamic') node.attempts++;
  leaveQueue(state, node);
  const isOnce = runsOnce(node.plan);
  const body = newBody(node.plan, isOnce ? 1 : (count ?? Number.POSITIVE_INFINITY), graph?.value);
  if (items !== undefined) body.items.push({ from: 0, count: count ?? 0, items });
  enter(fold, node, { status: 'open', body, since: at, stopping: null });
  if (items !== undefined) countSpilled(state, items);
  if (input !== undefined) countSpilled(state, input);
  if (isOnce) openScope(state, node, input === undefined ? node.scope.realm : realmInside(node, input));
  // An action returned this graph although it was asked to stop: a retry continues in it.
  if (node.scope.stopping !== null && isStopped(state, node)) endIterations(fold, node, node.scope.stopping);
  armOpen(state, node);
}

function stopNode(fold: Fold, { type: _, node: path, ...how }: NodeStopping): void {
  const { state, at } = fold;
  const node = requireNode(state, path);
  const { phase } = node;
  assert(phase.status === 'open' || phase.status === 'child', `'${path}' of ${state.executionId} is open`);
  const since = how.finally === false ? at : (phase.stopping?.since ?? at);
  node.phase = { ...phase, stopping: { ...how, since } };
  if (phase.status === 'open') endIterations(fold, node, { error: how.error, since, finally: how.finally });
  armStopping(state, node);
}

function endIterations(fold: Fold, node: NodeState, how: NonNullable<ScopeState['stopping']>): void {
  if (how.finally !== undefined) return endIterationsEarly(fold, node, how);
  for (const scope of bodyOf(node)?.scopes.values() ?? []) markStopped(fold.state, scope, how);
}

function openIterations({ state }: Fold, { node: path, from, to }: ScopesOpened): void {
  const node = requireNode(state, path);
  for (let iteration = from; iteration < to; iteration++) openScope(state, node, node.scope.realm);
  requireBody(node).until = null;
}

function delayIteration({ state, at }: Fold, { node: path, until }: RoundDelayed): void {
  const node = requireNode(state, path);
  requireBody(node).until = dueTime(state, until, at);
  armIteration(state, node);
}

function addItems({ state }: Fold, { node, items, count }: ItemsAdded): void {
  const body = bodyOf(requireNode(state, node));
  if (body === undefined) return;
  body.items.push({ from: body.total, count, items });
  body.total += count;
  countSpilled(state, items);
}

function stopScope(fold: Fold, entry: ScopeStopping): void {
  const { state, at } = fold;
  const scope = requireScope(state, entry.scope);
  const how = { error: entry.error, since: scope.stopping?.since ?? at, finally: entry.finally };
  if (scope.undoes !== null) scope.stopping = how;
  else if (how.finally === undefined) markStopped(state, scope, how);
  else endEarly(fold, scope, how);
  armStopping(state, null, scope);
  noticeStopped(state, scope);
}

function closeScope(fold: Fold, entry: ScopeClosed): void {
  const scope = requireScope(fold.state, entry.scope);
  // Earlier versions journalled this entry for the scope of all iterations when a run was reopened.
  if (isWhole(scope)) return;
  if (entry.error !== undefined) cancelOpen(fold, scope);
  if (entry.output !== undefined) countSpilled(fold.state, entry.output);
  closeIteration(fold.state, scope, entry);
}

/** Cancels the open nodes of the scope and opens its undo scope. */
function compensate(fold: Fold, entry: ScopeCompensating): void {
  const { state, at } = fold;
  const scope = requireScope(state, entry.scope);
  const { status, error, compensate: undoes = true } = entry;
  if (scope === state.root) {
    resume(fold);
    state.stopping = null;
    scope.stopping = null;
    scope.underWay = 0;
    state.phase = { status: 'compensating', ending: { status, error, output: undefined, compensate: undoes } };
    state.ready.clear();
    state.readyRemote.clear();
    state.timers.clear();
    state.endChecks.clear();
    state.released.clear();
  } else if (error !== null) {
    scope.stopping ??= { error, since: at };
  }
  cancelOpen(fold, scope, state.plan.failureNode);
  scope.isClosed = scope !== state.root;
  openUndo(state, scope, undoes ? toUndo(state, scope) : []);
}

function noteCompensated({ state }: Fold, { scope }: ScopeCompensated): void {
  const { undoing } = requireScope(state, scope);
  if (undoing !== null) undoing.isDone = true;
}

/** Undoes the completed nodes of the whole body together, because iterations that succeeded have left memory. */
function compensateNode(fold: Fold, { node: path, error }: NodeCompensating): void {
  const { state, at } = fold;
  const node = requireNode(state, path);
  const { phase } = node;
  assert(phase.status === 'open', `'${node.plan.id}' of ${state.executionId} is open`);
  node.phase = { ...phase, retrying: error };
  for (const scope of bodyOf(node)?.scopes.values() ?? []) if (!scope.isClosed) cancelOpen(fold, scope);
  const whole = wholeOf(state, node);
  whole.stopping ??= { error, since: at };
  whole.isClosed = true;
  openUndo(state, whole, toUndo(state, whole));
}
