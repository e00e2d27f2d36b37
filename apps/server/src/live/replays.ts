/**
 * The past, for listeners that are behind.
 *
 *  1 At most `maxReplays` pages are read at a time; listeners wait for their turn, in order, and others are served in
 *    between.
 *  2 A page is read and decoded once for all who stand at the same place; `maxSharedPages` are kept.
 */
import { LIVE_LIMITS } from '../limits.ts';

export class Replays<Page> {
  readonly #pages = new Map<string, Promise<Page>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** `key` names the page; one that may grow is not to be shared. */
  async read(key: string, load: () => Promise<Page>, isWhole: (page: Page) => boolean): Promise<Page> {
    const known = this.#pages.get(key);
    if (known !== undefined) {
      await breathe();
      return await known;
    }
    const page = this.#turn(load);
    this.#pages.set(key, page);
    const forget = (): void => {
      if (this.#pages.get(key) === page) this.#pages.delete(key);
    };
    page.then((read) => isWhole(read) || forget(), forget);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > LIVE_LIMITS.maxSharedPages && oldest !== undefined) this.#pages.delete(oldest);
    return await page;
  }

  async #turn(load: () => Promise<Page>): Promise<Page> {
    if (this.#running >= LIVE_LIMITS.maxReplays) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      await breathe();
      return await load();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

/** Whatever else is under way has its turn. */
function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
