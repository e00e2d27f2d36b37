/**
 * The credentials that attempts of one process were given. An action may keep one in a global, where the action of
 * another node finds it. Therefore each is redacted in the results of every attempt.
 *
 *  1 Short values are redacted only in the attempt that got them: `admin` in the output of another node is a word, not
 *    a leak.
 *  2 At most `MAX_VALUES` are kept, the newest ones.
 */
import { Redactor } from './redaction.ts';

const MIN_CHARS = 16;
const MAX_VALUES = 1_000;

export class HandedOut {
  readonly #redactor = new Redactor();
  /** Values, the newest one last. */
  readonly #values = new Set<string>();

  /** Undefined while there is nothing to redact. */
  get redactor(): Redactor | undefined {
    return this.#values.size === 0 ? undefined : this.#redactor;
  }

  /**
   * The redactor of an attempt that was given a credential, or has texts to conceal; it includes credentials that others are given meanwhile.
   */
  forAttempt(conceal?: (text: string) => string): Redactor {
    return new Redactor(this.#redactor, conceal);
  }

  add(value: string): void {
    if (value.length < MIN_CHARS || this.#values.has(value)) return;
    this.#values.add(value);
    this.#redactor.add(value);
    if (this.#values.size > MAX_VALUES) this.#forgetOldest();
  }

  /** Drops half of them at once: rebuilding costs as much as adding all of them. */
  #forgetOldest(): void {
    const kept = [...this.#values].slice(-MAX_VALUES / 2);
    this.#values.clear();
    this.#redactor.clear();
    for (const value of kept) this.add(value);
  }
}
