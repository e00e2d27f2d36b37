/** Compiles operators to closures. The common case of two operands has closures of its own. */
import type { Json } from '../value.ts';
import { type ExpressionError, type Span, typeError, valueError } from './expression-error.ts';
import type { Frame, Run } from './frame.ts';
import { describe, isTrue } from './kind.ts';
import { indexOfValue } from './library/sequence.ts';
import { compareText, valuesEqual } from './order.ts';
import type { ArithmeticOperator, ComparisonOperator } from './syntax.ts';

interface CompiledTerm {
  readonly operator: ArithmeticOperator;
  readonly operand: Run;
}

export function compileArithmetic(first: Run, terms: readonly CompiledTerm[], at: Span): Run {
  const [only] = terms as [CompiledTerm];
  if (terms.length === 1 && only.operator === '+') return compileAddition(first, only.operand, at);
  if (terms.length === 1) {
    const { operator, operand } = only;
    return (frame) => {
      frame.budget.spend(1);
      return applied(frame, operator, first(frame), operand(frame), at);
    };
  }
  return (frame) => {
    let value = first(frame);
    for (const { operator, operand } of terms) {
      frame.budget.spend(1);
      value = applied(frame, operator, value, operand(frame), at);
    }
    return value;
  };
}

function compileAddition(left: Run, right: Run, at: Span): Run {
  return (frame) => {
    frame.budget.spend(1);
    const a = left(frame);
    const b = right(frame);
    return typeof a === 'number' && typeof b === 'number' ? finite(a + b, at) : applied(frame, '+', a, b, at);
  };
}

function applied(frame: Frame, operator: ArithmeticOperator, a: Json, b: Json, at: Span): Json {
  if (typeof a === 'number' && typeof b === 'number') {
    switch (operator) {
      case '+':
        return finite(a + b, at);
      case '-':
        return finite(a - b, at);
      case '*':
        return finite(a * b, at);
      case '/':
        if (b === 0) throw valueError('division by zero').locate(at);
        return finite(a / b, at);
      case '%':
        if (b === 0) throw valueError('division by zero').locate(at);
        return finite(a % b, at);
    }
  }
  if (operator === '+' && typeof a === 'string' && typeof b === 'string') return joined(frame, a, b, at);
  throw invalidOperands(operator, a, b).locate(at);
}

function joined(frame: Frame, a: string, b: string, at: Span): string {
  try {
    frame.budget.allowText(a.length + b.length);
    return frame.budget.text(a + b);
  } catch (error) {
    throw (error as ExpressionError).locate(at);
  }
}

function invalidOperands(operator: ArithmeticOperator, a: Json, b: Json): ExpressionError {
  if (operator !== '+') {
    const other = typeof a === 'number' ? b : a;
    return typeError(
      `${operator} takes two numbers, not ${describe(other)}`,
      typeof other === 'string' ? 'convert text with toNumber()' : undefined,
    );
  }
  const hint =
    Array.isArray(a) && Array.isArray(b)
      ? 'join lists with .concat(list)'
      : typeof a === 'string' || typeof b === 'string'
        ? 'convert the value with toString(), or use a template {{ }}'
        : undefined;
  return typeError(`+ takes two numbers or two strings, not ${describe(a)} and ${describe(b)}`, hint);
}

function finite(value: number, at: Span): number {
  // `+ 0` turns minus zero, which JSON does not have, into zero.
  if (Number.isFinite(value)) return value + 0;
  throw valueError('the result is not a finite number, which JSON does not support').locate(at);
}

export function compileNegation(operand: Run, at: Span): Run {
  return (frame) => {
    frame.budget.spend(1);
    const value = operand(frame);
    if (typeof value === 'number') return 0 - value;
    throw typeError(`- takes a number, not ${describe(value)}`).locate(at);
  };
}

export function compileNot(operand: Run): Run {
  return (frame) => {
    frame.budget.spend(1);
    return !isTrue(operand(frame));
  };
}

export function compileComparison(operator: ComparisonOperator, left: Run, right: Run, at: Span): Run {
  switch (operator) {
    case '==':
      return compileEquality(left, right, true);
    case '!=':
      return compileEquality(left, right, false);
    case 'contains':
      return compileContains(left, right, at);
    case '<':
      return compileOrder(left, right, at, (order) => order < 0);
    case '<=':
      return compileOrder(left, right, at, (order) => order <= 0);
    case '>':
      return compileOrder(left, right, at, (order) => order > 0);
    case '>=':
      return compileOrder(left, right, at, (order) => order >= 0);
  }
}

function compileEquality(left: Run, right: Run, wanted: boolean): Run {
  return (frame) => {
    frame.budget.spend(1);
    return valuesEqual(frame.budget, left(frame), right(frame)) === wanted;
  };
}

function compileOrder(left: Run, right: Run, at: Span, holds: (order: number) => boolean): Run {
  return (frame) => {
    frame.budget.spend(1);
    const a = left(frame);
    const b = right(frame);
    // The sign of a difference is exact for all finite numbers.
    if (typeof a === 'number' && typeof b === 'number') return holds(a - b);
    if (typeof a === 'string' && typeof b === 'string') return holds(compareText(frame.budget, a, b));
    throw notOrdered(a, b).locate(at);
  };
}

function notOrdered(a: Json, b: Json): ExpressionError {
  const text = typeof a === 'string' ? a : b;
  const hint =
    a === null || b === null
      ? 'write ?? to set a default for null'
      : typeof text === 'string' && (typeof a === 'number' || typeof b === 'number')
        ? 'convert text with toNumber()'
        : undefined;
  return typeError(`only two numbers or two strings can be ordered, not ${describe(a)} and ${describe(b)}`, hint);
}

function compileContains(left: Run, right: Run, at: Span): Run {
  return (frame) => {
    frame.budget.spend(1);
    const whole = left(frame);
    const part = right(frame);
    if (Array.isArray(whole)) return indexOfValue(frame, whole, part) >= 0;
    if (typeof whole !== 'string') {
      const hint = whole === null ? 'write ?? to set a default for null' : 'for members of an object, write .has(name)';
      throw typeError(`contains works on a string or a list, not on ${describe(whole)}`, hint).locate(at);
    }
    if (typeof part !== 'string')
      throw typeError(`a string can contain only strings, not ${describe(part)}`).locate(at);
    frame.budget.spendForCharacters(whole.length);
    return whole.includes(part);
  };
}

/** `&&` and `||` return the deciding operand. */
export function compileLogic(operator: '&&' | '||', operands: readonly Run[]): Run {
  const decides = operator === '||';
  const last = operands.length - 1;
  const [first, second] = operands;
  if (operands.length === 2 && first !== undefined && second !== undefined) {
    return (frame) => {
      frame.budget.spend(1);
      const value = first(frame);
      return isTrue(value) === decides ? value : second(frame);
    };
  }
  return (frame) => {
    for (let index = 0; index < last; index++) {
      frame.budget.spend(1);
      const value = (operands[index] as Run)(frame);
      if (isTrue(value) === decides) return value;
    }
    return (operands[last] as Run)(frame);
  };
}

export function compileCoalesce(operands: readonly Run[]): Run {
  const last = operands.length - 1;
  return (frame) => {
    for (let index = 0; index < last; index++) {
      frame.budget.spend(1);
      const value = (operands[index] as Run)(frame);
      if (value !== null) return value;
    }
    return (operands[last] as Run)(frame);
  };
}

export function compileConditional(
  branches: readonly { readonly test: Run; readonly then: Run }[],
  otherwise: Run,
): Run {
  return (frame) => {
    for (const { test, then } of branches) {
      frame.budget.spend(1);
      if (isTrue(test(frame))) return then(frame);
    }
    return otherwise(frame);
  };
}
