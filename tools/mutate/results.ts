/** The results of trials, one line of JSON each, written as they come: an interrupted run can be read and continued. */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Mutation } from './mutation.ts';

export type Verdict =
  /** `by`: the first test that failed, or the seed of the simulated life. */
  | { readonly status: 'killed'; readonly by: string }
  /** The tests did not end in time. */
  | { readonly status: 'timeout'; readonly by: string }
  | { readonly status: 'survived' };

export interface Result {
  readonly key: string;
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly breaks: string;
  readonly diff: string;
  readonly verdict: Verdict;
  readonly ms: number;
  readonly at: string;
}

/** Identifies a trial: another source, mutation or choice of tests is another trial. */
export function keyOf({ file, find, replace }: Mutation, text: string, tests: unknown): string {
  const parts = JSON.stringify([file, find, replace, text, tests]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 16);
}

export class Results {
  readonly #file: string;
  readonly #known = new Map<string, Result>();

  /** Continues the file, or begins it anew. */
  constructor(file: string, isResumed: boolean) {
    this.#file = file;
    mkdirSync(path.dirname(file), { recursive: true });
    if (!isResumed || !existsSync(file)) writeFileSync(file, '');
    for (const result of readResults(file)) this.#known.set(result.key, result);
  }

  known(key: string): Result | undefined {
    return this.#known.get(key);
  }

  add(result: Result): void {
    this.#known.set(result.key, result);
    appendFileSync(this.#file, `${JSON.stringify(result)}\n`);
  }
}

/** A line that was cut off by an interruption is left out. */
function readResults(file: string): Result[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Result];
      } catch {
        return [];
      }
    });
}

/** The last lines of a run: the kill rate, and each survivor with its place and its change. */
export function summaryOf(results: readonly Result[]): string {
  const survivors = results.filter(({ verdict }) => verdict.status === 'survived');
  const killed = results.length - survivors.length;
  const timeouts = results.filter(({ verdict }) => verdict.status === 'timeout').length;
  const rate = results.length === 0 ? 0 : (100 * killed) / results.length;
  return [
    ...survivors.map(({ id, file, line, breaks, diff }) => `\n${id} survived: ${breaks}\n  ${file}:${line}\n${diff}`),
    '',
    `${killed} of ${results.length} killed (${rate.toFixed(1)} %), ${timeouts} of them by the time limit; ${survivors.length} survived`,
  ].join('\n');
}
