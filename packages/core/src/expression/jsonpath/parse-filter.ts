/** Parses JSONPath filters: logical expressions, comparisons and functions, type-checked as RFC 9535 requires. */

import { clipped, didYouMean } from '../../problem.ts';
import { type Nesting, readQuoted, skipBlanks, syntaxError } from '../characters.ts';
import type { ExpressionError } from '../expression-error.ts';
import type { Comparable, FilterOperator, FilterQuery, FilterTest, Query } from './query.ts';

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const FUNCTION_NAME = /[a-z][a-z0-9_]*/y;
const OPERATORS: readonly FilterOperator[] = ['==', '!=', '<=', '>=', '<', '>'];
const FUNCTIONS = ['length', 'count', 'match', 'search', 'value'];

/** An operand, before the parser knows whether a comparison follows. */
type Operand =
  | { readonly kind: 'value'; readonly value: Comparable }
  | { readonly kind: 'query'; readonly query: FilterQuery }
  | { readonly kind: 'test'; readonly test: FilterTest };

export class FilterParser {
  private readonly text: QueryText;
  private readonly query: () => Query;

  /** `query` parses the query at the current position. */
  constructor(text: QueryText, query: () => Query) {
    this.text = text;
    this.query = query;
  }

  test(): FilterTest {
    this.text.nesting.enter(this.text.position);
    const test = this.series('||', 'or', () => this.series('&&', 'and', () => this.basic()));
    this.text.nesting.leave();
    return test;
  }

  /** Operands of one logical operator; the position is reset to before the blanks when no operator follows. */
  private series(sign: string, kind: 'or' | 'and', operand: () => FilterTest): FilterTest {
    const first = operand();
    const operands = [first];
    for (;;) {
      const before = this.text.position;
      this.text.skipBlanks();
      if (!this.text.take(sign)) {
        this.text.position = before;
        return operands.length === 1 ? first : { kind, operands };
      }
      this.text.skipBlanks();
      operands.push(operand());
    }
  }

  private basic(): FilterTest {
    const { text } = this;
    const negated = text.take('!');
    if (negated) text.skipBlanks();
    if (text.take('(')) {
      text.skipBlanks();
      const inner = this.test();
      text.skipBlanks();
      text.expect(')');
      return negated ? { kind: 'not', operand: inner } : inner;
    }
    const start = text.position;
    const left = this.operand();
    const operator = negated ? undefined : this.operator();
    if (operator !== undefined) return this.comparison(left, operator, start);
    if (left.kind === 'value') {
      throw syntaxError(
        'JSONPath: a value alone is not a test',
        start,
        text.position - start,
        'compare it with another value',
      );
    }
    const test: FilterTest = left.kind === 'test' ? left.test : { kind: 'exists', query: left.query };
    return negated ? { kind: 'not', operand: test } : test;
  }

  private comparison(left: Operand, operator: FilterOperator, start: number): FilterTest {
    this.text.skipBlanks();
    const rightStart = this.text.position;
    const right = this.operand();
    return { kind: 'compare', operator, left: this.comparable(left, start), right: this.comparable(right, rightStart) };
  }

  private operator(): FilterOperator | undefined {
    const before = this.text.position;
    this.text.skipBlanks();
    const operator = OPERATORS.find((sign) => this.text.take(sign));
    if (operator === undefined) this.text.position = before;
    return operator;
  }

  private comparable(operand: Operand, start: number): Comparable {
    if (operand.kind === 'value') return operand.value;
    if (operand.kind === 'query' && operand.query.query.singular !== undefined) {
      return { kind: 'single', query: operand.query };
    }
    const what = operand.kind === 'query' ? 'a query that may select many values' : 'a test';
    throw syntaxError(`JSONPath: ${what} cannot be used as one value`, start, this.text.position - start);
  }

  private operand(): Operand {
    const { text } = this;
    const char = text.source[text.position];
    if (char === '@' || char === '$') {
      return { kind: 'query', query: { absolute: char === '$', query: this.query() } };
    }
    if (char === '"' || char === "'") return literal(text.quoted());
    NUMBER.lastIndex = text.position;
    const digits = NUMBER.exec(text.source)?.[0];
    if (digits !== undefined) {
      text.position += digits.length;
      return literal(Number(digits));
    }
    return this.word();
  }

  private word(): Operand {
    const { text } = this;
    const start = text.position;
    FUNCTION_NAME.lastIndex = start;
    const word = FUNCTION_NAME.exec(text.source)?.[0];
    if (word === undefined) throw text.unexpected('@, $, a literal or a function');
    text.position += word.length;
    if (text.take('(')) return this.call(word, start);
    if (word === 'true') return literal(true);
    if (word === 'false') return literal(false);
    if (word === 'null') return literal(null);
    throw syntaxError(`JSONPath: unknown name ${clipped(word)}`, start, word.length, 'write members as @.name');
  }

  private call(name: string, start: number): Operand {
    this.text.nesting.enter(start);
    const args = this.callArguments();
    this.text.nesting.leave();
    const invalidCall = (expected: string) =>
      syntaxError(`JSONPath: ${name} takes ${expected}`, start, this.text.position - start);
    const [first, second] = args;
    switch (name) {
      case 'length':
        if (args.length !== 1) throw invalidCall('one value');
        return { kind: 'value', value: { kind: 'length', of: this.comparable(first as Operand, start) } };
      case 'count':
      case 'value':
        if (args.length !== 1 || first?.kind !== 'query') throw invalidCall('one query');
        return { kind: 'value', value: { kind: name, query: first.query } };
      case 'match':
      case 'search': {
        if (args.length !== 2) throw invalidCall('a string and a pattern');
        const subject = this.comparable(first as Operand, start);
        const pattern = this.comparable(second as Operand, start);
        return { kind: 'test', test: { kind: 'regex', whole: name === 'match', text: subject, pattern } };
      }
      default: {
        const meant = didYouMean(name, FUNCTIONS);
        const hint = meant === undefined ? `the functions are ${FUNCTIONS.join(', ')}` : `did you mean ${meant}?`;
        throw syntaxError(`JSONPath: there is no function ${clipped(name)}`, start, name.length, hint);
      }
    }
  }

  private callArguments(): Operand[] {
    const { text } = this;
    const args: Operand[] = [];
    text.skipBlanks();
    if (text.take(')')) return args;
    for (;;) {
      args.push(this.operand());
      text.skipBlanks();
      if (text.take(')')) return args;
      if (!text.take(',')) throw text.unexpected(', or )');
      text.skipBlanks();
    }
  }
}

function literal(value: string | number | boolean | null): Operand {
  return { kind: 'value', value: { kind: 'literal', value } };
}

/** The text of a query and the current position of the parser. */
export class QueryText {
  readonly source: string;
  readonly nesting: Nesting;
  position: number;

  constructor(source: string, nesting: Nesting, position: number) {
    this.source = source;
    this.nesting = nesting;
    this.position = position;
  }

  skipBlanks(): void {
    this.position = skipBlanks(this.source, this.position);
  }

  /** Consumes `text` if it comes next. */
  take(text: string): boolean {
    if (!this.source.startsWith(text, this.position)) return false;
    this.position += text.length;
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.unexpected(`${text}`);
  }

  unexpected(expected: string): ExpressionError {
    const found = this.source[this.position];
    const seen = found === undefined ? 'the query ends' : `there is ${JSON.stringify(found)}`;
    const hint = found === '$' || found === '(' ? 'to compute with other values use .filter(i => …)' : undefined;
    return syntaxError(`JSONPath: ${expected} expected, but ${seen}`, this.position, 1, hint);
  }

  quoted(): string {
    const { value, end } = readQuoted(this.source, this.position, true);
    this.position = end;
    return value;
  }
}
