/** Parser of RFC 9535, section 2. Alone it takes a whole text; inside an expression it goes as far as a query goes. */
import { isNameStart, nameEnd, readQuoted, skipBlanks, syntaxError } from '../characters.ts';
import { ExpressionError } from '../expression-error.ts';
import type { Nesting } from '../nesting.ts';
import { FilterParser } from './parse-filter.ts';
import { type Query, type Segment, type Selector, singularPrefix } from './query.ts';

/** Integers that JSON carries exactly between implementations (I-JSON). */
const MAX_INDEX = Number.MAX_SAFE_INTEGER;
const INTEGER = /0|-?[1-9][0-9]*/y;

/** Parses a text that is one query and nothing else. */
export function parseQuery(source: string, nesting: Nesting): Query {
  if (source[0] !== '$') throw syntaxError('a query starts with $', 0, 1);
  const parser = new QueryParser(source, nesting, false);
  const query = parser.query(0);
  if (parser.position < source.length) throw parser.unexpected('the end');
  return query;
}

/** Parses the query whose `$` is at `offset`; it ends where the expression around it goes on. */
export function parseEmbeddedQuery(source: string, offset: number, nesting: Nesting): Query {
  return new QueryParser(source, nesting, true).query(offset);
}

export class QueryParser {
  readonly source: string;
  readonly nesting: Nesting;
  position = 0;
  private readonly embedded: boolean;

  constructor(source: string, nesting: Nesting, embedded: boolean) {
    this.source = source;
    this.nesting = nesting;
    this.embedded = embedded;
  }

  /** `offset` is that of the `$` or `@`. */
  query(offset: number): Query {
    this.position = offset + 1;
    const segments: Segment[] = [];
    for (let segment = this.segment(); segment !== undefined; segment = this.segment()) segments.push(segment);
    const path = singularPrefix(segments);
    return {
      segments,
      singular: path.length === segments.length ? path : undefined,
      offset,
      length: this.position - offset,
    };
  }

  /** The query at the position, inside a filter, where there are no methods and no computed indexes. */
  innerQuery(): Query {
    const inner = new QueryParser(this.source, this.nesting, false);
    const query = inner.query(this.position);
    this.position = inner.position;
    return query;
  }

  skipBlanks(): void {
    this.position = skipBlanks(this.source, this.position);
  }

  /** Takes `text` if it comes next. */
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
    const seen = found === undefined ? 'the text ends' : `there is ${JSON.stringify(found)}`;
    const hint = found === '$' || found === '(' ? 'to compute with other values use .filter(i => …)' : undefined;
    return syntaxError(`JSONPath: ${expected} expected, but ${seen}`, this.position, 1, hint);
  }

  /** The next segment, or undefined (with the position unchanged) where the query ends. */
  private segment(): Segment | undefined {
    const before = this.position;
    const offset = skipBlanks(this.source, before);
    const char = this.source[offset];
    if (char === '.') {
      const descendant = this.source[offset + 1] === '.';
      this.position = offset + (descendant ? 2 : 1);
      if (this.embedded && !descendant && this.isCall()) {
        this.position = before;
        return undefined;
      }
      const selectors = descendant && this.source[this.position] === '[' ? this.brackets() : [this.shorthand()];
      return { descendant, selectors, offset, length: this.position - offset };
    }
    if (char !== '[') return undefined;
    this.position = offset;
    const selectors = this.embedded ? this.bracketsOrIndex() : this.brackets();
    if (selectors === undefined) {
      this.position = before;
      return undefined;
    }
    return { descendant: false, selectors, offset, length: this.position - offset };
  }

  /** `.name(` is a method of the expression language, not a member. */
  private isCall(): boolean {
    if (!isNameStart(this.source.charCodeAt(this.position))) return false;
    return this.source[skipBlanks(this.source, nameEnd(this.source, this.position))] === '(';
  }

  private shorthand(): Selector {
    if (this.take('*')) return { kind: 'wildcard' };
    if (!isNameStart(this.source.charCodeAt(this.position))) throw this.unexpected('a name');
    const start = this.position;
    this.position = nameEnd(this.source, start);
    return { kind: 'name', name: this.source.slice(start, this.position) };
  }

  /** In an expression a bracket may also be an index such as `[$index]` or `['a' + i]`. */
  private bracketsOrIndex(): readonly Selector[] | undefined {
    const first = this.source[skipBlanks(this.source, this.position + 1)];
    try {
      return this.brackets();
    } catch (error) {
      const onlyJsonPath = first === '?' || first === '*' || first === ':';
      if (onlyJsonPath || !(error instanceof ExpressionError) || error.code === 'EXPRESSION_LIMIT') throw error;
      return undefined;
    }
  }

  private brackets(): readonly Selector[] {
    this.expect('[');
    const selectors: Selector[] = [];
    do {
      this.skipBlanks();
      selectors.push(this.selector());
      this.skipBlanks();
    } while (this.take(','));
    this.expect(']');
    return selectors;
  }

  private selector(): Selector {
    const char = this.source[this.position];
    if (char === '"' || char === "'") return { kind: 'name', name: this.quoted() };
    if (this.take('*')) return { kind: 'wildcard' };
    if (this.take('?')) {
      this.skipBlanks();
      return { kind: 'filter', test: new FilterParser(this).test() };
    }
    const start = this.integer();
    const afterStart = this.position;
    this.skipBlanks();
    if (this.take(':')) return this.slice(start);
    this.position = afterStart;
    if (start === undefined) throw this.unexpected('a name in quotes, an index, a slice, * or a filter ?');
    return { kind: 'index', index: start };
  }

  private slice(start: number | undefined): Selector {
    this.skipBlanks();
    const end = this.integer();
    if (end !== undefined) this.skipBlanks();
    let step: number | undefined;
    if (this.take(':')) {
      const afterColon = this.position;
      this.skipBlanks();
      step = this.integer();
      if (step === undefined) this.position = afterColon;
    }
    return { kind: 'slice', start, end, step: step ?? 1 };
  }

  quoted(): string {
    const { value, end } = readQuoted(this.source, this.position, true);
    this.position = end;
    return value;
  }

  private integer(): number | undefined {
    INTEGER.lastIndex = this.position;
    const digits = INTEGER.exec(this.source)?.[0];
    if (digits === undefined) return undefined;
    const value = Number(digits);
    if (Math.abs(value) > MAX_INDEX) {
      throw syntaxError('the index is beyond what JSON counts exactly', this.position, digits.length);
    }
    this.position += digits.length;
    return value;
  }
}
