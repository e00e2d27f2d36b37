/** Decides whether and when a failed attempt is retried. Pure: randomness comes in as `jitter`. */
import type { RetryPolicyFunction } from '../action.ts';
import { DURATION_LIMITS } from '../duration.ts';
import type { RunError } from '../error.ts';
import type { Budget } from '../expression/index.ts';
import type { RetryPlan, RetryRule } from '../plan/plan.ts';
import { isJsonObject, type Json, memberOf } from '../value.ts';

/** Error codes that a retry cannot fix: the same definition and input cause the same error again. */
const UNMENDABLE: ReadonlySet<string> = new Set([
  // Denied capabilities.
  'CAPABILITY_DENIED',
  // Invalid parameters.
  'INPUT_INVALID',
  'ACTION_SCHEMA_INVALID',
  'NOT_A_LIST',
  'TOO_MANY_ITEMS',
  'NESTING_TOO_DEEP',
  // Invalid outputs.
  'OUTPUT_INVALID',
  'OUTPUT_NOT_JSON',
  'OUTPUT_TOO_LARGE',
  'BAD_GRAPH',
]);

/** All expression errors share a prefix. */
const EXPRESSION = 'EXPRESSION_';

export function isUnmendable(code: string): boolean {
  return UNMENDABLE.has(code) || isExpressionError(code);
}

/** The error of an expression of the definition: it is evaluated in the same way again until the definition changes. */
export function isExpressionError(code: string): boolean {
  return code.startsWith(EXPRESSION);
}

/** A failed node and its retry history. */
export interface PastRetries {
  readonly path: string;
  /** Number of retries by the index of the rule that allowed them. */
  readonly retries: readonly number[];
  /** Attempts cut off by a crash or a lost lease. */
  readonly lost: number;
}

/**
 * Inputs that the caller draws or measures: `jitter` from 0 (inclusive) to 1 (exclusive), and the budget for patterns.
 */
export interface RetryChance {
  readonly jitter: number;
  newBudget(): Budget;
}

export type RetryDecision =
  /** `rule` is the counter that the retry increments. */
  | { readonly retry: true; readonly delayMs: number; readonly rule: number | 'lost' }
  | { readonly retry: false; readonly why: 'not-retryable' | 'budget' | 'policy' };

/** Error code of an attempt that was cut off by a crash or a lost lease. */
export const WORKER_LOST = 'WORKER_LOST';

/**
 * The rule that a retry counts against when its entry does not say: `lost` for a lost attempt, otherwise the first
 * rule.
 */
export function impliedRule({ code }: RunError): number | 'lost' {
  return code === WORKER_LOST ? 'lost' : 0;
}

/** Decides after an error: the first matching rule applies. */
export function decideRetry(plan: RetryPlan, error: RunError, past: PastRetries, chance: RetryChance): RetryDecision {
  if (isUnmendable(error.code) || isOwnLimit(error, past.path)) return { retry: false, why: 'not-retryable' };
  const index = plan.rules.findIndex((rule) => matches(rule, error, chance));
  return index < 0 ? { retry: false, why: 'not-retryable' } : decideBy(plan.rules, index, error, past, chance);
}

function decideBy(
  rules: readonly RetryRule[],
  index: number,
  error: RunError,
  past: PastRetries,
  { jitter }: RetryChance,
): RetryDecision {
  const rule = rules[index] as RetryRule;
  const k = 1 + (past.retries[index] ?? 0);
  if (k > rule.attempts - 1) return { retry: false, why: 'budget' };
  return after(delayBefore(rule, k, error, jitter), error, index);
}

/** A pattern that exhausts its budget matches nothing. */
function matches({ on }: RetryRule, error: RunError, chance: RetryChance): boolean {
  if (on === undefined || on.names.has(error.code) || on.names.has(error.kind)) return true;
  return on.patterns.some((pattern) => {
    try {
      return pattern.matches(error, chance.newBudget());
    } catch {
      return false;
    }
  });
}

/**
 * Decides after an attempt was cut off by a crash or a lost lease. That is not an error of the node, so it counts
 * against `lost`, unless a rule names WORKER_LOST. A dead worker says nothing about the work, so the first repeat has
 * no delay.
 */
export function decideRepeat(plan: RetryPlan, error: RunError, past: PastRetries, chance: RetryChance): RetryDecision {
  const index = plan.rules.findIndex(({ on }) => on?.names.has(WORKER_LOST));
  if (index >= 0) return decideBy(plan.rules, index, error, past, chance);
  if (past.lost >= plan.lost) return { retry: false, why: 'budget' };
  const [rule] = plan.rules;
  if (past.lost === 0 || rule === undefined) return { retry: true, delayMs: 0, rule: 'lost' };
  return after(delayBefore(rule, past.lost, error, chance.jitter), error, 'lost');
}

function after(delayMs: number | null, error: RunError, rule: number | 'lost'): RetryDecision {
  if (delayMs === null) return { retry: false, why: 'policy' };
  return { retry: true, delayMs: wholeDelay(Math.max(delayMs, askedDelay(error))), rule };
}

/** Rounds up to whole milliseconds within safe integers, as stores require. */
function wholeDelay(ms: number): number {
  return Math.min(Math.ceil(ms), DURATION_LIMITS.maxDurationMs);
}

const WHOLE_LIMITS: readonly (Json | undefined)[] = ['queued', 'total', 'workflow'];

/** Of a node's own time limits, only those of an attempt and of a wait leave time for another attempt. */
function isOwnLimit(error: RunError, path: string): boolean {
  if (error.code !== 'TIMEOUT' || (error.node ?? path) !== path) return false;
  return WHOLE_LIMITS.includes(detail(error, 'limit'));
}

/** Upper bound of a delay that a server requests with `Retry-After`: one hour. */
const MAX_ASKED_DELAY_MS = 3_600_000;

function askedDelay(error: RunError): number {
  const asked = detail(error, 'retryAfterMs');
  return typeof asked === 'number' && asked > 0 ? Math.min(asked, MAX_ASKED_DELAY_MS) : 0;
}

function detail(error: RunError, key: string): Json | undefined {
  return error.details !== undefined && isJsonObject(error.details) ? memberOf(error.details, key) : undefined;
}

/** Delay before retry `k`; null when a custom policy gives up. */
function delayBefore(rule: RetryRule, k: number, error: RunError, jitter: number): number | null {
  switch (rule.policy) {
    case 'fixed':
      return Math.min(rule.initialMs, rule.maxMs);
    case 'exponential':
      return exponential(rule, k);
    case 'exponential-jitter':
      return exponential(rule, k) * jitter;
    default:
      return custom(rule.policy, k, error);
  }
}

function exponential({ initialMs, maxMs, multiplier }: RetryRule, k: number): number {
  // Zero stays zero even if the power overflows: 0 × ∞ is NaN.
  return initialMs === 0 ? 0 : Math.min(maxMs, initialMs * multiplier ** (k - 1));
}

/** A policy that throws, or returns an invalid delay, gives up. */
function custom(policy: RetryPolicyFunction, k: number, error: RunError): number | null {
  try {
    const delayMs = policy(k, { code: error.code, kind: error.kind, message: error.message });
    return delayMs === null || !Number.isFinite(delayMs) ? null : Math.max(0, delayMs);
  } catch {
    return null;
  }
}
