/**
 * A thread with its own connection, seen from the main thread.
 *
 *  1. Calls are answered in order, one answer each. The first call opens the connection, the last one closes it.
 *  2. The thread keeps the process alive only while it owes an answer.
 *  3. When the thread is lost, every open and later call is rejected with `THREAD_LOST`.
 *  4. A thread whose connection was closed waits idle for the next store of this process. Starting a thread costs 30 ms
 *     (seconds on a busy machine), and V8 can abort the process when threads that compile code come and go by the hundred (nodejs/node#64500).
 *  5. A thread ends by itself, between two calls, with its connection closed. It is never terminated: that can abort the
 *     process while SQLite runs (WiseLibs/better-sqlite3#1507), and leaves the connection to the teardown of the thread.
 *  6. `close` resolves when the thread has closed its connection or has ended: nothing of it touches the files afterwards.
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

class ThreadError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Threads without a connection, by file. */
const idle = new Map<string, Worker[]>();
const MAX_IDLE = 2;

function takeThread(file: URL): Worker {
  const worker = idle.get(file.href)?.pop() ?? new Worker(file, { execArgv: [], env: {} });
  worker.unref();
  return worker;
}

/** Keeps a thread for the next store, or ends it when enough wait. */
async function leaveThread(file: URL, worker: Worker): Promise<void> {
  const threads = idle.get(file.href) ?? [];
  idle.set(file.href, threads);
  worker.removeAllListeners();
  // An idle thread that fails is no failure of a store.
  worker.on('error', () => {});
  if (threads.length >= MAX_IDLE) return endThread(worker);
  worker.on('exit', () => {
    const at = threads.indexOf(worker);
    if (at !== -1) threads.splice(at, 1);
  });
  threads.push(worker);
}

function endThread(worker: Worker): Promise<void> {
  if (worker.threadId === ENDED) return Promise.resolve();
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    // The process must not end while a caller waits for this.
    worker.ref();
    worker.postMessage({ method: 'end', args: [] } satisfies Call);
  });
}

/** The id of a worker whose thread has ended. */
const ENDED = -1;

export class SideThread {
  readonly #file: URL;
  readonly #worker: Worker;
  readonly #open: Open[] = [];
  #isOpen = false;
  #lost: ThreadError | undefined;
  #ended: Promise<void> | undefined;

  constructor(file: URL, options: ConnectionOptions) {
    this.#file = file;
    this.#worker = takeThread(file);
    this.#worker.removeAllListeners();
    this.#worker.on('message', (answer: Answer) => this.#answered(answer));
    this.#worker.on('error', (error) => this.#lose(error));
    this.#worker.on('exit', () => this.#lose(new Error('it ended')));
    this.call('open', [options]).then(
      () => {
        this.#isOpen = true;
      },
      (error: Error) => this.#lose(error),
    );
  }

  /** The thread has opened its connection: calls no longer wait for its start. */
  get isOpen(): boolean {
    return this.#isOpen;
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

  /** Closes the connection after the answers that are owed. */
  async close(): Promise<void> {
    if (this.#lost !== undefined) return this.#ended;
    try {
      await this.call('close', []);
    } catch {
      return this.#ended;
    }
    this.#lost = new ThreadError('THREAD_LOST', 'The store was closed.');
    await leaveThread(this.#file, this.#worker);
  }

  #answered(answer: Answer): void {
    const open = this.#open.shift();
    if (this.#open.length === 0) this.#worker.unref();
    if (answer.ok) open?.resolve(answer);
    else open?.reject(new ThreadError(answer.code, answer.message));
  }

  #lose(cause: Error): void {
    if (this.#lost !== undefined) return;
    const code = (cause as { readonly code?: unknown }).code;
    this.#lost = new ThreadError(
      typeof code === 'string' ? code : 'THREAD_LOST',
      `A side thread was lost: ${cause.message}`,
    );
    for (const open of this.#open.splice(0)) open.reject(this.#lost);
    this.#ended = endThread(this.#worker);
  }
}
