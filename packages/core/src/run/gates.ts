/**
 * What a node must be granted before it begins. The keys are resolved here, the grants come from outside: from the
 * permits that runs share, and from the cache.
 */
import type { NodePlan } from '../plan/plan.ts';
import { canonicalJson } from '../value.ts';
import type { Gate } from './entry.ts';
import type { NodeState } from './state.ts';
import type { Turn } from './turn.ts';
import type { RunScope } from './view.ts';

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

/** The next gate of a node that has not passed them all; throws what an expression throws. */
export function nextGate(turn: Turn, { plan, passed, missed }: NodeState, scope: RunScope): Gate | undefined {
  const kind = gatesOf(plan)[passed];
  const { concurrency, rateLimit } = plan;
  const budget = turn.state.plan.newBudget();
  if (kind === 'concurrency' && concurrency !== undefined) {
    return { kind, key: keyOf(concurrency.key.evaluate(scope, budget)), limit: concurrency.limit };
  }
  if (kind === 'rate' && rateLimit !== undefined) {
    const { key, limit, perMs } = rateLimit;
    return { kind, key: keyOf(key.evaluate(scope, budget)), limit, perMs };
  }
  if (kind === 'reserve' && missed !== undefined) return { kind, ...missed };
  return kind === 'cache' ? { kind } : undefined;
}

function keyOf(value: Parameters<typeof canonicalJson>[0]): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

/** The key under which runs share the permit of a gate; undefined for gates without one. */
export function permitKey(gate: Gate): string | undefined {
  if (gate.kind === 'concurrency') return `key:${gate.key}`;
  return gate.kind === 'reserve' ? `cache:${gate.key}` : undefined;
}
