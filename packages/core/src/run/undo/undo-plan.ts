/** The undo plan: the compensations that would run now, and those that have run since the run was last reopened. */
import type { NodePath } from '../../ids.ts';
import type { Json } from '../../value.ts';
import { type BlobLookup, type BlobRef, resolveValue } from '../journal/stored-value.ts';
import { endingOf, isFinal, isFinished } from '../state/selectors.ts';
import type { RunState, UndoItem } from '../state/state.ts';
import { compensationAt, toUndo } from './undo.ts';

export interface UndoStep {
  /** The node that the step undoes. */
  readonly node: NodePath;
  readonly action: string;
  /** The parameters, as they were when the node completed. */
  readonly with: Json;
  /** Why the parameters could not be evaluated; the compensation will fail with it. */
  readonly problem: string | null;
}

export interface UndoPlan {
  /** The steps in the order in which they would run. */
  readonly toUndo: readonly UndoStep[];
  readonly undone: readonly string[];
}

export function undoPlanOf(state: RunState, lookup: BlobLookup): UndoPlan {
  const undone = [...state.undone];
  for (const { undoes, undoItems, nodes, isClosed } of state.scopes.values()) {
    if (undoes === null || isClosed) continue;
    for (const [at, { path }] of undoItems.entries()) {
      if (nodes[at]?.phase.status === 'completed') undone.push(path);
    }
  }
  const steps = itemsLeft(state).map((item): UndoStep => {
    const { id, version } = compensationAt(state, item).action;
    const input = resolveValue(item.input, lookup);
    return { node: item.path, action: `${id}@${version}`, with: input, problem: item.error?.message ?? null };
  });
  return { toUndo: steps, undone };
}

/** The values of the plan that are in blobs. */
export function spilledInUndoPlan(state: RunState): BlobRef[] {
  return itemsLeft(state).flatMap(({ input }) => (input?.blob === undefined ? [] : [input.blob]));
}

/** The items that are not undone yet; none if the run has ended or was cancelled without an undo. */
function itemsLeft(state: RunState): UndoItem[] {
  const { phase, stopping, root } = state;
  if (isFinished(phase.status) || (stopping ?? endingOf(state))?.compensate === false || root.undoing?.stopping)
    return [];
  const begun = new Set<string>();
  for (const { undoes, undoItems, nodes } of state.scopes.values()) {
    if (undoes === null) continue;
    for (const [at, { path }] of undoItems.entries())
      if (isFinal(nodes[at]?.phase.status ?? 'pending')) begun.add(path);
  }
  return toUndo(state, root).filter(({ path }) => !begun.has(path));
}
