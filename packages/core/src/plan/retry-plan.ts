/** Numbers for a retry definition: the node's keys over the workflow's, and the defaults below both. */
import type { Catalog } from '../action.ts';
import type { RetryDefinition } from '../definition/model.ts';
import { retryPolicyOf } from '../definition/rules.ts';
import { parseDuration } from '../duration.ts';
import { RUN_DEFAULTS } from '../limits.ts';
import type { RetryPlan, RetryRule } from './plan.ts';

const RETRY_DEFAULTS = {
  initialMs: 1_000,
  maxMs: 5 * 60_000,
  multiplier: 2,
} as const;

const BUILT_IN_POLICIES = ['fixed', 'exponential', 'exponential-jitter'] as const;

type BuiltInPolicy = (typeof BUILT_IN_POLICIES)[number];

/** The definition was checked before: durations parse, and a policy that is not built in is in the catalog. */
export function retryPlan(
  node: RetryDefinition | undefined,
  workflow: RetryDefinition | undefined,
  catalog: Catalog,
): RetryPlan {
  const merged: RetryDefinition = { ...workflow, ...node };
  return { rules: [ruleOf(merged, catalog)], lost: merged.lost ?? RUN_DEFAULTS.lost };
}

function ruleOf(merged: RetryDefinition, catalog: Catalog): RetryRule {
  const initial = durationOf(merged.initial ?? merged.delay);
  const policy = retryPolicyOf(merged);
  return {
    policy: isBuiltIn(policy) ? policy : (catalog.retryPolicy(policy) ?? 'exponential'),
    initialMs: initial ?? RETRY_DEFAULTS.initialMs,
    maxMs: durationOf(merged.max) ?? Math.max(RETRY_DEFAULTS.maxMs, initial ?? 0),
    multiplier: merged.multiplier ?? RETRY_DEFAULTS.multiplier,
    attempts: merged.attempts ?? RUN_DEFAULTS.attempts,
    on: merged.on === undefined ? undefined : new Set(merged.on),
  };
}

export function isBuiltIn(policy: string): policy is BuiltInPolicy {
  return (BUILT_IN_POLICIES as readonly string[]).includes(policy);
}

export function durationOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parsed = parseDuration(text);
  return typeof parsed === 'number' ? parsed : undefined;
}
