/**
 * A thread with its own connection, seen from the main thread.
 *
 *  1. Calls are answered in order, one answer each.
 *  2. The thread keeps the process alive only while it owes an answer.
 *  3. When the thread is lost, every open and later call is refused with `THREAD_LOST`.
 */
import { Worker } from 'node:worker_threads';
import type { ConnectionOptions } from './connection.ts';

export interface Call {
  readonly method: string;
  readonly args: readonly unknown[];
}

export type Answer =
  | { readonly ok: true; readonly result: unknown; readonly commitMs: number }
  | { readonly ok: false; readonly code: string; readonly message: string };

interface Open {
  readonly resolve: (answer: { readonly result: unknown; readonly commitMs: number }) => void;
  readonly reject: (error: Error) => void;
}

/** An error that crossed the border between threads. */
class ThreadError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export class SideThread {
  readonly #worker: Worker;
  readonly #open: Open[] = [];
  readonly #ended: Promise<void>;
  #lost: ThreadError | undefined;

  constructor(file: URL, options: ConnectionOptions) {
    // In a build, the thread's file ends as this one does.
    const built = import.meta.url.endsWith('.js') ? new URL(file.href.replace(/\.ts$/, '.js')) : file;
    this.#worker = new Worker(built, { workerData: options, execArgv: [], env: {} });
    this.#worker.unref();
    this.#worker.on('message', (answer: Answer) => this.#answered(answer));
    this.#worker.on('error', (error) => this.#lose(error));
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#lose(new Error('it ended'));
        resolve();
      });
    });
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  call(method: string, args: readonly unknown[]): Promise<{ readonly result: unknown; readonly commitMs: number }> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    return new Promise((resolve, reject) => {
      this.#open.push({ resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage({ method, args } satisfies Call);
    });
  }

  /** After the answers that are owed. */
  async close(): Promise<void> {
    if (this.#lost === undefined) {
      this.#worker.ref();
      this.#worker.postMessage({ method: 'close', args: [] } satisfies Call);
    }
    await this.#ended;
  }

  #answered(answer: Answer): void {
    const open = this.#open.shift();
    if (this.#open.length === 0) this.#worker.unref();
    if (answer.ok) open?.resolve(answer);
    else open?.reject(new ThreadError(answer.code, answer.message));
  }

  #lose(cause: Error): void {
    const code = (cause as { readonly code?: unknown }).code;
    this.#lost ??= new ThreadError(
      typeof code === 'string' ? code : 'THREAD_LOST',
      `A side thread was lost: ${cause.message}`,
    );
    for (const open of this.#open.splice(0)) open.reject(this.#lost);
  }
}
