/** The settings of a node: the results of its expressions when it became ready, over the values of the plan. */
import type { ForEachWork, NodePlan, RetryPlan, RetryRule, SettingValues, Timeouts } from '../../plan/plan.ts';
import type { NodeState } from './state.ts';

type Configured = Pick<NodeState, 'plan' | 'settings'>;

export function timeoutsOf({ plan, settings }: Configured): Timeouts {
  if (settings === undefined) return plan.timeouts;
  const { attemptMs, queuedMs, totalMs } = plan.timeouts;
  return {
    attemptMs: smallest(numberAt(settings, 'timeout.attempt'), numberAt(settings, 'merge.timeout'), attemptMs),
    queuedMs: numberAt(settings, 'timeout.queued') ?? queuedMs,
    totalMs: numberAt(settings, 'timeout.total') ?? totalMs,
  };
}

/** A split is limited by its own timeout and by that of its merge; every other node has only one of them. */
function smallest(...limits: readonly (number | null | undefined)[]): number | null {
  const given = limits.filter((limit) => typeof limit === 'number');
  return given.length === 0 ? null : Math.min(...given);
}

export function priorityOf({ plan, settings }: Configured): number {
  return settings === undefined ? plan.priority : (numberAt(settings, 'priority') ?? plan.priority);
}

export function retryPlanOf({ plan, settings }: Configured): RetryPlan {
  return settings === undefined ? plan.retry : retryWith(plan.retry, settings, 'retry');
}

/** The backoff between the iterations of a retryUntil. */
export function backoffOf({ settings }: Configured, backoff: RetryPlan): RetryPlan {
  if (settings === undefined) return backoff;
  const { rules } = retryWith(backoff, settings, 'retryUntil.backoff');
  const attempts = numberAt(settings, 'retryUntil.attempts');
  return { ...backoff, rules: rules.map((rule) => ({ ...rule, attempts: attempts ?? rule.attempts })) };
}

function retryWith(plan: RetryPlan, values: SettingValues, key: string): RetryPlan {
  const rules = plan.rules.map((rule, index): RetryRule => {
    const at = (name: string): number | undefined =>
      numberAt(values, `${key}.${name}`) ?? numberAt(values, `${key}.${index}.${name}`);
    const initialMs = at('initial') ?? at('delay') ?? rule.initialMs;
    return {
      ...rule,
      initialMs,
      maxMs: at('max') ?? Math.max(rule.maxMs, rule.policy === 'fixed' ? initialMs : 0),
      multiplier: at('multiplier') ?? rule.multiplier,
      attempts: at('attempts') ?? rule.attempts,
    };
  });
  const [lost] = [`${key}.lost`, ...plan.rules.map((_, index) => `${key}.${index}.lost`)].flatMap(
    (name) => numberAt(values, name) ?? [],
  );
  return { rules, lost: lost ?? plan.lost };
}

export function maxConcurrencyOf({ settings }: Configured, { maxConcurrency }: ForEachWork): number {
  return numberAt(settings, 'forEach.maxConcurrency') ?? maxConcurrency;
}

export function minSuccessOf({ settings }: Configured, { minSuccess }: ForEachWork): ForEachWork['minSuccess'] {
  const given = settings?.['forEach.minSuccess'];
  if (given === undefined) return minSuccess;
  return typeof given === 'number' ? { count: given } : { ratio: Number.parseFloat(given) / 100 };
}

export function maxIterationsOf({ settings }: Configured, maxIterations: number): number {
  return numberAt(settings, 'while.maxIterations') ?? maxIterations;
}

/** Limits of the node's gates. */
export function gateLimits({ settings, plan }: Configured): {
  readonly concurrency: number;
  readonly rate: number;
  readonly perMs: number;
} {
  return {
    concurrency: numberAt(settings, 'concurrency.limit') ?? plan.concurrency?.limit ?? 1,
    rate: numberAt(settings, 'rateLimit.limit') ?? plan.rateLimit?.limit ?? 1,
    perMs: numberAt(settings, 'rateLimit.per') ?? plan.rateLimit?.perMs ?? 0,
  };
}

export function ttlOf({ settings }: Configured, cache: NonNullable<NodePlan['cache']>): number | null {
  return numberAt(settings, 'cache.ttl') ?? cache.ttlMs;
}

function numberAt(values: SettingValues | undefined, key: string): number | undefined {
  const value = values?.[key];
  return typeof value === 'number' ? value : undefined;
}
