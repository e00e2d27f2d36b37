/** Selectors: questions about a run, its scopes and its nodes, which change nothing. */

import { assert, type RunError } from '../../error.ts';
import { isLeaseId, type NodePath, type WorkflowId } from '../../ids.ts';
import type { ActionWork, DynamicWork, NodePlan } from '../../plan/plan.ts';
import { isJsonObject } from '../../value.ts';
import type { ConcurrencySlot } from '../journal/entry.ts';
import type { StoredValue } from '../journal/stored-value.ts';
import type {
  Batch,
  BodyState,
  Ending,
  FinishedPhase,
  NodeState,
  Phase,
  RunPhase,
  RunState,
  ScopeState,
} from './state.ts';
import type { FinalRunStatus, NodeStatus, RunStatus } from './status.ts';

export function pathOf(node: NodeState): NodePath {
  return node.scope.path === '' ? node.plan.id : `${node.scope.path}/${node.plan.id}`;
}

/** The path without the numbers of iterations. */
export function pathInDefinition({ plan, scope }: NodeState): string {
  return scope.parent === null ? plan.id : `${pathInDefinition(scope.parent)}/${plan.id}`;
}

export function nodeAt(state: RunState, path: NodePath): NodeState | undefined {
  const cut = path.lastIndexOf('/');
  const scope = cut < 0 ? state.root : state.scopes.get(path.slice(0, cut));
  const index = scope?.graph.indexOf.get(cut < 0 ? path : path.slice(cut + 1));
  return index === undefined ? undefined : scope?.nodes[index];
}

/** The node or, if its scope is gone, the composite node that contained it. */
export function survivorOf(state: RunState, path: NodePath): NodeState | undefined {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const node = nodeAt(state, at);
    if (node !== undefined) return node;
  }
  return undefined;
}

export function stateIn({ nodes, path }: ScopeState, { index, id }: NodePlan): NodeState {
  const node = nodes[index];
  if (node === undefined) throw new Error(`scope '${path}' has no node '${id}'`);
  return node;
}

/** The iterations of a composite node, as long as they are kept. */
export function bodyOf({ phase }: NodeState): BodyState | undefined {
  const mayHave =
    phase.status === 'open' ||
    phase.status === 'completed' ||
    phase.status === 'failed' ||
    phase.status === 'cancelled';
  return mayHave ? phase.body : undefined;
}

export function requireBody(node: NodeState): BodyState {
  const body = bodyOf(node);
  assert(body !== undefined, `'${pathOf(node)}' has been opened`);
  return body;
}

export function requireNode(state: RunState, path: NodePath): NodeState {
  const node = nodeAt(state, path);
  assert(node !== undefined, `the journal of ${state.executionId} names node '${path}', which its plan does not have`);
  return node;
}

export function requireScope(state: RunState, path: string): ScopeState {
  const scope = state.scopes.get(path);
  assert(scope !== undefined, `the journal of ${state.executionId} names scope '${path}', which is not open`);
  return scope;
}

/** The batch with the item of an iteration. Binary search: a loop whose iterations emit items has a batch for each. */
export function batchOf({ items }: BodyState, iteration: number): Batch | undefined {
  let low = 0;
  let high = items.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((items[middle]?.from ?? 0) <= iteration) low = middle;
    else high = middle - 1;
  }
  const batch = items[low];
  return batch !== undefined && iteration >= batch.from && iteration < batch.from + batch.count ? batch : undefined;
}

/** In `mode: levels` a node waits until everything on the levels before it has ended. */
export function isBlockedByLevel(state: RunState, node: NodeState): boolean {
  // A finally runs when all other nodes have ended, except for those with an unknown outcome.
  return state.plan.mode === 'levels' && node.plan.level > node.scope.level && node.scope.stopping === null;
}

/** The permit that blocks other starts with the same key. */
export function startPermit(workflowId: WorkflowId, key: string): string {
  return `start:${workflowId}:${key}`;
}

/** The permit of a concurrency slot. */
export function slotPermit({ key }: ConcurrencySlot): string {
  return `runs:${key}`;
}

/** The run has not begun, because other runs hold all concurrency slots. */
export function waitsForSlot({ slot, delayedUntil }: RunState): boolean {
  return delayedUntil !== null && slot?.status === 'waiting';
}

/**
 * The node does not begin any more, and stops if it runs: its scope ends, and the node is not in the finally. A scope
 * that ends marks all open scopes below it, so no selector has to look outward.
 */
export function isStopped(state: RunState, node: NodeState): boolean {
  const { scope, inFinally } = node;
  if (scope.isClosed) return true;
  if (scope.stopping !== null) return !inFinally || scope.stopping.finally !== true;
  return scope.undoes === null && isOver(state, node);
}

/** A composite node that is being stopped, either itself or with its scope. */
export function isEndingNode(state: RunState, node: NodeState): boolean {
  if (node.phase.status !== 'open') return false;
  return node.phase.stopping !== null || isStopped(state, node);
}

/** The node runs, or ran, in the finally of its scope or of one around it: it is not undone. */
export function isCleaningUp(node: NodeState): boolean {
  for (let at: NodeState | null = node; at !== null; at = at.scope.parent) {
    if (at.scope.stopping !== null && at.inFinally) return true;
  }
  return false;
}

/** Why the node must stop if it runs; null: it need not stop. */
export function stopReason(state: RunState, node: NodeState): string | null {
  if (!isStopped(state, node)) return null;
  if (state.stopping !== null) return state.stopping.error?.message ?? `the run is ${state.stopping.status}`;
  return node.scope.stopping?.error?.message ?? 'the scope around it has ended';
}

/** A scope that ends early has nothing left to run; nodes with an unknown outcome may remain. */
export function isQuiet({ open, unknowns, parent, nodes, undoes }: ScopeState, failureNode?: NodePlan): boolean {
  if (open === unknowns) return true;
  if (parent !== null || undoes !== null || failureNode === undefined) return false;
  return open === unknowns + 1 && nodes[failureNode.index]?.phase.status === 'pending';
}

/** While a run is undone and its failure node runs, no other node of the root runs again. */
export function isOver(state: RunState, { scope, plan }: NodeState): boolean {
  return scope === state.root && endingOf(state) !== null && plan !== state.plan.failureNode;
}

export function failureNodeOf({ plan, root }: RunState): NodeState | undefined {
  return plan.failureNode === undefined ? undefined : root.nodes[plan.failureNode.index];
}

/** The failure node while it runs or waits to run. */
export function failureNodeUnderWay(state: RunState): NodeState | undefined {
  const node = endingOf(state) === null ? undefined : failureNodeOf(state);
  if (node === undefined || isFinal(node.phase.status)) return undefined;
  return node.phase.status === 'pending' && node.dispatchState === 'none' ? undefined : node;
}

/** The run is ending: how it ends is journalled, and it is not paused. */
export function isEnding(state: RunState): boolean {
  return endingOf(state) !== null || (state.stopping !== null && !isPaused(state));
}

/** Returns whether the scope is `outer` or below it. */
export function isInside(scope: ScopeState, outer: ScopeState | NodeState): boolean {
  for (let at: ScopeState | undefined = scope; at !== undefined; at = at.parent?.scope) {
    if (at === outer || at.parent === outer) return true;
  }
  return false;
}

/** The error of a node whose child execution could not be started, or has been deleted. */
export function isUnstarted({ details }: RunError): boolean {
  return isJsonObject(details) && details['notStarted'] === true;
}

/** The status as people and expressions see it. */
export function statusOf(phase: Phase): NodeStatus {
  if (phase.status === 'open' || phase.status === 'child') return 'running';
  return phase.status === 'listening' || phase.status === 'gated' ? 'waiting' : phase.status;
}

export function isFinal(status: Phase['status']): boolean {
  return status === 'completed' || status === 'failed' || status === 'skipped' || status === 'cancelled';
}

export function isFinished(status: RunStatus): status is FinalRunStatus {
  return status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'timed-out';
}

export function isFinishedPhase(phase: RunPhase): phase is FinishedPhase {
  return isFinished(phase.status);
}

/** When the run ended; null if it has not ended. */
export function finishedAt({ phase }: RunState): number | null {
  return isFinishedPhase(phase) ? phase.at : null;
}

/** Why the run did not succeed; null if it did, or has not ended. */
export function runError({ phase }: RunState): RunError | null {
  return isFinishedPhase(phase) && phase.status !== 'completed' ? phase.error : null;
}

export function runOutput({ phase }: RunState): StoredValue | undefined {
  return phase.status === 'completed' ? phase.output : undefined;
}

export function isPaused({ phase }: RunState): boolean {
  return phase.status === 'paused';
}

/** How the run ends once the undo and the failure node are done. */
export function endingOf({ phase }: RunState): Ending | null {
  const active = phase.status === 'paused' ? phase.resumes : phase;
  return active.status === 'compensating' ? active.ending : null;
}

/** The key is the same for all attempts. A retry from failed keeps the key; a replay and a repetition after an undo do not. */
export function idempotencyKey(state: RunState, path: NodePath): string {
  return `${state.executionId}:${path}:${generationOf(nodeAt(state, path) ?? null)}`;
}

/** The generation in which the node, or a composite node around it, last began as something new. */
export function generationOf(node: NodeState | null): number {
  let generation = 0;
  for (let at = node; at !== null; at = at.scope.parent) generation = Math.max(generation, at.generation);
  return generation;
}

/** Counts a node that opens or ends on its level. */
export function countOpen({ openPerLevel }: ScopeState, { level }: NodePlan, change: 1 | -1): void {
  openPerLevel[level] = (openPerLevel[level] ?? 0) + change;
}

/** The work of a node that takes a slot. */
export function actionWork({ plan }: NodeState): ActionWork | DynamicWork {
  const { work } = plan;
  assert(work.kind === 'action' || work.kind === 'dynamic', `node '${plan.id}' runs an action`);
  return work;
}

/**
 * The display name of the worker of an attempt. The journal names a remote worker by its lease: `lse_<hash>:<worker>`.
 * Journals of earlier versions have the lease id itself, which authorises its bearer and is not shown.
 */
export function workerName(worker: string): string {
  if (!isLeaseId(worker)) return worker;
  const colon = worker.indexOf(':');
  return colon === -1 || colon === worker.length - 1 ? 'a remote worker' : worker.slice(colon + 1);
}
