/** Compiles retry definitions: the node's keys override the workflow's, and both override the defaults. */
import type { Catalog } from '../action.ts';
import type { Numeric, RetryDefinition, RetryRules, TimeoutDefinition } from '../definition/model.ts';
import { retryPolicyOf } from '../definition/rules.ts';
import { parseDuration } from '../duration.ts';
import type { ErrorMatcher } from '../expression/index.ts';
import { RETRY_DEFAULTS } from '../limits.ts';
import type { DocumentPath } from '../problem.ts';
import { checkPolicy, isBuiltIn } from './actions.ts';
import type { CompileContext, DefaultRetry } from './context.ts';
import type { RetryMatch, RetryPlan, RetryRule, Timeouts } from './plan.ts';

type Known = Pick<CompileContext, 'catalog' | 'problems' | 'values'>;

/** The plan of a node without rules, in a workflow without rules: nearly every node has it. */
const DEFAULT_RETRY: RetryPlan = {
  rules: [
    {
      policy: 'exponential',
      initialMs: RETRY_DEFAULTS.initialMs,
      maxMs: RETRY_DEFAULTS.maxMs,
      multiplier: RETRY_DEFAULTS.multiplier,
      attempts: RETRY_DEFAULTS.attempts,
      on: undefined,
    },
  ],
  lost: RETRY_DEFAULTS.lost,
};

/** The definition has been checked, so durations parse. Policies and patterns are checked here. */
export function retryPlan(
  own: RetryRules | undefined,
  defaults: DefaultRetry | undefined,
  context: Known,
  path: DocumentPath,
): RetryPlan {
  if (own === undefined) return defaults?.plan ?? DEFAULT_RETRY;
  if (isList(own)) {
    const rules = own.map((rule, index) => ruleOf(rule, rule, undefined, context, [...path, index]));
    return { rules, lost: lostOf(own) };
  }
  // The workflow's rule completes a single rule of the node; a list of rules replaces it.
  const base = defaults === undefined || isList(defaults.rules) ? {} : defaults.rules;
  const merged = { ...base, ...own };
  const fallback = base === defaults?.rules ? defaults.plan.rules[0] : undefined;
  return { rules: [ruleOf(merged, own, fallback, context, path)], lost: lostOf([merged]) };
}

/** In a list, the first rule with `lost` sets it for all. */
function lostOf(rules: readonly RetryDefinition[]): number {
  return numberOf(rules.find(({ lost }) => lost !== undefined)?.lost) ?? RETRY_DEFAULTS.lost;
}

function isList(rules: RetryRules | undefined): rules is readonly RetryDefinition[] {
  return Array.isArray(rules);
}

function ruleOf(
  rule: RetryDefinition,
  own: RetryDefinition,
  fallback: RetryRule | undefined,
  context: Known,
  path: DocumentPath,
): RetryRule {
  const initial = durationOf(rule.initial ?? rule.delay);
  checkPolicy(context, own.policy, [...path, 'policy']);
  return {
    policy: policyOf(retryPolicyOf(rule), context.catalog),
    initialMs: initial ?? RETRY_DEFAULTS.initialMs,
    maxMs: durationOf(rule.max) ?? Math.max(RETRY_DEFAULTS.maxMs, initial ?? 0),
    multiplier: numberOf(rule.multiplier) ?? RETRY_DEFAULTS.multiplier,
    attempts: numberOf(rule.attempts) ?? RETRY_DEFAULTS.attempts,
    on: own.on === undefined ? fallback?.on : matchOf(own.on, context, [...path, 'on']),
  };
}

function policyOf(policy: string, catalog: Catalog): RetryRule['policy'] {
  return isBuiltIn(policy) ? policy : (catalog.retryPolicy(policy) ?? 'exponential');
}

function matchOf(on: readonly string[], { values }: Known, path: DocumentPath): RetryMatch {
  const isPattern = (text: string): boolean => /^\/.+\/i?$/s.test(text);
  const patterns = on.flatMap((text, index): readonly (ErrorMatcher | undefined)[] =>
    // A text between slashes was a code once.
    isPattern(text) ? [values.errorMatcher({ code: text }, [...path, index], true)] : [],
  );
  return {
    names: new Set(on.filter((text) => !isPattern(text))),
    patterns: patterns.filter((pattern) => pattern !== undefined),
  };
}

/** Undefined when the value is an expression. */
export function numberOf(value: Numeric | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** The rules that apply to a node, including the defaults of the workflow. */
export function effectiveRetry(own: RetryRules | undefined, defaults: RetryRules | undefined): RetryRules | undefined {
  if (own === undefined || defaults === undefined) return own ?? defaults;
  return isList(own) || isList(defaults) ? own : { ...defaults, ...own };
}

export function durationOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parsed = parseDuration(text);
  return typeof parsed === 'number' ? parsed : undefined;
}

/** Compiles the time limits of a node. */
export function timeoutsOf(timeout: string | TimeoutDefinition | undefined): Timeouts {
  const { attempt, queued, total } = typeof timeout === 'string' ? { attempt: timeout } : (timeout ?? {});
  return {
    attemptMs: durationOf(attempt) ?? null,
    queuedMs: durationOf(queued) ?? null,
    totalMs: durationOf(total) ?? null,
  };
}
