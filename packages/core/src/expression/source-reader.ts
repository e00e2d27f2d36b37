/** The source as seen by the parts of the parser: tokens, positions, known names and collected references. */

import { clipped } from '../problem.ts';
import { Nesting, syntaxError } from './characters.ts';
import type { ExpressionError, Span } from './expression-error.ts';
import { Lexer } from './lexer.ts';
import type { ReferenceDraft } from './reference.ts';

export class SourceReader {
  readonly source: string;
  readonly lexer: Lexer;
  readonly nesting: Nesting;
  readonly references: ReferenceDraft[] = [];
  /** Parameters of the enclosing lambdas, innermost last. */
  private readonly locals: { readonly name: string; readonly slot: number }[] = [];
  /** Total number of lambda parameters so far. */
  slots = 0;

  constructor(source: string, offset: number, maxDepth: number) {
    this.source = source;
    this.nesting = new Nesting(maxDepth);
    this.lexer = new Lexer(source, offset);
  }

  isSign(sign: string): boolean {
    return this.lexer.kind === 'sign' && this.lexer.text === sign;
  }

  takeSign(sign: string): boolean {
    if (!this.isSign(sign)) return false;
    this.lexer.advance();
    return true;
  }

  /** Returns the end of the sign. */
  expectSign(sign: string): number {
    if (!this.isSign(sign)) throw this.unexpected(`${sign} expected`);
    const { end } = this.lexer;
    this.lexer.advance();
    return end;
  }

  unexpected(expected: string): ExpressionError {
    const { kind, start, end } = this.lexer;
    if (kind === 'end') return syntaxError(`${expected}, but the expression ends`, start, 0);
    return syntaxError(`${expected}, but there is ${clipped(this.source.slice(start, end))}`, start, end - start);
  }

  /** Declares names while `parse` runs. */
  withLocals<T>(names: readonly string[], parse: (firstSlot: number) => T): T {
    const firstSlot = this.slots;
    this.slots += names.length;
    for (const [index, name] of names.entries()) this.locals.push({ name, slot: firstSlot + index });
    const result = parse(firstSlot);
    this.locals.length -= names.length;
    return result;
  }

  slotOf(name: string): number | undefined {
    return this.locals.findLast((local) => local.name === name)?.slot;
  }

  localNames(): readonly string[] {
    return this.locals.map((local) => local.name);
  }

  /** The range from `offset` to the end of the consumed text. */
  span(offset: number): Span {
    return { offset, length: this.lexer.previousEnd - offset };
  }
}
