/** Admits a few requests per turn of the event loop, so that a burst does not hold up everything else. */
import { HTTP_LIMITS } from '../limits.ts';

export class RequestPacer {
  readonly #waiting: (() => void)[] = [];
  #left: number = HTTP_LIMITS.maxBegunPerTurn;
  #isSet = false;

  /** Undefined: the request begins at once. */
  take(): Promise<void> | undefined {
    this.#nextLater();
    if (this.#left === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#left--;
    return undefined;
  }

  #nextLater(): void {
    if (this.#isSet) return;
    this.#isSet = true;
    setImmediate(() => this.#next());
  }

  /** Waiting requests go before new ones. */
  #next(): void {
    this.#isSet = false;
    const begun = this.#waiting.splice(0, HTTP_LIMITS.maxBegunPerTurn);
    this.#left = HTTP_LIMITS.maxBegunPerTurn - begun.length;
    if (begun.length > 0) this.#nextLater();
    for (const begin of begun) begin();
  }
}
