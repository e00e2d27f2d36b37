/** Folds `run.migrated`: the state of the run under the plan of another version. */
import { assert } from '../../error.ts';
import type { DecidedAgain, RunMigrated } from '../journal/entry.ts';
import { decodeSnapshot, encodeSnapshot, stateUnder } from '../journal/snapshot.ts';
import { countSpilled } from '../state/phases.ts';
import { isFinal, isFinished, nodeAt, requireNode } from '../state/selectors.ts';
import type { NodeState, RunState } from '../state/state.ts';
import { recallAll } from '../state/variables.ts';
import { findCompensation } from '../undo/undo.ts';
import { forgetGraphs } from '../undo/undo-list.ts';
import { renewNodes, resetNodes } from './evolve-reopen.ts';
import type { Fold } from './fold.ts';

export function migrate({ state, at }: Fold, entry: RunMigrated): void {
  const { seq, updatedAt } = state;
  const moved = entry.back === true ? movedBack(state, entry) : movedState(state, entry, at);
  // The object stays: the engine and readers of the journal keep it for the whole run.
  Object.assign(state, moved, { seq, updatedAt });
}

function movedBack(state: RunState, { version }: RunMigrated): RunState {
  const { migrated, executionId, planOf } = state;
  assert(migrated?.from === version, `the last migration of ${executionId} is from version ${version}`);
  const before = decodeSnapshot(planOf(version), executionId, migrated.before, planOf);
  assert(before !== undefined, `${executionId} is as it was before its migration`);
  before.projectCeiling = state.projectCeiling;
  return before;
}

/** The state after the entry. The given state stays as it is. */
export function movedState(state: RunState, entry: RunMigrated, at: number): RunState {
  const before = encodeSnapshot({ ...state, migrated: null, seq: 0 });
  const moved = stateUnder(state.planOf(entry.version), state, before, (next) => adjust(next, entry, at));
  moved.migrated = { from: state.plan.version, before };
  moved.projectCeiling = state.projectCeiling;
  return moved;
}

function adjust(state: RunState, { nodes = [], renewed = [], edges = [], input }: RunMigrated, at: number): void {
  if (renewed.length > 0) state.generations++;
  for (const scope of state.scopes.values()) recallAll(scope.realm);
  resetNodes(state, nodes);
  renewNodes(state, renewed);
  state.undo = state.undo.filter((item) => findCompensation(state, item) !== undefined);
  state.undone = state.undone.filter((path) => nodeAt(state, path) !== undefined || path.includes('/'));
  forgetGraphs(state);
  for (const scope of state.scopes.values()) {
    if (scope.deferredError !== null && !scope.nodes.some(isUnhandled)) scope.deferredError = null;
  }
  for (const one of edges) decideAgain(state, one);
  if (input !== undefined) {
    state.root.realm = { ...state.root.realm, input };
    countSpilled(state, input);
  }
  if (isFinished(state.phase.status)) cancelPending(state, at);
}

/** The failure fails its scope. */
function isUnhandled({ phase }: NodeState): boolean {
  return phase.status === 'failed' && phase.handling !== 'handled' && phase.handling !== 'ignored';
}

/** In an ended run a node that has not run is cancelled: a retry begins it. */
function cancelPending(state: RunState, at: number): void {
  for (const { nodes } of state.scopes.values()) {
    for (const node of nodes) {
      if (node.phase.status === 'pending') node.phase = { status: 'cancelled', at, error: undefined };
    }
  }
}

function decideAgain(state: RunState, { node: path, dead, taken }: DecidedAgain): void {
  const node = requireNode(state, path);
  const { phase } = node;
  if (!isFinal(phase.status)) return;
  if (phase.status === 'failed') node.phase = { ...phase, dead, taken };
  else if (phase.status !== 'unknown' && 'dead' in phase) node.phase = { ...phase, dead };
}
