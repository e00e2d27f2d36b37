/**
 * The page's side of the worker.
 *
 *  1 A request supersedes an earlier one of the same kind: that one is cancelled, and its promise gives undefined.
 *  2 Checks wait until the text has been left alone for 80 ms.
 */
import type { FromWorker, LanguageAnswers, LanguageRequest, LanguageSetting, ToWorker } from './messages.ts';

const CHECK_DELAY_MS = 80;

/** The part of a Worker that is used. */
export interface Port {
  postMessage(message: ToWorker): void;
  addEventListener(type: 'message', listener: (event: { readonly data: FromWorker }) => void): void;
  terminate(): void;
}

type Kind = keyof LanguageAnswers;

interface Open {
  readonly id: number;
  resolve(answer: unknown): void;
}

export class LanguageClient {
  readonly #port: Port;
  readonly #open = new Map<Kind, Open>();
  #count = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abandon: (() => void) | undefined;

  constructor(port: Port) {
    this.#port = port;
    port.addEventListener('message', ({ data }) => {
      for (const [kind, { id, resolve }] of this.#open) {
        if (id !== data.id) continue;
        this.#open.delete(kind);
        resolve(data.type === 'answer' ? data.answer : undefined);
      }
    });
  }

  set(setting: LanguageSetting): void {
    this.#port.postMessage({ type: 'setting', setting });
  }

  /** Undefined: a later request superseded it, or it failed. */
  ask<K extends Kind>(request: Extract<LanguageRequest, { kind: K }>): Promise<LanguageAnswers[K] | undefined> {
    const before = this.#open.get(request.kind);
    if (before !== undefined) {
      this.#port.postMessage({ type: 'cancel', id: before.id });
      before.resolve(undefined);
    }
    const id = ++this.#count;
    return new Promise((resolve) => {
      this.#open.set(request.kind, { id, resolve: resolve as (answer: unknown) => void });
      this.#port.postMessage({ type: 'request', id, request });
    });
  }

  /** Checks the text once it has been left alone. */
  check(text: string): Promise<LanguageAnswers['check'] | undefined> {
    clearTimeout(this.#timer);
    this.#abandon?.();
    return new Promise((resolve) => {
      this.#abandon = () => resolve(undefined);
      this.#timer = setTimeout(() => {
        this.#abandon = undefined;
        void this.ask<'check'>({ kind: 'check', text }).then(resolve);
      }, CHECK_DELAY_MS);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#abandon?.();
    for (const { resolve } of this.#open.values()) resolve(undefined);
    this.#open.clear();
    this.#port.terminate();
  }
}

export function openLanguage(): LanguageClient {
  return new LanguageClient(
    new Worker(new URL('./language-worker.ts', import.meta.url), { type: 'module', name: 'language' }),
  );
}
