/** Values that are the same at every evaluation, because they read nothing. */
import { type CompiledValue, createBudget, ExpressionError, isTrue, type Scope } from '../expression/index.ts';
import { EXPRESSION_LIMITS } from '../limits.ts';
import type { Json } from '../value.ts';

const NOTHING: Scope = { input: null, trigger: null, vars: {}, execution: {}, workflow: {}, node: () => undefined };

/** Returns undefined when the value depends on something, or cannot be evaluated. */
export function constantOf(value: CompiledValue | undefined): Json | undefined {
  if (value === undefined || value.references.length > 0) return undefined;
  try {
    return value.evaluate(NOTHING, createBudget(EXPRESSION_LIMITS));
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

/** Returns undefined when the condition may be true or false. */
export function constantTruth(condition: CompiledValue | undefined): boolean | undefined {
  const value = constantOf(condition);
  return value === undefined ? undefined : isTrue(value);
}
