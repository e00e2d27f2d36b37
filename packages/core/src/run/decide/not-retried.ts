/** Why the error of a failed node was not retried although retries were left. */
import type { RunError } from '../../error.ts';
import { createBudget } from '../../expression/index.ts';
import { decideRetry, isUnmendable } from '../../retry/retry.ts';
import { pathOf } from '../state/selectors.ts';
import { retryPlanOf } from '../state/settings.ts';
import type { NodeState } from '../state/state.ts';

export { isExpressionError, isUnmendable } from '../../retry/retry.ts';

export type NotRetried =
  /** A further attempt would fail in the same way. */
  | { readonly why: 'unmendable' }
  /** No rule matches; `names` are those of `retry.on`. */
  | { readonly why: 'unmatched'; readonly names: readonly string[] };

export function whyNotRetried(node: NodeState, error: RunError): NotRetried | undefined {
  const plan = retryPlanOf(node);
  if (plan.rules.every(({ attempts }) => attempts <= 1)) return undefined;
  const past = { path: pathOf(node), retries: node.retries, lost: node.lost };
  const decision = decideRetry(plan, error, past, { jitter: 0, newBudget: () => createBudget() });
  if (decision.retry || decision.why !== 'not-retryable') return undefined;
  if (isUnmendable(error.code)) return { why: 'unmendable' };
  return { why: 'unmatched', names: [...new Set(plan.rules.flatMap(({ on }) => [...(on?.names ?? [])]))] };
}
