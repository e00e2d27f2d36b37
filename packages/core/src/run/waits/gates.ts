/**
 * Gates: the grants that a node needs before it begins. Keys are resolved here; the grants come from the permits that
 * runs share, and from the cache.
 */
import type { NodePlan } from '../../plan/plan.ts';
import type { Gate } from '../journal/entry.ts';
import type { NodeState, RunState } from '../state/state.ts';

/** The kinds of gates of a node, in the order in which it passes them. */
export function gatesOf({ concurrency, rateLimit, cache }: NodePlan): readonly Gate['kind'][] {
  if (concurrency === undefined && rateLimit === undefined && cache === undefined) return NO_GATES;
  const gates: Gate['kind'][] = [];
  // The cache comes first: a hit needs no permit and no moment of a rate.
  if (cache !== undefined) gates.push('cache', 'reserve');
  if (concurrency !== undefined) gates.push('concurrency');
  if (rateLimit !== undefined) gates.push('rate');
  return gates;
}

const NO_GATES: readonly Gate['kind'][] = [];

/** The permit of a concurrency key, as workflows write it. */
export const concurrencyPermit = (key: string): string => `key:${key}`;

/** The key under which runs share the permit of a gate; undefined for gates without one. */
export function permitKey(
  gate: Exclude<Gate, { kind: 'reserve' }> | { kind: 'reserve'; key: string },
): string | undefined {
  if (gate.kind === 'concurrency') return concurrencyPermit(gate.key);
  return gate.kind === 'reserve' ? `${RESERVED}${gate.key}` : undefined;
}

/**
 * Identifies the current request of a node for a permit. A finally requests anew the permits that its node released
 * when it was returned to pending. A node that began before, and waits between two attempts, keeps its request.
 */
export function gateRequestId({ reopened }: RunState, { attempts, scope, startedAt }: NodeState): string {
  const isAnew = scope.stopping !== null && startedAt === null;
  return `${attempts + 1}:${reopened}${isAnew ? ':finally' : ''}`;
}

const RESERVED = 'cache:';

/** Returns whether the permit is a cache reservation: its holder computes an output that the cache misses. */
export function isReservation(permit: string): boolean {
  return permit.startsWith(RESERVED);
}
