/**
 * Snapshots: a state that an engine restores from its snapshot equals the state that the whole journal folds to. The
 * states are compared member by member, so a member that a snapshot leaves out is a difference. A new member of a state
 * is compared unless it is listed here.
 */
import type { Entry, Plan } from '@nebula/core';
import { decodeSnapshot, foldFrames, newRunState, type RunState } from '@nebula/core/run';
import type { FrameRow, SnapshotRow } from '@nebula/ports';

/**
 * Members that are no part of the fold: the plan, and the working sets of a process, which may have items that no longer
 * apply. The lists of nodes by status are compared as paths.
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  // Given by the code that loads a run: the time of its newest frame.
  'updatedAt',
  ...['plan', 'graph', 'projectCeiling', 'hasOldStops', 'timers', 'endChecks', 'released', 'ready', 'readyRemote'],
  ...['dispatched', 'dispatchedRemote', 'dispatchState', 'blockedByLevel'],
]);
/** Counts of a final node are not kept in step with its sources. */
const COUNTS: ReadonlySet<string> = new Set(['decided', 'taken', 'failedEdges', 'heldSources', 'inFinally']);
const FINAL: readonly unknown[] = ['completed', 'failed', 'skipped', 'cancelled'];

/** The first difference between the state of a snapshot and that of the journal; undefined if there is none. */
export function snapshotDifference(
  plan: Plan,
  executionId: string,
  snapshot: SnapshotRow,
  frames: readonly FrameRow[],
): string | undefined {
  const restored = decodeSnapshot(plan, executionId, snapshot.state);
  if (restored === undefined) return 'cannot be restored';
  const folded = newRunState(plan, executionId);
  for (const { seq, at, entries } of frames) {
    if (seq <= snapshot.seq) foldFrames(folded, [{ seq, at, entries: JSON.parse(entries) as Entry[] }]);
  }
  return stateDifference(restored, folded);
}

/** The first member that differs, as a path. */
export function stateDifference(one: RunState, other: RunState): string | undefined {
  return differenceAt('', one, other, new Map());
}

function differenceAt(path: string, one: unknown, other: unknown, seen: Map<unknown, unknown>): string | undefined {
  if (one === other || (one ?? null) === (other ?? null)) return undefined;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return `${path || 'it'} is ${shown(one)}, not ${shown(other)}`;
  if (seen.get(one) === other) return undefined;
  seen.set(one, other);
  if (one instanceof Map && other instanceof Map) return listDifference(path, [...one], [...other], seen);
  if (one instanceof Set && other instanceof Set) return setDifference(path, one, other, seen);
  if (Array.isArray(one) && Array.isArray(other)) return listDifference(path, one, other, seen);
  const isFinal = FINAL.includes((other as { phase?: { status?: unknown } }).phase?.status);
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    if (LEFT_OUT.has(key) || (isFinal && COUNTS.has(key))) continue;
    const [mine, its] = [(one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]];
    const difference = differenceAt(path === '' ? key : `${path}.${key}`, mine, its, seen);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function listDifference(
  path: string,
  one: readonly unknown[],
  other: readonly unknown[],
  seen: Map<unknown, unknown>,
): string | undefined {
  if (one.length !== other.length) return `${path} has ${one.length} items, not ${other.length}`;
  for (const [index, item] of one.entries()) {
    const difference = differenceAt(`${path}[${index}]`, item, other[index], seen);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** Nodes are compared by their place, in any order; only `listening` has an order, in which waits take signals. */
function setDifference(
  path: string,
  one: ReadonlySet<unknown>,
  other: ReadonlySet<unknown>,
  seen: Map<unknown, unknown>,
): string | undefined {
  const [mine, its] = [Array.from(one, placeOf), Array.from(other, placeOf)];
  if (path === 'listening') return listDifference(path, mine, its, seen);
  return listDifference(path, mine.sort(), its.sort(), seen);
}

function placeOf(node: unknown): string {
  const { scope, plan } = node as { scope?: { path: string }; plan?: { id: string } };
  return `${scope?.path}/${plan?.id}`;
}

function shown(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'an object' : String(JSON.stringify(value));
}
