/**
 * Parses RFC 9535, section 2. A standalone query takes the whole text; inside an expression, parsing stops where the
 * query ends.
 */

import { isNameStart, type Nesting, nameEnd, skipBlanks, syntaxError } from '../characters.ts';
import { ExpressionError } from '../expression-error.ts';
import { FilterParser, QueryText } from './parse-filter.ts';
import { type Query, type Segment, type Selector, singularPrefix } from './query.ts';

/** The range of integers that JSON implementations exchange exactly (I-JSON). */
const MAX_INDEX = Number.MAX_SAFE_INTEGER;
const INTEGER = /0|-?[1-9][0-9]*/y;

/** Parses a text that consists of one query. */
export function parseQuery(source: string, nesting: Nesting): Query {
  if (source[0] !== '$') throw syntaxError('a query starts with $', 0, 1);
  const text = new QueryText(source, nesting, 0);
  const query = new QueryParser(text, false).query();
  if (text.position < source.length) throw text.unexpected('the end');
  return query;
}

/** Parses the query whose `$` is at `offset`, up to where the surrounding expression continues. */
export function parseEmbeddedQuery(source: string, offset: number, nesting: Nesting): Query {
  return new QueryParser(new QueryText(source, nesting, offset), true).query();
}

class QueryParser {
  private readonly text: QueryText;
  private readonly embedded: boolean;

  constructor(text: QueryText, embedded: boolean) {
    this.text = text;
    this.embedded = embedded;
  }

  /** Expects the current position to be at `$` or `@`. */
  query(): Query {
    const offset = this.text.position++;
    const segments: Segment[] = [];
    for (let segment = this.segment(); segment !== undefined; segment = this.segment()) segments.push(segment);
    const path = singularPrefix(segments);
    return {
      segments,
      singular: path.length === segments.length ? path : undefined,
      offset,
      length: this.text.position - offset,
    };
  }

  /** Returns the next segment, or undefined, with the position unchanged, at the end of the query. */
  private segment(): Segment | undefined {
    const before = this.text.position;
    const offset = skipBlanks(this.text.source, before);
    const char = this.text.source[offset];
    if (char === '.') {
      const descendant = this.text.source[offset + 1] === '.';
      this.text.position = offset + (descendant ? 2 : 1);
      if (this.embedded && !descendant && this.isCall()) {
        this.text.position = before;
        return undefined;
      }
      const selectors =
        descendant && this.text.source[this.text.position] === '[' ? this.brackets() : [this.shorthand()];
      return { descendant, selectors, offset, length: this.text.position - offset };
    }
    if (char !== '[') return undefined;
    this.text.position = offset;
    const selectors = this.embedded ? this.bracketsOrIndex() : this.brackets();
    if (selectors === undefined) {
      this.text.position = before;
      return undefined;
    }
    return { descendant: false, selectors, offset, length: this.text.position - offset };
  }

  /** `.name(` is a method of the expression language, not a member. */
  private isCall(): boolean {
    if (!isNameStart(this.text.source.charCodeAt(this.text.position))) return false;
    return this.text.source[skipBlanks(this.text.source, nameEnd(this.text.source, this.text.position))] === '(';
  }

  private shorthand(): Selector {
    if (this.text.take('*')) return { kind: 'wildcard' };
    if (!isNameStart(this.text.source.charCodeAt(this.text.position))) throw this.text.unexpected('a name');
    const start = this.text.position;
    this.text.position = nameEnd(this.text.source, start);
    return { kind: 'name', name: this.text.source.slice(start, this.text.position) };
  }

  /** In an expression, a bracket may also be a computed index such as `[$index]` or `['a' + i]`. */
  private bracketsOrIndex(): readonly Selector[] | undefined {
    const first = this.text.source[skipBlanks(this.text.source, this.text.position + 1)];
    try {
      return this.brackets();
    } catch (error) {
      const onlyJsonPath = first === '?' || first === '*' || first === ':';
      if (onlyJsonPath || !(error instanceof ExpressionError) || error.code === 'EXPRESSION_LIMIT') throw error;
      return undefined;
    }
  }

  private brackets(): readonly Selector[] {
    this.text.expect('[');
    const selectors: Selector[] = [];
    do {
      this.text.skipBlanks();
      selectors.push(this.selector());
      this.text.skipBlanks();
    } while (this.text.take(','));
    this.text.expect(']');
    return selectors;
  }

  private selector(): Selector {
    const char = this.text.source[this.text.position];
    if (char === '"' || char === "'") return { kind: 'name', name: this.text.quoted() };
    if (this.text.take('*')) return { kind: 'wildcard' };
    if (this.text.take('?')) {
      this.text.skipBlanks();
      // Filters have no methods and no computed indexes.
      const inner = new QueryParser(this.text, false);
      return { kind: 'filter', test: new FilterParser(this.text, () => inner.query()).test() };
    }
    const start = this.integer();
    const afterStart = this.text.position;
    this.text.skipBlanks();
    if (this.text.take(':')) return this.slice(start);
    this.text.position = afterStart;
    if (start === undefined) throw this.text.unexpected('a name in quotes, an index, a slice, * or a filter ?');
    return { kind: 'index', index: start };
  }

  private slice(start: number | undefined): Selector {
    this.text.skipBlanks();
    const end = this.integer();
    if (end !== undefined) this.text.skipBlanks();
    let step: number | undefined;
    if (this.text.take(':')) {
      const afterColon = this.text.position;
      this.text.skipBlanks();
      step = this.integer();
      if (step === undefined) this.text.position = afterColon;
    }
    return { kind: 'slice', start, end, step: step ?? 1 };
  }

  private integer(): number | undefined {
    INTEGER.lastIndex = this.text.position;
    const digits = INTEGER.exec(this.text.source)?.[0];
    if (digits === undefined) return undefined;
    const value = Number(digits);
    if (Math.abs(value) > MAX_INDEX) {
      throw syntaxError('the index is too large to be exact in JSON', this.text.position, digits.length);
    }
    this.text.position += digits.length;
    return value;
  }
}
