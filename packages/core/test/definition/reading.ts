/** Shared functions of the tests of reading definitions. */
import type { ReadResult } from '../../src/definition/check.ts';
import { type ReadOptions, readDefinition } from '../../src/definition/read.ts';
import type { Problem } from '../../src/problem.ts';

export const yaml = (text: string | Uint8Array): ReadResult => readDefinition(text, { file: 'test.yaml' });
export const json = (text: string | Uint8Array): ReadResult => readDefinition(text, { file: 'test.json' });

export function codes(result: ReadResult): string[] {
  return result.problems.map(({ code }) => code);
}

/** `CODE line:column` of every problem. */
export function positions(result: ReadResult): string[] {
  return result.problems.map(({ code, range }) => `${code} ${range?.line}:${range?.column}`);
}

export function find(result: ReadResult, code: string): Problem {
  const problem = result.problems.find((candidate) => candidate.code === code);
  if (!problem) throw new Error(`no ${code} among ${codes(result).join(', ') || 'no problems'}`);
  return problem;
}

/** The piece of the source that a problem underlines. */
export function underlined(result: ReadResult, problem: Problem): string | undefined {
  const { range } = problem;
  return range && result.source.text.slice(range.offset, range.offset + range.length);
}

export function read(text: string | Uint8Array, options?: ReadOptions): ReadResult {
  return readDefinition(text, options);
}

/** Milliseconds of this thread's own work, which other processes on the machine do not lengthen. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
