/** Where a run, its scopes and its nodes stand: questions to the state, which change nothing. */
import { assert, type RunError } from '../error.ts';
import { isJsonObject, type JsonObject } from '../value.ts';
import type { RunPlace } from './entry.ts';
import type { Batch, BodyState, NodeState, Phase, RunState, ScopeState } from './state.ts';
import type { NodeStatus, RunStatus } from './status.ts';

export function pathOf(node: NodeState): string {
  return node.scope.path === '' ? node.plan.id : `${node.scope.path}/${node.plan.id}`;
}

export function nodeAt(state: RunState, path: string): NodeState | undefined {
  const cut = path.lastIndexOf('/');
  const scope = cut < 0 ? state.root : state.scopes.get(path.slice(0, cut));
  const index = scope?.graph.indexOf.get(cut < 0 ? path : path.slice(cut + 1));
  return index === undefined ? undefined : scope?.nodes[index];
}

/** The node, or where its scope is gone, the composite node that it was in. */
export function survivorOf(state: RunState, path: string): NodeState | undefined {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const node = nodeAt(state, at);
    if (node !== undefined) return node;
  }
  return undefined;
}

export function must(state: RunState, path: string): NodeState {
  const node = nodeAt(state, path);
  assert(node !== undefined, `the journal of ${state.executionId} names node '${path}', which its plan does not have`);
  return node;
}

export function mustScope(state: RunState, path: string): ScopeState {
  const scope = state.scopes.get(path);
  assert(scope !== undefined, `the journal of ${state.executionId} names scope '${path}', which is not open`);
  return scope;
}

/** The items among which that of a round is. Halved, not searched: a loop whose rounds emit items has a batch for each. */
export function batchOf({ items }: BodyState, round: number): Batch | undefined {
  let low = 0;
  let high = items.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((items[middle] as Batch).from <= round) low = middle;
    else high = middle - 1;
  }
  const batch = items[low];
  return batch !== undefined && round >= batch.from && round < batch.from + batch.count ? batch : undefined;
}

/** In `mode: levels` a node waits until everything on the levels before it has ended. */
export function isHeldByLevel(state: RunState, node: NodeState): boolean {
  return state.plan.mode === 'levels' && node.plan.level > node.scope.level;
}

/** The permit that keeps other starts with the same key out. */
export function startPermit(workflowId: string, key: string): string {
  return `start:${workflowId}:${key}`;
}

/** The permit that bounds how many runs go on at once. */
export function placePermit({ key }: RunPlace): string {
  return `runs:${key}`;
}

/** It has not begun, since others have all the places. */
export function waitsForPlace({ place, heldUntil }: RunState): boolean {
  return heldUntil !== null && place?.standing === 'waiting';
}

/** Nothing begins in the scope any more: it, or something around it, is ending. */
export function isStopped(state: RunState, scope: ScopeState): boolean {
  // What undoes a scope runs although the scope itself, and maybe all around it, is ending.
  if (scope.undoes !== null) return scope.stopping !== null || scope.isClosed;
  if (state.stopping !== null) return true;
  for (let at = scope; ; at = at.parent.scope) {
    if (at.stopping !== null || at.isClosed) return true;
    if (at.parent === null) return false;
    if (at.parent.phase.status !== 'open' || at.parent.phase.stopping !== null) return true;
    if (isOver(state, at.parent)) return true;
  }
}

/** Why what runs in the scope is to stop; null when it is not. */
export function stopReason(state: RunState, scope: ScopeState): string | null {
  if (!isStopped(state, scope)) return null;
  if (state.stopping !== null) return state.stopping.error?.message ?? `the run is ${state.stopping.status}`;
  for (let at: ScopeState | undefined = scope; at !== undefined; at = at.parent?.scope) {
    if (at.stopping !== null) return at.stopping.error.message;
    const around = at.parent?.phase;
    if (around?.status === 'open' && around.stopping !== null) return around.stopping.error.message;
  }
  return 'what is around it has ended';
}

/** While a run is undone, and its failure node runs, no other node of the root has a future. */
export function isOver(state: RunState, { scope, plan }: NodeState): boolean {
  return state.ending !== null && scope === state.root && plan !== state.plan.failureNode;
}

/** It has been said how the run ends, and it goes on to that. */
export function isEnding({ ending, stopping, pausedAt }: RunState): boolean {
  return ending !== null || (stopping !== null && pausedAt === null);
}

/** Whether a scope is the given one or below it; likewise for a composite node. */
export function isInside(scope: ScopeState, outer: ScopeState | NodeState): boolean {
  for (let at: ScopeState | undefined = scope; at !== undefined; at = at.parent?.scope) {
    if (at === outer || at.parent === outer) return true;
  }
  return false;
}

/** The error of a node for which no execution could be started, or the one that was is gone. */
export function isUnstarted({ details }: RunError): boolean {
  return isJsonObject(details ?? null) && (details as JsonObject).notStarted === true;
}

/** As people and expressions see it. */
export function statusOf(phase: Phase): NodeStatus {
  if (phase.status === 'open' || phase.status === 'child') return 'running';
  return phase.status === 'listening' || phase.status === 'gated' ? 'waiting' : phase.status;
}

export function isFinal(status: Phase['status']): boolean {
  return status === 'completed' || status === 'failed' || status === 'skipped' || status === 'cancelled';
}

export function isFinished(status: RunStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'timed-out';
}

/** Stable over attempts; retry from failed keeps it, a replay and what is done again after it was undone do not. */
export function idempotencyKey(state: RunState, path: string): string {
  return `${state.executionId}:${path}:${generationOf(nodeAt(state, path) ?? null)}`;
}

/** With which reopening the node, or something around it, last began as something new. */
export function generationOf(node: NodeState | null): number {
  let generation = 0;
  for (let at = node; at !== null; at = at.scope.parent) generation = Math.max(generation, at.generation);
  return generation;
}
