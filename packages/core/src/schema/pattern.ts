/** Patterns in schemas come from users and meet data from users, so they run in linear time and on a budget. */
import { Budget } from '../expression/budget.ts';
import { ExpressionError } from '../expression/expression-error.ts';
import { compilePattern } from '../expression/regex.ts';
import { EXPRESSION_LIMITS } from '../limits.ts';

/** Throws when the pattern is none; text that costs more than the budget does not match. */
export function compilePatternTest(source: string): (text: string) => boolean {
  const pattern = compilePattern(source);
  return (text) => {
    try {
      return pattern.test(new Budget(EXPRESSION_LIMITS, undefined), text);
    } catch (error) {
      if (error instanceof ExpressionError) return false;
      throw error;
    }
  };
}
