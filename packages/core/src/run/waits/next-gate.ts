/** Which gate a node comes to next. Keys are resolved when it stands before it. */
import { canonicalJson } from '../../value.ts';
import type { Turn } from '../decide/turn.ts';
import type { CacheMiss, Gate } from '../journal/entry.ts';
import type { RunScope } from '../state/expression-scope.ts';
import { gateLimits } from '../state/settings.ts';
import type { NodeState } from '../state/state.ts';
import { gatesOf } from './gates.ts';

/** The gate after the first `passed` ones, with what the cache `missed`; throws what an expression throws. */
export function nextGate(
  turn: Turn,
  node: NodeState,
  scope: RunScope,
  passed: number,
  missed: CacheMiss | undefined,
): Gate | undefined {
  const { plan } = node;
  const kind = gatesOf(plan)[passed];
  const { concurrency, rateLimit } = plan;
  const budget = turn.budgets.next();
  if (kind === 'concurrency' && concurrency !== undefined) {
    return { kind, key: keyOf(concurrency.key.evaluate(scope, budget)), limit: gateLimits(node).concurrency };
  }
  if (kind === 'rate' && rateLimit !== undefined) {
    const { rate: limit, perMs } = gateLimits(node);
    return { kind, key: keyOf(rateLimit.key.evaluate(scope, budget)), limit, perMs };
  }
  if (kind === 'reserve' && missed !== undefined) return { kind, ...missed };
  return kind === 'cache' ? { kind } : undefined;
}

function keyOf(value: Parameters<typeof canonicalJson>[0]): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}
