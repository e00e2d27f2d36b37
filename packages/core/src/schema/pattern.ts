/** Patterns in schemas. Both pattern and data come from users, so matching takes linear time and is metered. */

import type { NebulaError } from '../error.ts';
import { Budget } from '../expression/budget.ts';
import { ExpressionError } from '../expression/expression-error.ts';
import { compilePattern } from '../expression/regex.ts';
import { EXPRESSION_LIMITS } from '../limits.ts';
import type { Json, JsonObject } from '../value.ts';
import type { Check, Trail } from './trail.ts';

/** One operation of the expression budget is 4,000 pattern steps: 80 µs, or this many steps of a check. */
const STEPS_PER_OPERATION = 2_000;

export interface SchemaPattern {
  /** Number of instructions of the compiled pattern. */
  readonly size: number;
  /** Text that costs more than the remaining budget does not match. */
  test(text: string, trail: Trail): boolean;
}

/** Throws when the pattern is invalid. */
export function compileSchemaPattern(source: string): SchemaPattern {
  const pattern = compilePattern(source);
  return {
    size: pattern.programSize,
    test: (text, trail) => {
      const maxOperations = Math.max(
        1,
        Math.min(EXPRESSION_LIMITS.maxOperations, trail.stepsLeft / STEPS_PER_OPERATION),
      );
      const budget = new Budget({ ...EXPRESSION_LIMITS, maxOperations }, undefined);
      try {
        return pattern.test(budget, text);
      } catch (error) {
        if (error instanceof ExpressionError) return false;
        throw error;
      } finally {
        trail.spend(1 + text.length / 100 + (maxOperations - budget.operationsLeft) * STEPS_PER_OPERATION);
      }
    },
  };
}

/** A keyword of JSON Schema: compiles its argument to a check, or to undefined when there is nothing to check. */
export type Keyword = (argument: Json, compiler: KeywordCompiler, schema: JsonObject) => Check | undefined;

export interface KeywordCompiler {
  /** Some schema depends on what other schemas have evaluated. */
  readonly tracks: boolean;
  node(schema: Json): Check;
  list(argument: Json): Check[];
  members(argument: Json): (readonly [string, Check])[];
  names(argument: Json): readonly string[];
  pattern(source: string): SchemaPattern;
  keyword(name: string, argument: Json): Check | undefined;
  /** Compiles a schema that is only tried and therefore fills no defaults. */
  guess<T>(compile: () => T): T;
  at<T>(key: string | number, compile: () => T): T;
  invalidSchema(what: string): NebulaError;
}
