/** Folds what happens to composite nodes and the scopes in them. */
import { assert, unreachable } from '../../error.ts';
import { cancelOpen } from '../composite/close-scope.ts';
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
import { isStopped, requireNode, requireScope } from '../state/selectors.ts';
import type { BodyState, NodeState, RunState, ScopeState } from '../state/state.ts';
import { endEarly, endIterationsEarly, markStopped } from '../stop/early-end.ts';
import { dueTime } from '../timers/pause.ts';
import { armIteration, armOpen, armStopping } from '../timers/timers.ts';
import { openUndo, toUndo } from '../undo/undo.ts';
import { resume } from './evolve-run.ts';

export type ScopeEntry =
  | NodeOpened
  | NodeStopping
  | ScopesOpened
  | ScopeStopping
  | ScopeClosed
  | ScopeCompensating
  | ScopeCompensated
  | NodeCompensating
  | ItemsAdded
  | RoundDelayed;

export function evolveScope(state: RunState, entry: ScopeEntry, at: number): void {
  switch (entry.type) {
    case 'node.opened':
      return open(state, requireNode(state, entry.node), entry, at);
    case 'node.stopping':
      return stopNode(state, requireNode(state, entry.node), entry, at);
    case 'scopes.opened':
      return openIterations(state, requireNode(state, entry.node), entry);
    case 'scope.stopping':
      return stopScope(state, requireScope(state, entry.scope), entry, at);
    case 'scope.closed':
      return closeScope(state, requireScope(state, entry.scope), entry, at);
    case 'scope.compensating':
      return compensate(state, requireScope(state, entry.scope), entry, at);
    case 'scope.compensated':
      return noteCompensated(requireScope(state, entry.scope));
    case 'node.compensating':
      return compensateNode(state, requireNode(state, entry.node), entry, at);
    case 'items.added':
      return addItems(state, requireNode(state, entry.node), entry);
    case 'round.delayed':
      return delayIteration(state, requireNode(state, entry.node), entry, at);
    default:
      return unreachable(entry);
  }
}

/** A composite node begins; one that runs its body once opens it now. */
function open(state: RunState, node: NodeState, { items, count, input, graph }: NodeOpened, at: number): void {
  node.queuedAt ??= at;
  node.startedAt ??= at;
  // The action of a dynamic node has counted itself.
  if (node.plan.work.kind !== 'dynamic') node.attempts++;
  leaveQueue(state, node);
  enter(state, node, { status: 'open', since: at, stopping: null });
  if (items !== undefined) countSpilled(state, items);
  if (input !== undefined) countSpilled(state, input);
  const isOnce = runsOnce(node.plan);
  node.body = newBody(node.plan, isOnce ? 1 : (count ?? Number.POSITIVE_INFINITY), graph?.value);
  if (items !== undefined) node.body.items.push({ from: 0, count: count as number, items });
  if (isOnce) openScope(state, node, input === undefined ? node.scope.realm : realmInside(node, input));
  // A graph that an action returned although it was asked to stop: a retry goes on with it.
  if (node.scope.stopping !== null && isStopped(state, node)) endIterations(state, node, node.scope.stopping, at);
  armOpen(state, node);
}

function stopNode(state: RunState, node: NodeState, entry: NodeStopping, at: number): void {
  const { phase } = node;
  const { type: _, node: __, ...how } = entry;
  assert(phase.status === 'open' || phase.status === 'child', `'${entry.node}' of ${state.executionId} is open`);
  const since = how.finally === false ? at : (phase.stopping?.since ?? at);
  node.phase = { ...phase, stopping: { ...how, since } };
  if (phase.status === 'open') endIterations(state, node, { error: how.error, since, finally: how.finally }, at);
  armStopping(state, node);
}

function endIterations(state: RunState, node: NodeState, how: NonNullable<ScopeState['stopping']>, at: number): void {
  if (how.finally !== undefined) return endIterationsEarly(state, node, how, at);
  for (const scope of node.body?.scopes.values() ?? []) markStopped(state, scope, how);
}

function openIterations(state: RunState, node: NodeState, { from, to }: ScopesOpened): void {
  for (let iteration = from; iteration < to; iteration++) openScope(state, node, node.scope.realm);
  (node.body as BodyState).until = null;
}

function delayIteration(state: RunState, node: NodeState, { until }: RoundDelayed, at: number): void {
  (node.body as BodyState).until = dueTime(state, until, at);
  armIteration(state, node);
}

function addItems(state: RunState, { body }: NodeState, { items, count }: ItemsAdded): void {
  if (body === undefined) return;
  body.items.push({ from: body.total, count, items });
  body.total += count;
  countSpilled(state, items);
}

function stopScope(state: RunState, scope: ScopeState, entry: ScopeStopping, at: number): void {
  const how = { error: entry.error, since: scope.stopping?.since ?? at, finally: entry.finally };
  if (scope.undoes !== null) scope.stopping = how;
  else if (how.finally === undefined) markStopped(state, scope, how);
  else endEarly(state, scope, how, at);
  armStopping(state, null, scope);
  noticeStopped(state, scope);
}

function closeScope(state: RunState, scope: ScopeState, entry: ScopeClosed, at: number): void {
  // Earlier versions took it for an iteration when a run began again.
  if (isWhole(scope)) return;
  if (entry.error !== undefined) cancelOpen(state, scope, at);
  if (entry.output !== undefined) countSpilled(state, entry.output);
  closeIteration(state, scope, entry);
}

/** Everything else in the scope is over; what is left to do is undoing. */
function compensate(state: RunState, scope: ScopeState, entry: ScopeCompensating, at: number): void {
  const { status, error, compensate: undoes = true } = entry;
  const output = undefined;
  if (scope === state.root) {
    if (state.pausedAt !== null) resume(state, at);
    state.ending = { status, error, output, compensate: undoes };
    state.stopping = null;
    scope.stopping = null;
    scope.underWay = 0;
    state.status = 'compensating';
    state.ready.clear();
    state.readyRemote.clear();
    state.timers.clear();
    state.endChecks.clear();
    state.released.clear();
  } else if (error !== null) {
    scope.stopping ??= { error, since: at };
  }
  cancelOpen(state, scope, at, state.plan.failureNode);
  scope.isClosed = scope !== state.root;
  openUndo(state, scope, undoes ? toUndo(state, scope) : []);
}

function noteCompensated({ undoing }: ScopeState): void {
  if (undoing !== null) undoing.isDone = true;
}

/** Completed nodes in the body of a node are undone from the whole of it: iterations that went well are gone from memory. */
function compensateNode(state: RunState, node: NodeState, { error }: NodeCompensating, at: number): void {
  const { phase } = node;
  assert(phase.status === 'open', `'${node.plan.id}' of ${state.executionId} is open`);
  node.phase = { ...phase, retrying: error };
  for (const scope of node.body?.scopes.values() ?? []) if (!scope.isClosed) cancelOpen(state, scope, at);
  const whole = wholeOf(state, node);
  whole.stopping ??= { error, since: at };
  whole.isClosed = true;
  openUndo(state, whole, toUndo(state, whole));
}
