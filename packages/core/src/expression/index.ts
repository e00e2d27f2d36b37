/** The expression language: the parts that the rest of core uses. */
export { Allowance } from './allowance.ts';
export { type Budget, createBudget, StepBudget, stepCost } from './budget.ts';
export {
  type CompiledValue,
  type CompileOptions,
  compileCondition,
  compileValue,
  type ValueReference,
} from './compiled-value.ts';
export { type Expression, parseExpression } from './expression.ts';
export { ExpressionError, placeOf, type ValueOrigin } from './expression-error.ts';
export { foreignMeaning } from './foreign-names.ts';
export { isTrue } from './kind.ts';
export { type FunctionListing, listFunctions } from './library/registry.ts';
export {
  type CompiledMatcher,
  compileErrorMatcher,
  compileMatcher,
  type ErrorMatcher,
  isOperators,
  type Matcher,
} from './matcher.ts';
export type { Reference } from './reference.ts';
export { withFewPatterns } from './regex.ts';
export type { LoopView, NodeView, Scope } from './scope.ts';
