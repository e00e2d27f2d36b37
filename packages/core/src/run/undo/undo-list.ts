/** The undo list as the fold keeps it: a node is added when it completes and removed when it has been undone. */
import type { NodePath } from '../../ids.ts';
import type { NodeCompleted } from '../journal/entry.ts';
import { countSpilled } from '../state/phases.ts';
import { bodyOf, endingOf, generationOf, isOver, pathOf } from '../state/selectors.ts';
import type { NodeState, RunState, ScopeState, UndoItem } from '../state/state.ts';
import { insertUndo } from './undo.ts';

/** Adds a completed node to the undo list. */
export function remember(state: RunState, node: NodeState, { undo, undoError }: NodeCompleted): void {
  const path = pathOf(node);
  // A node that ran twice is undone once.
  if (state.generations > 0) forgetUndo(state, path);
  const graphs = keepGraphs(state, node);
  const item: UndoItem = { path, input: undo, error: undoError, graphs, generation: generationOf(node) };
  state.undo.push(item);
  if (undo !== undefined) countSpilled(state, undo);
  undoToo(state, node, item);
}

/**
 * Keeps the returned graphs around a node, which outlive their nodes. Each graph is kept once, however many nodes ran
 * in it.
 */
function keepGraphs(state: RunState, node: NodeState): string[] {
  const graphs: string[] = [];
  for (let at = node.scope.parent; at !== null; at = at.scope.parent) {
    const returned = bodyOf(at)?.returned;
    if (returned === undefined) continue;
    // The number of the attempt distinguishes the graphs of a node that begins again.
    const key = `${pathOf(at)}#${at.attempts}`;
    state.undoGraphs[key] ??= returned;
    graphs.unshift(key);
  }
  return graphs;
}

/** Drops the graphs that contain nothing left to undo. */
export function forgetGraphs(state: RunState): void {
  const wanted = new Set(state.undo.flatMap(({ graphs }) => graphs));
  state.undoGraphs = Object.fromEntries(Object.entries(state.undoGraphs).filter(([key]) => wanted.has(key)));
}

/** A node that turns out to be completed while the scope around it is being undone is undone next. */
function undoToo(state: RunState, node: NodeState, item: UndoItem): void {
  for (let at: NodeState | null = node; at !== null; at = at.scope.parent) {
    const { undoing } = at.scope;
    if (undoing === null || undoing.isClosed) continue;
    const isWanted = at.scope !== state.root || (isOver(state, at) && endingOf(state)?.compensate === true);
    if (isWanted && undoing.stopping === null) insertUndo(state, undoing, item);
    return;
  }
}

const undoPaths = new WeakMap<readonly UndoItem[], Set<string>>();

/** Uses a set: without it, continuing a loop of 100,000 iterations would search all of them for each node. */
function forgetUndo(state: RunState, path: NodePath): void {
  let paths = undoPaths.get(state.undo);
  if (paths?.has(path) === false) {
    paths.add(path);
    return;
  }
  state.undo = state.undo.filter((item) => item.path !== path);
  paths = new Set(state.undo.map((item) => item.path));
  undoPaths.set(state.undo, paths.add(path));
}

export function forgetUndoing(state: RunState): void {
  state.undone = [];
  for (const scope of [...state.scopes.values()]) {
    if (scope.undoes === null) continue;
    scope.undoes.undoing = null;
    state.scopes.delete(scope.path);
  }
}

/** Forgets the compensations of a composite node that begins again, because its nodes run anew. */
export function forgetUndoneIn(state: RunState, node: NodeState): void {
  for (const scope of bodyOf(node)?.scopes.values() ?? []) noteUndone(state, scope);
  const prefix = `${pathOf(node)}/`;
  state.undone = state.undone.filter((path) => !path.startsWith(prefix));
  forgetGraphs(state);
}

/** Removes undone nodes from the undo list and records their paths, so that a retry runs them again. */
export function noteUndone(state: RunState, { undoing }: ScopeState): void {
  if (undoing === null || undoing.isClosed) return;
  const done = new Set<string>();
  for (const [at, { path }] of undoing.undoItems.entries()) {
    if (undoing.nodes[at]?.phase.status === 'completed') done.add(path);
  }
  // A spread is limited to about 100,000 arguments.
  for (const path of done) state.undone.push(path);
  state.undo = state.undo.filter(({ path }) => !done.has(path));
  undoing.isClosed = true;
}
