/**
 * Reads the past for followers that are behind.
 *
 *  1 At most `maxReplays` pages are read at a time, and `maxPagesPerTurn` followers continue in one turn of the
 *    event loop; followers wait in order, and other work runs in between.
 *  2 A page is read and decoded once for all followers at the same position; `maxSharedPages` are kept. A page at the end of
 *    the past is shared until the reader finds new frames (`version`).
 */
import { RequestPacer } from '../http/request-pacer.ts';
import { LIVE_LIMITS } from '../limits.ts';

/** `whole`: the page never changes. `last`: more frames may follow. */
export type PageKind = 'whole' | 'last';

interface Shared<Page> {
  readonly page: Promise<Page>;
  readonly version: string | number;
  kind: PageKind | undefined;
}

export class CatchUpPages<Page> {
  readonly #pages = new Map<string, Shared<Page>>();
  readonly #waiting: (() => void)[] = [];
  readonly #turns = new RequestPacer(LIVE_LIMITS.maxPagesPerTurn);
  #running = 0;

  /** `key` names the page. */
  async read(
    key: string,
    version: string | number,
    load: () => Promise<Page>,
    kindOf: (page: Page) => PageKind,
  ): Promise<Page> {
    const page = await this.#shared(key, version, load, kindOf);
    // All followers that wait for this page continue together.
    await this.#turns.take();
    return page;
  }

  #shared(
    key: string,
    version: string | number,
    load: () => Promise<Page>,
    kindOf: (page: Page) => PageKind,
  ): Promise<Page> {
    const known = this.#pages.get(key);
    if (known !== undefined && (known.kind === 'whole' || known.version === version)) return known.page;
    const page = this.#turn(load);
    const shared: Shared<Page> = { page, version, kind: undefined };
    this.#pages.set(key, shared);
    const forget = (): void => {
      if (this.#pages.get(key) === shared) this.#pages.delete(key);
    };
    page.then((read) => {
      shared.kind = kindOf(read);
    }, forget);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > LIVE_LIMITS.maxSharedPages && oldest !== undefined) this.#pages.delete(oldest);
    return page;
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

/** Yields to the event loop. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
