/** Dispatch, from ready to running: selects the nodes that go next, and starts their attempts. */

import type { Action, Capabilities, Effect } from '../../action.ts';
import type { RunError } from '../../error.ts';
import type { NodePath } from '../../ids.ts';
import type { ActionWork, DynamicWork } from '../../plan/plan.ts';
import type { Json } from '../../value.ts';
import { failNode } from '../decide/advance.ts';
import { completeTurn, timeoutError } from '../decide/decide.ts';
import { emit, type Turn } from '../decide/turn.ts';
import { expressionFailure } from '../joins/edges.ts';
import { resolveValue, type StoredValue } from '../journal/stored-value.ts';
import { grantTo } from '../state/authority.ts';
import { RunScope } from '../state/expression-scope.ts';
import { enterDispatched } from '../state/phases.ts';
import { actionWork, idempotencyKey, isFinished, isPaused, isStopped, nodeAt, pathOf } from '../state/selectors.ts';
import { priorityOf, timeoutsOf } from '../state/settings.ts';
import type { NodeState, RunState } from '../state/state.ts';
import { isPastTotal, totalLeftMs } from '../timers/timers.ts';
import { firstReady } from '../timers/wake.ts';
import { goesFirst } from './dispatch-order.ts';

/** A node that may be handed to the queue. */
export interface ReadyNode {
  readonly node: NodePath;
  readonly attempt: number;
  readonly priority: number;
  /** The workers that may run it. */
  readonly route: string;
}

/** An attempt to run once its frame is written. */
export interface Attempt {
  readonly node: NodePath;
  readonly attempt: number;
  readonly action: Action;
  readonly input: Json;
  readonly effect: Effect;
  readonly granted: Capabilities;
  /** Names of secrets by alias. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly idempotencyKey: string;
  /** The limits of the attempt and of the node; null: none. */
  readonly attemptMs: number | null;
  readonly totalMs: number | null;
  /** The time since which the node waited for a slot or a worker. */
  readonly queuedAt: number;
  readonly totalLeftMs: number | null;
}

/**
 * Takes the most urgent ready nodes, as many as the run may have under way. `window` is the number that the caller can
 * run at once: further nodes would only lose their order in its queue.
 */
export function nextReady(state: RunState, window: number): ReadyNode[] {
  const tasks: ReadyNode[] = [];
  if (isPaused(state)) return tasks;
  while (state.dispatched + state.running.size < state.plan.maxParallelism) {
    const node = mostUrgent(state, window);
    if (node === undefined) break;
    enterDispatched(state, node);
    tasks.push({ node: pathOf(node), attempt: node.attempts + 1, priority: priorityOf(node), route: node.plan.route });
  }
  return tasks;
}

/**
 * The most urgent node, within the room of this process. Remote workers have no such limit, because their room is not
 * known here.
 */
function mostUrgent(state: RunState, window: number): NodeState | undefined {
  const remote = state.dispatchedRemote + state.runningRemote;
  const here = state.dispatched + state.running.size - remote;
  const own = here < window ? firstReady(state, state.ready) : undefined;
  const theirs = firstReady(state, state.readyRemote);
  if (own === undefined || theirs === undefined) return (own ? state.ready : state.readyRemote).pop();
  return (goesFirst(state.plan)(own, theirs) ? state.ready : state.readyRemote).pop();
}

/** How many nodes could run if they had a slot, and since when the first one could. Visits each of them. */
export function backlogOf(state: RunState): { readonly count: number; readonly since: number | null } {
  if (isPaused(state)) return { count: 0, since: null };
  let count = state.dispatched;
  let since: number | null = null;
  for (const node of [...state.ready, ...state.readyRemote]) {
    const { dispatchState, phase } = node;
    if (dispatchState !== 'ready' || isStopped(state, node)) continue;
    count++;
    if (phase.status === 'queued' && (since === null || phase.since < since)) since = phase.since;
  }
  return { count, since };
}

/** Starts an attempt, unless the state has changed meanwhile. */
export function startAttempt(turn: Turn, path: NodePath, attempt: number, worker: string): Attempt | undefined {
  const { state } = turn;
  const node = nodeAt(state, path);
  if (node === undefined || !mayStart(state, node, attempt)) return undefined;
  const work = actionWork(node);
  const { attemptMs, totalMs } = timeoutsOf(node);
  // A slot may come before the timer does. A `once` attempt must not be started only to be cut off.
  if (isPastTotal(node, turn.now)) return giveUp(turn, node, timeoutError('total', totalMs, path));
  turn.budgets.renew();
  let input: StoredValue | undefined;
  if (node.input === undefined) {
    const resolved = resolve(turn, node, work);
    if ('error' in resolved) return giveUp(turn, node, resolved.error);
    input = turn.store(resolved.value);
  }
  const value = resolveValue(input ?? node.input, turn.lookup);
  const effect = effectOf(work, value);
  const queuedAt = node.phase.status === 'queued' ? node.phase.since : turn.now;
  emit(turn, { type: 'node.started', node: path, attempt, worker, effect, ...(input === undefined ? {} : { input }) });
  return {
    node: path,
    attempt,
    action: work.action,
    input: value,
    effect,
    granted: grantTo(state, work.granted),
    credentials: work.credentials,
    idempotencyKey: idempotencyKey(state, path),
    attemptMs,
    totalMs,
    queuedAt,
    totalLeftMs: totalLeftMs(node, turn.now),
  };
}

function giveUp(turn: Turn, node: NodeState, error: RunError): undefined {
  failNode(turn, node, error);
  completeTurn(turn);
}

function mayStart(state: RunState, node: NodeState, attempt: number): boolean {
  if (isFinished(state.phase.status) || isPaused(state)) return false;
  if (isStopped(state, node) || attempt !== node.attempts + 1) return false;
  if (node.dispatchState === 'dispatched') return true;
  // A task that was recalled and arrives nevertheless holds no slot.
  return node.dispatchState === 'ready' && state.dispatched + state.running.size < state.plan.maxParallelism;
}

function resolve(
  turn: Turn,
  node: NodeState,
  work: ActionWork | DynamicWork,
): { readonly value: Json } | { readonly error: RunError } {
  try {
    const scope = new RunScope(turn.state, node.scope, turn.lookup).at(node, 'with');
    return { value: work.with.evaluate(scope, turn.budgets.next()) };
  } catch (error) {
    return { error: expressionFailure(error, 'with') };
  }
}

function effectOf({ effect, action }: ActionWork | DynamicWork, input: Json): Effect {
  const declared = effect ?? action.effect ?? 'once';
  if (typeof declared !== 'function') return declared;
  try {
    return declared(input);
  } catch {
    // The action could not tell its effect for this input: assume the worst.
    return 'once';
  }
}

/** A node that has left its gate must not be granted a permit: nothing would release it. */
function dropStaleGateRequests({ state, gateRequests }: Turn): void {
  const left = gateRequests.filter(({ node, gate }) => {
    const phase = nodeAt(state, node)?.phase;
    return phase?.status === 'gated' && phase.gate.kind === gate.kind && phase.until === null;
  });
  gateRequests.splice(0, gateRequests.length, ...left);
}

/** Ends the turn: journals ready nodes that were not started as scheduled. */
export function seal(turn: Turn): void {
  const { state } = turn;
  if (turn.gateRequests.length > 0) dropStaleGateRequests(turn);
  if (turn.readied.length === 0 || isFinished(state.phase.status)) return;
  const readied = turn.readied.filter((node) => !isStopped(state, node));
  // A run that ends and is retried in one turn can find the same node ready twice, hence a set.
  const waiting = new Set(readied.filter((node) => node.dispatchState !== 'none' && node.phase.status !== 'queued'));
  turn.readied.length = 0;
  if (waiting.size > 0) emit(turn, { type: 'node.scheduled', nodes: Array.from(waiting, pathOf) });
}
