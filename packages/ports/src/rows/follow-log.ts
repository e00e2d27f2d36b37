/** Follows a log: reads on from the last line, and waits for an announcement when there is none. */
import type { LogFilter, StoredLogLine } from '../logs.ts';

/** Wakes everyone who waits for the next announcement. */
export class News {
  readonly #waiting = new Set<() => void>();

  announce(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves at the next announcement, or when the follower gives up. */
  next(): { readonly arrived: Promise<void>; readonly giveUp: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => {
      this.#waiting.delete(wake);
      resolve();
    };
    this.#waiting.add(wake);
    return { arrived: promise, giveUp: wake };
  }
}

/** Suspends at `read` and at `arrived` only; the signal ends both waits. */
export async function* followLines(
  filter: LogFilter,
  signal: AbortSignal,
  news: News,
  read: (filter: LogFilter) => Promise<readonly StoredLogLine[]>,
): AsyncGenerator<StoredLogLine> {
  let afterPosition = filter.afterPosition ?? 0;
  while (!signal.aborted) {
    // Subscribed before reading, so that a line written in between is not missed.
    const { arrived, giveUp } = news.next();
    signal.addEventListener('abort', giveUp);
    try {
      const lines = await read({ ...filter, afterPosition });
      for (const line of lines) {
        if (signal.aborted) return;
        yield line;
        afterPosition = line.position;
      }
      if (lines.length === 0 && !signal.aborted) await arrived;
    } finally {
      signal.removeEventListener('abort', giveUp);
      giveUp();
    }
  }
}
