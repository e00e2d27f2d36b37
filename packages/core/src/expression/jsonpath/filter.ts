/** Runs filters: one test per child, with comparisons that never fail (RFC 9535, 2.3.5.2.2). */
import type { Json } from '../../value.ts';
import { ExpressionError } from '../expression-error.ts';
import { compareText, valuesEqual } from '../order.ts';
import { compilePattern, type Pattern, patternAtRun } from '../regex.ts';
import {
  type Comparable,
  type CompileSegments,
  type FilterOperator,
  type FilterQuery,
  type FilterTest,
  type QueryContext,
  readSingular,
  type Selection,
} from './query.ts';

export type Test = (context: QueryContext, current: Json) => boolean;
/** `undefined` is the Nothing of RFC 9535: no value at all, unlike null. */
type Operand = (context: QueryContext, current: Json) => Json | undefined;

export function compileFilter(test: FilterTest, segments: CompileSegments): Test {
  const run = compileTest(test, segments);
  return (context, current) => {
    context.budget.spend(1);
    return run(context, current);
  };
}

function compileTest(test: FilterTest, segments: CompileSegments): Test {
  switch (test.kind) {
    case 'or': {
      const operands = test.operands.map((operand) => compileFilter(operand, segments));
      return (context, current) => operands.some((operand) => operand(context, current));
    }
    case 'and': {
      const operands = test.operands.map((operand) => compileFilter(operand, segments));
      return (context, current) => operands.every((operand) => operand(context, current));
    }
    case 'not': {
      const operand = compileFilter(test.operand, segments);
      return (context, current) => !operand(context, current);
    }
    case 'compare':
      return compileComparison(
        test.operator,
        compileOperand(test.left, segments),
        compileOperand(test.right, segments),
      );
    case 'exists':
      return compileExists(test.query, segments);
    case 'regex':
      return compileRegex(test.whole, test.text, test.pattern, segments);
  }
}

function compileExists({ absolute, query }: FilterQuery, segments: CompileSegments): Test {
  const { singular } = query;
  if (singular !== undefined) {
    return (context, current) => readSingular(absolute ? context.root : current, singular) !== undefined;
  }
  const select = segments(query.segments);
  return (context, current) => select(context, absolute ? context.root : current).length > 0;
}

function compileComparison(operator: FilterOperator, left: Operand, right: Operand): Test {
  const equal: Test = (context, current) => {
    const a = left(context, current);
    const b = right(context, current);
    return a === undefined || b === undefined ? a === b : valuesEqual(context.budget, a, b);
  };
  const less = (first: Operand, second: Operand): Test => {
    return (context, current) => {
      const a = first(context, current);
      const b = second(context, current);
      if (typeof a === 'number' && typeof b === 'number') return a < b;
      return typeof a === 'string' && typeof b === 'string' && compareText(context.budget, a, b) < 0;
    };
  };
  const either = (first: Test, second: Test): Test => {
    return (context, current) => first(context, current) || second(context, current);
  };
  switch (operator) {
    case '==':
      return equal;
    case '!=':
      return (context, current) => !equal(context, current);
    case '<':
      return less(left, right);
    case '>':
      return less(right, left);
    case '<=':
      return either(less(left, right), equal);
    case '>=':
      return either(less(right, left), equal);
  }
}

function compileOperand(comparable: Comparable, segments: CompileSegments): Operand {
  switch (comparable.kind) {
    case 'literal': {
      const { value } = comparable;
      return () => value;
    }
    case 'single': {
      const { absolute, query } = comparable.query;
      const path = query.singular as readonly (string | number)[];
      return (context, current) => readSingular(absolute ? context.root : current, path);
    }
    case 'length': {
      const of = compileOperand(comparable.of, segments);
      return (context, current) => lengthOf(context, of(context, current));
    }
    case 'count': {
      const select = compileFilterQuery(comparable.query, segments);
      return (context, current) => select(context, current).length;
    }
    case 'value': {
      const select = compileFilterQuery(comparable.query, segments);
      return (context, current) => {
        const values = select(context, current);
        return values.length === 1 ? values[0] : undefined;
      };
    }
  }
}

function compileFilterQuery({ absolute, query }: FilterQuery, segments: CompileSegments): Selection {
  const select = segments(query.segments);
  return (context, current) => select(context, absolute ? context.root : current);
}

/** Counts code points (RFC 9535, 2.4.4), unlike `.length` in the expression language. */
function lengthOf(context: QueryContext, value: Json | undefined): number | undefined {
  if (typeof value === 'string') {
    context.budget.spendForCharacters(value.length);
    let length = 0;
    for (let index = 0; index < value.length; index++) {
      if ((value.codePointAt(index) ?? 0) > 0xffff) index++;
      length++;
    }
    return length;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

function compileRegex(whole: boolean, text: Comparable, pattern: Comparable, segments: CompileSegments): Test {
  const subject = compileOperand(text, segments);
  const source = compileOperand(pattern, segments);
  const run = (context: QueryContext, compiled: Pattern | undefined, value: string): boolean => {
    if (compiled === undefined) return false;
    return whole ? compiled.testWhole(context.budget, value) : compiled.test(context.budget, value);
  };
  if (pattern.kind === 'literal') {
    const compiled = typeof pattern.value === 'string' ? patternOrNothing(pattern.value, compilePattern) : undefined;
    return (context, current) => {
      const value = subject(context, current);
      return typeof value === 'string' && run(context, compiled, value);
    };
  }
  return (context, current) => {
    const value = subject(context, current);
    const given = source(context, current);
    if (typeof value !== 'string' || typeof given !== 'string') return false;
    return run(
      context,
      patternOrNothing(given, (iRegexp) => patternAtRun(context.budget, iRegexp)),
      value,
    );
  };
}

/** A pattern that is not an I-Regexp matches nothing (RFC 9535, 2.4.6); limits are still errors. */
function patternOrNothing(source: string, compile: (source: string) => Pattern): Pattern | undefined {
  try {
    return compile(fromIRegexp(source));
  } catch (error) {
    if (error instanceof ExpressionError && error.code === 'EXPRESSION_VALUE') return undefined;
    throw error;
  }
}

/**
 * In I-Regexp (RFC 9485), a dot outside a class matches neither line feed nor carriage return; RE2 excludes only the
 * former.
 */
function fromIRegexp(source: string): string {
  let result = '';
  let inClass = false;
  for (let index = 0; index < source.length; index++) {
    const char = source.charAt(index);
    if (char === '\\') {
      result += source.slice(index, index + 2);
      index++;
      continue;
    }
    if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    result += char === '.' && !inClass ? '[^\\n\\r]' : char;
  }
  return result;
}
