/** Whether, and when, a failed attempt is followed by another. Pure: chance comes in as `jitter`. */
import type { RetryPolicyFunction } from '../action.ts';
import { DURATION_LIMITS } from '../duration.ts';
import type { RunError } from '../error.ts';
import type { RetryPlan } from '../plan/plan.ts';
import { isJsonObject, type Json, memberOf } from '../value.ts';

export interface FailureCount {
  /** Failures of this kind so far, the present one included. */
  readonly failures: number;
  /** From 0 up to 1, drawn by the caller. */
  readonly jitter: number;
}

export type RetryDecision =
  | { readonly retry: true; readonly delayMs: number }
  | { readonly retry: false; readonly why: 'not-retryable' | 'budget' | 'policy' };

/** Code of an attempt that was cut off by a crash or a lost lease. It is always worth another try. */
export const WORKER_LOST = 'WORKER_LOST';

export function decideRetry(plan: RetryPlan, error: RunError, count: FailureCount): RetryDecision {
  const budget = error.kind === 'USER' ? plan.attempts - 1 : plan.system;
  if (error.code !== WORKER_LOST && plan.on !== undefined && !plan.on.has(error.code)) {
    return { retry: false, why: 'not-retryable' };
  }
  if (error.code === 'TIMEOUT' && !isAttemptTimeout(error)) return { retry: false, why: 'not-retryable' };
  if (count.failures > budget) return { retry: false, why: 'budget' };
  // A worker that died says nothing about the work: the first time there is nothing to wait for.
  const k = error.code === WORKER_LOST ? count.failures - 1 : count.failures;
  if (k === 0) return { retry: true, delayMs: 0 };
  const delayMs = delayBefore(plan, k, error, count.jitter);
  if (delayMs === null) return { retry: false, why: 'policy' };
  return { retry: true, delayMs: wholeDelay(Math.max(delayMs, askedDelay(error))) };
}

/** Times are whole milliseconds and safe integers: stores keep them as such. */
function wholeDelay(ms: number): number {
  return Math.min(Math.ceil(ms), DURATION_LIMITS.maxDurationMs);
}

function isAttemptTimeout(error: RunError): boolean {
  return detail(error, 'limit') === 'attempt';
}

/** A server that says when to come back (`Retry-After`) is believed, up to an hour. */
const MAX_ASKED_DELAY_MS = 3_600_000;

function askedDelay(error: RunError): number {
  const asked = detail(error, 'retryAfterMs');
  return typeof asked === 'number' && asked > 0 ? Math.min(asked, MAX_ASKED_DELAY_MS) : 0;
}

function detail(error: RunError, key: string): Json | undefined {
  return error.details !== undefined && isJsonObject(error.details) ? memberOf(error.details, key) : undefined;
}

/** Delay before retry `k`; null when a custom policy gives up. */
function delayBefore(plan: RetryPlan, k: number, error: RunError, jitter: number): number | null {
  switch (plan.policy) {
    case 'fixed':
      return Math.min(plan.initialMs, plan.maxMs);
    case 'exponential':
      return exponential(plan, k);
    case 'exponential-jitter':
      return exponential(plan, k) * jitter;
    default:
      return custom(plan.policy, k, error);
  }
}

function exponential(plan: RetryPlan, k: number): number {
  // Nothing stays nothing, also when the power is beyond all numbers: 0 × ∞ is none.
  return plan.initialMs === 0 ? 0 : Math.min(plan.maxMs, plan.initialMs * plan.multiplier ** (k - 1));
}

/** A policy that throws, or answers with what is no delay, gives up. */
function custom(policy: RetryPolicyFunction, k: number, error: RunError): number | null {
  try {
    const delayMs = policy(k, { code: error.code, kind: error.kind, message: error.message });
    return delayMs === null || !Number.isFinite(delayMs) ? null : Math.max(0, delayMs);
  } catch {
    return null;
  }
}
