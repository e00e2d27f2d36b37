/**
 * Limits the total length of the expressions and patterns in one part of a definition, because parsing them cannot be interrupted.
 */
import { limitError } from './expression-error.ts';

/** A mistake costs more than its text: it is described, and parsing continues. */
const MISTAKE_CHARS = 100;

export class Allowance {
  readonly #max: number;
  #left: number;
  #isOver = false;

  constructor(max = Number.POSITIVE_INFINITY) {
    this.#max = max;
    this.#left = max;
  }

  /** True when the excess has been reported; nothing more is parsed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** False for definitions that were accepted before: newer limits do not apply to them. */
  get isLimited(): boolean {
    return Number.isFinite(this.#max);
  }

  get left(): number {
    return Math.max(0, this.#left);
  }

  /** Throws `EXPRESSION_LIMIT` when the allowance is exceeded. */
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
      `the expressions and patterns of one node, edge or output must not exceed ${this.#max} characters in total`,
      'split the node, or pass the data as input',
    );
  }
}
