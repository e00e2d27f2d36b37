/**
 * What a node must be granted before it begins. The keys are resolved here, the grants come from outside: from the
 * permits that runs share, and from the cache.
 */
import type { NodePlan } from '../../plan/plan.ts';
import type { Gate } from '../journal/entry.ts';
import type { NodeState, RunState } from '../state/state.ts';

/** The kinds of gates of a node, in the order in which it comes to them. */
export function gatesOf({ concurrency, rateLimit, cache }: NodePlan): readonly Gate['kind'][] {
  if (concurrency === undefined && rateLimit === undefined && cache === undefined) return NO_GATES;
  const gates: Gate['kind'][] = [];
  // The cache first: what it has costs no place and no moment.
  if (cache !== undefined) gates.push('cache', 'reserve');
  if (concurrency !== undefined) gates.push('concurrency');
  if (rateLimit !== undefined) gates.push('rate');
  return gates;
}

const NO_GATES: readonly Gate['kind'][] = [];

/** The key under which runs share the permit of a gate; undefined for gates without one. */
export function permitKey(
  gate: Exclude<Gate, { kind: 'reserve' }> | { kind: 'reserve'; key: string },
): string | undefined {
  if (gate.kind === 'concurrency') return `key:${gate.key}`;
  return gate.kind === 'reserve' ? `${RESERVED}${gate.key}` : undefined;
}

/** Which of its asks for a place is the current one. A finally asks anew for what its node gave back when it was put off. */
export function gateRequestId({ reopened }: RunState, { attempts, scope }: NodeState): string {
  return `${attempts + 1}:${reopened}${scope.stopping === null ? '' : ':finally'}`;
}

const RESERVED = 'cache:';

/** Whether the key of a permit is for working out what the cache does not have. */
export function isReservation(permit: string): boolean {
  return permit.startsWith(RESERVED);
}
