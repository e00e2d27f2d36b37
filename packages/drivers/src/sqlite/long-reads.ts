/**
 * Reads that take longer than the event loop may wait, on a side thread. The thread is started with the first of them. A
 * lost thread is replaced with the next call.
 */
import { explained } from './failure.ts';
import type { SideThread } from './side-thread.ts';

export class LongReads {
  readonly #path: string;
  readonly #startThread: () => SideThread;
  #thread: SideThread | undefined;
  #isClosed = false;

  constructor(path: string, startThread: () => SideThread) {
    this.#path = path;
    this.#startThread = startThread;
  }

  async call<T>(method: 'statistics' | 'search', argument: object): Promise<T> {
    if (this.#thread === undefined || this.#thread.isLost) this.#thread = this.#startThread();
    try {
      return (await this.#thread.call(method, [argument])).result as T;
    } catch (error) {
      throw explained(error, this.#path);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#thread?.close();
  }
}
