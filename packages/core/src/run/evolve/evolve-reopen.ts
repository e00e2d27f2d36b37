/** Folds `run.reopened`: resets the nodes that begin again. */

import type { NodePath } from '../../ids.ts';
import { recount } from '../joins/joins.ts';
import type { RunReopened } from '../journal/entry.ts';
import { resetNode } from '../state/new-state.ts';
import { countSpilled } from '../state/phases.ts';
import { forgetIterations, isWhole } from '../state/scopes.ts';
import { requireBody, requireNode } from '../state/selectors.ts';
import type { NodeState, RunState } from '../state/state.ts';
import { withdraw } from '../state/variables.ts';
import { armOpen, armWorkflow } from '../timers/timers.ts';
import { forgetGraphs, forgetUndoing } from '../undo/undo-list.ts';
import type { Fold } from './fold.ts';

export function reopen({ state, at }: Fold, entry: RunReopened): void {
  state.activeSince = at;
  state.phase = { status: 'running' };
  state.totalRetries = 0;
  state.reopened++;
  state.generations++;
  if (entry.ceiling !== undefined) state.authority = { ...state.authority, ceiling: entry.ceiling };
  forgetUndoing(state);
  resetNodes(state, entry.nodes);
  renewNodes(state, entry.renewed ?? []);
  const [first] = entry.nodes;
  if (entry.input !== undefined && first !== undefined) {
    requireNode(state, first).input = entry.input;
    countSpilled(state, entry.input);
  }
  for (const path of entry.open ?? []) {
    const node = requireNode(state, path);
    node.phase = { status: 'open', body: requireBody(node), since: at, stopping: null };
    node.queuedAt = at;
    node.pausedMs = 0;
  }
  for (const scope of state.scopes.values()) {
    scope.stopping = null;
    scope.underWay = 0;
    scope.deferredError = null;
    recount(scope);
  }
  for (const path of entry.open ?? []) reopenBody(state, requireNode(state, path));
  armWorkflow(state);
}

/** Puts nodes that begin again back to where they were before anything happened to them. */
export function resetNodes(state: RunState, paths: readonly NodePath[]): void {
  const nodes = paths.map((path) => requireNode(state, path));
  for (const node of nodes) {
    state.unknown.delete(node);
    forgetIterations(state, node);
    resetNode(node);
    node.attemptsBefore = state.lastAttempt;
  }
  withdraw(nodes);
}

/** Renews nodes: they get the newest generation, and nothing of them is left to undo. */
export function renewNodes(state: RunState, renewed: readonly NodePath[]): void {
  for (const path of renewed) {
    const node = requireNode(state, path);
    node.generation = state.generations;
    node.child = undefined;
  }
  const gone = new Set(renewed);
  if (gone.size > 0) state.undo = state.undo.filter((item) => !isWithin(item.path, gone));
  forgetGraphs(state);
}

/** Returns whether the path is one of `paths` or below one. */
function isWithin(path: string, paths: ReadonlySet<string>): boolean {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) if (paths.has(at)) return true;
  return false;
}

/** Reopens the iterations that were kept. */
function reopenBody(state: RunState, node: NodeState): void {
  const body = requireBody(node);
  body.failed = 0;
  body.error = null;
  body.base = body.next;
  body.open = 0;
  body.until = null;
  for (const scope of body.scopes.values()) {
    if (scope.isDone || isWhole(scope)) continue;
    scope.isClosed = false;
    body.open++;
    // No node in this iteration begins again, so its end is checked again.
    if (scope.open === 0) state.endChecks.add(scope);
  }
  armOpen(state, node);
}
