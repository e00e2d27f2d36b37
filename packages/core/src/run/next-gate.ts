/** Which gate a node comes to next. Keys are resolved when it stands before it. */
import { canonicalJson } from '../value.ts';
import type { Gate } from './entry.ts';
import { gatesOf } from './gates.ts';
import type { NodeState } from './state.ts';
import type { Turn } from './turn.ts';
import type { RunScope } from './view.ts';

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
