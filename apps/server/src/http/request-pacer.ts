/** Admits a few at a time per turn of the event loop, so that a burst does not hold up everything else. */
export class RequestPacer {
  readonly #perTurn: number;
  readonly #waiting: (() => void)[] = [];
  #left: number;
  #isSet = false;

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
    this.#left = perTurn;
  }

  /** Undefined: the work begins at once. */
  take(): Promise<void> | undefined {
    if (this.#left === 0) return this.next();
    this.#nextLater();
    this.#left--;
    return undefined;
  }

  /** Resolves in a later turn of the event loop, even if this one has room left. */
  next(): Promise<void> {
    this.#nextLater();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #nextLater(): void {
    if (this.#isSet) return;
    this.#isSet = true;
    setImmediate(() => this.#next());
  }

  /** Waiting work goes before new work. */
  #next(): void {
    this.#isSet = false;
    const begun = this.#waiting.splice(0, this.#perTurn);
    this.#left = this.#perTurn - begun.length;
    if (begun.length > 0) this.#nextLater();
    for (const begin of begun) begin();
  }
}
