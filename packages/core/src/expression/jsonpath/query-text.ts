/** The text of a query and the current position of the parser. */
import { readQuoted, skipBlanks, syntaxError } from '../characters.ts';
import type { ExpressionError } from '../expression-error.ts';
import type { Nesting } from '../nesting.ts';

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
