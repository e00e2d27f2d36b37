/**
 * Compiles patterns on results and errors: `match` of edges and branches. Invalid patterns are returned as problems.
 */
import type { RunError } from '../error.ts';
import { DEFINITION_LIMITS } from '../limits.ts';
import type { DocumentPath, Problem } from '../problem.ts';
import { didYouMean } from '../problem.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject, memberOf } from '../value.ts';
import { Allowance } from './allowance.ts';
import type { Budget } from './budget.ts';
import { ExpressionError, placed, type ValueOrigin } from './expression-error.ts';
import { kindOf } from './kind.ts';
import { compareText, valuesEqual } from './order.ts';
import { compilePattern } from './regex.ts';

export interface Matcher {
  matches(value: Json, budget: Budget): boolean;
}

export interface ErrorMatcher {
  matches(error: RunError, budget: Budget): boolean;
}

/** The matcher is present unless a problem is an error. */
export interface CompiledMatcher<M> {
  readonly matcher: M | undefined;
  readonly problems: readonly Problem[];
}

/** `undefined` stands for a missing member. */
type Test = (value: Json | undefined, budget: Budget) => boolean;

const TYPES = ['null', 'boolean', 'number', 'integer', 'string', 'array', 'object'];
const ORDER_OPERATORS = ['gt', 'gte', 'lt', 'lte'];
const OPERATORS = [...ORDER_OPERATORS, 'in', 'type', 'exists', 'regex'];
const ERROR_KEYS = ['code', 'kind', 'message'] as const;
const ERROR_KINDS = ['USER', 'SYSTEM'];
/** The least cost of a pattern, however short it is. */
const PATTERN_CHARS = 32;

/** Matches equal values, objects by the members of the pattern, or operators such as `{ gt: 5 }`. */
export function compileMatcher(raw: Json, allowance?: Allowance, origin?: ValueOrigin): CompiledMatcher<Matcher> {
  const compiler = new MatcherCompiler(allowance, origin);
  const test = compiler.pattern(raw, []);
  return compiler.finish({ matches: (value, budget) => placed(() => test(value, budget), origin) });
}

/** Matches errors by code, kind and message. */
export function compileErrorMatcher(
  raw: Json,
  allowance?: Allowance,
  origin?: ValueOrigin,
): CompiledMatcher<ErrorMatcher> {
  const compiler = new MatcherCompiler(allowance, origin);
  const test = compiler.errorPattern(raw);
  return compiler.finish({ matches: (error, budget) => placed(() => test(error, budget), origin) });
}

class MatcherCompiler {
  private readonly problems: Problem[] = [];
  /** A regular expression counts by the instructions it compiles to: each takes about 2 µs. */
  private readonly allowance: Allowance;

  private readonly origin: ValueOrigin | undefined;

  constructor(allowance = new Allowance(), origin?: ValueOrigin) {
    this.allowance = allowance;
    this.origin = origin;
  }

  finish<M>(matcher: M): CompiledMatcher<M> {
    const { problems } = this;
    return { matcher: problems.some((problem) => problem.severity === 'error') ? undefined : matcher, problems };
  }

  pattern(raw: Json, path: DocumentPath): Test {
    if (typeof raw === 'string' && raw.includes('{{')) {
      this.report(
        'MATCH_EXPRESSION',
        'a pattern is literal and cannot contain an expression',
        path,
        'use when: for expressions',
      );
    }
    if (path.length >= DEFINITION_LIMITS.maxNestingDepth) {
      this.report('MATCH_INVALID', `the pattern nests deeper than ${DEFINITION_LIMITS.maxNestingDepth} levels`, path);
      return () => false;
    }
    if (Array.isArray(raw) && raw.some(hasOperators)) {
      const hint = 'to test one element, use when: with an expression; to choose from several values, { in: […] }';
      this.report('MATCH_LIST', 'a list is compared literally, including operators inside it', path, hint, 'warning');
    }
    if (!isJsonObject(raw)) return (value, budget) => value !== undefined && valuesEqual(budget, value, raw);
    if (isOperators(raw)) return this.operators(raw, path);
    return this.members(raw, path);
  }

  private members(raw: JsonObject, path: DocumentPath): Test {
    const operator = Object.keys(raw).find((key) => OPERATORS.includes(key));
    if (operator !== undefined && Object.keys(raw).length > 1) {
      this.report(
        'MATCH_MIXED',
        `${operator} is read as the name of a member here`,
        [...path, operator],
        'do not mix operators and members: { amount: { gt: 5 }, status: "ok" }',
        'warning',
      );
    }
    const tests = Object.entries(raw).map(([key, part]) => ({ key, test: this.pattern(part, [...path, key]) }));
    return (value, budget) => {
      if (value === undefined || !isJsonObject(value)) return false;
      return tests.every(({ key, test }) => test(memberOf(value, key), budget));
    };
  }

  private operators(raw: JsonObject, path: DocumentPath): Test {
    const tests = Object.entries(raw).map(([operator, operand]) =>
      this.operator(operator, operand, [...path, operator]),
    );
    return (value, budget) => tests.every((test) => test(value, budget));
  }

  private operator(operator: string, operand: Json, path: DocumentPath): Test {
    switch (operator) {
      case 'exists':
        return (value) => (value !== undefined) === operand;
      case 'type': {
        const types = isJsonList(operand) ? operand : [operand];
        return (value) => value !== undefined && types.some((type) => isOfType(value, type));
      }
      case 'in': {
        const options = isJsonList(operand) ? operand : [];
        return (value, budget) => value !== undefined && options.some((option) => valuesEqual(budget, value, option));
      }
      case 'regex': {
        const test = this.regex(String(operand), path, String(operand).length);
        return (value, budget) => typeof value === 'string' && test(value, budget);
      }
      default:
        return orderTest(operator, operand as number | string);
    }
  }

  errorPattern(raw: Json): (error: RunError, budget: Budget) => boolean {
    if (!isJsonObject(raw)) {
      this.report('MATCH_INVALID', 'an error matcher must be an object', [], 'for example { code: TIMEOUT }');
      return () => false;
    }
    const tests = Object.entries(raw).map(([key, expected]) => {
      const known = ERROR_KEYS.find((name) => name === key);
      if (known !== undefined) return { key: known, test: this.errorTest(known, expected) };
      const meant = didYouMean(key, ERROR_KEYS);
      this.report(
        'MATCH_UNKNOWN_KEY',
        `unknown key ${JSON.stringify(key)} in an error matcher`,
        [key],
        meant === undefined ? `the keys are ${ERROR_KEYS.join(', ')}` : `did you mean ${meant}?`,
      );
      return { key: 'code' as const, test: () => false };
    });
    return (error, budget) => tests.every(({ key, test }) => test(error[key], budget));
  }

  private errorTest(key: string, expected: Json): (text: string, budget: Budget) => boolean {
    const options = (isJsonList(expected) ? expected : [expected]).map((option, index) => {
      const path = Array.isArray(expected) ? [key, index] : [key];
      return this.errorOption(key, option, path);
    });
    return (text, budget) => options.some((option) => option(text, budget));
  }

  private errorOption(key: string, option: Json, path: DocumentPath): (text: string, budget: Budget) => boolean {
    if (typeof option !== 'string') {
      this.report('MATCH_INVALID', `${key} must be a string, a list of strings or /regex/`, path);
      return () => false;
    }
    const regex = /^\/(.+)\/(i?)$/s.exec(option);
    if (regex !== null) {
      return this.regex(`${regex[2] === 'i' ? '(?i)' : ''}${regex[1]}`, path, option.length);
    }
    if (key === 'kind' && !ERROR_KINDS.includes(option)) {
      const meant = didYouMean(option, ERROR_KINDS);
      this.report(
        'MATCH_INVALID',
        `unknown kind ${JSON.stringify(option)}`,
        path,
        `the kinds are ${meant ?? ERROR_KINDS.join(' and ')}`,
      );
    }
    return (text) => text === option;
  }

  /** `length`: of the text at the path, which an error of the test points at. */
  private regex(source: string, path: DocumentPath, length: number): (text: string, budget: Budget) => boolean {
    if (this.allowance.isOver) return () => false;
    const { origin } = this;
    try {
      const pattern = compilePattern(source);
      this.allowance.take(PATTERN_CHARS + pattern.programSize);
      return (text, budget) => placed(() => pattern.test(budget, text), origin, path, { offset: 0, length });
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      this.report(this.allowance.isOver ? error.code : 'MATCH_REGEX', error.message, path, error.hint);
      return () => false;
    }
  }

  private report(
    code: string,
    message: string,
    path: DocumentPath,
    hint?: string,
    severity: 'error' | 'warning' = 'error',
  ): void {
    this.problems.push({ severity, code, message, path, ...(hint === undefined ? {} : { hint }) });
  }
}

/**
 * True for operators only, each with a valid operand: `{ type: 'refund' }` is a member called type, `{ type: 'string'
 * }` is not.
 */
export function isOperators(raw: JsonObject): boolean {
  const entries = Object.entries(raw);
  return entries.length > 0 && entries.every(([operator, operand]) => isOperand(operator, operand));
}

/** Whether operators occur at any depth where a nested pattern would have them. */
function hasOperators(raw: Json): boolean {
  if (Array.isArray(raw)) return raw.some(hasOperators);
  return isJsonObject(raw) && (isOperators(raw) || Object.values(raw).some(hasOperators));
}

function isOperand(operator: string, operand: Json): boolean {
  if (ORDER_OPERATORS.includes(operator)) return typeof operand === 'number' || typeof operand === 'string';
  switch (operator) {
    case 'in':
      return Array.isArray(operand);
    case 'type':
      return (isJsonList(operand) ? operand : [operand]).every(
        (type) => typeof type === 'string' && TYPES.includes(type),
      );
    case 'exists':
      return typeof operand === 'boolean';
    case 'regex':
      return typeof operand === 'string';
    default:
      return false;
  }
}

function isOfType(value: Json, type: Json): boolean {
  return type === 'integer' ? Number.isInteger(value) : kindOf(value) === type;
}

function orderTest(operator: string, operand: number | string): Test {
  const holds = (order: number): boolean => {
    if (order === 0) return operator === 'gte' || operator === 'lte';
    return order > 0 === (operator === 'gt' || operator === 'gte');
  };
  if (typeof operand === 'number') return (value) => typeof value === 'number' && holds(value - operand);
  return (value, budget) => typeof value === 'string' && holds(compareText(budget, value, operand));
}
