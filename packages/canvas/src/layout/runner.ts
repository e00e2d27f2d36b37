/** Computes small layouts at once and large ones in a worker. Of several requests only the newest counts. */
import { type LayoutInput, type LayoutResult, layout } from './layout.ts';

/** A layout of this many nodes takes a few milliseconds. */
const AT_ONCE_MAX = 300;

export class LayoutRunner {
  readonly #workerUrl: () => string | URL;
  #worker: Worker | undefined;
  #newest = 0;

  /** `workerUrl` is asked when a worker is needed: a page may set the address after the element exists. */
  constructor(workerUrl: () => string | URL) {
    this.#workerUrl = workerUrl;
  }

  /** `done` is not called if another request came meanwhile. */
  run(input: LayoutInput, done: (result: LayoutResult) => void): void {
    const id = ++this.#newest;
    if (input.parent.length <= AT_ONCE_MAX) {
      done(layout(input));
      return;
    }
    this.#worker ??= new Worker(this.#workerUrl(), { type: 'module' });
    const worker = this.#worker;
    worker.onmessage = ({ data }: MessageEvent<{ readonly id: number; readonly result: LayoutResult }>) => {
      if (data.id === this.#newest) done(data.result);
    };
    worker.onerror = () => {
      // The script of the worker is missing or not allowed: the page computes the layout itself.
      if (id === this.#newest) done(layout(input));
    };
    worker.postMessage({ id, input });
  }

  close(): void {
    this.#newest++;
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}
