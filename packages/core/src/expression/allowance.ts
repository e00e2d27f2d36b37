/** How many characters of expressions one part of a definition may still have: parsing them is work in one piece. */
import { limitError } from './expression-error.ts';

/** A mistake costs more than the text that it stands in: it is described, and parsing goes on. */
const MISTAKE_CHARS = 100;

export class Allowance {
  readonly #max: number;
  #left: number;
  #isOver = false;

  constructor(max = Number.POSITIVE_INFINITY) {
    this.#max = max;
    this.#left = max;
  }

  /** The excess has been reported: nothing more is parsed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get left(): number {
    return Math.max(0, this.#left);
  }

  /** Throws `EXPRESSION_LIMIT`. */
  take(chars: number): void {
    if (chars > this.#left) this.refuse();
    this.#left -= chars;
  }

  takeMistake(): void {
    this.#left -= MISTAKE_CHARS;
  }

  refuse(): never {
    this.#isOver = true;
    throw limitError(
      `the expressions of one node, one edge or one output have at most ${this.#max} characters together`,
      'divide it into several nodes, or hand the data over as an input',
    );
  }
}
