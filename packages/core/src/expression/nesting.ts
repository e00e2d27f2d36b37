/** Counts the nesting depth of the parsers, so that hostile text ends in an error instead of a stack overflow. */
import { ExpressionError } from './expression-error.ts';

export class Nesting {
  private readonly limit: number;
  private level = 0;
  deepest = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  enter(offset: number): void {
    this.level++;
    if (this.level > this.deepest) this.deepest = this.level;
    if (this.level <= this.limit) return;
    throw new ExpressionError('EXPRESSION_LIMIT', `the expression nests deeper than ${this.limit} levels`, {
      at: { offset, length: 1 },
      hint: 'split it over several nodes or variables',
    });
  }

  leave(): void {
    this.level--;
  }
}
