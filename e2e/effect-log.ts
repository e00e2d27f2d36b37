/**
 * The effects of actions, recorded on disk, outside of the engine.
 *
 * One `write` per line, and a length that divides the size of a page: a kill cannot cut a line in two, because the
 * kernel looks for it only between pages.
 */
import { existsSync, openSync, readFileSync, writeSync } from 'node:fs';

const LINE_BYTES = 256;

export interface EffectLine {
  /** `begin`: the action was called. `done`: it took effect. `failed`: it said no. */
  readonly what: 'begin' | 'done' | 'failed';
  readonly executionId: string;
  readonly node: string;
  readonly attempt: number;
  readonly key: string;
  /** Which life of the worker it was, counted from 1. */
  readonly life: number;
}

export class EffectLog {
  readonly #file: string;
  #handle: number | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  append(line: EffectLine): void {
    this.#handle ??= openSync(this.#file, 'a');
    const text = `${JSON.stringify(line).padEnd(LINE_BYTES - 1)}\n`;
    if (text.length !== LINE_BYTES || writeSync(this.#handle, text) !== LINE_BYTES)
      throw new Error(`not whole: ${text}`);
  }

  read(): EffectLine[] {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as EffectLine);
  }

  has(what: EffectLine['what'], key: string): boolean {
    return this.read().some((line) => line.what === what && line.key === key);
  }
}
