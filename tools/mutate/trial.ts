/**
 * Trials of mutations: applies each to the copy, runs tests until one fails, and takes the mutation back.
 *
 *  1 A named mutation is killed by the tests that it names, or survives. A drawn one has the tests near its source,
 *    then those of the packages that depend on it, then the compiler.
 *  2 A test that kills must pass without a mutation: the named tests run once on the unchanged copy before the first
 *    trial, any other test file when it kills for the first time. If it fails there, the trials end with an error.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Copy } from './copy.ts';
import { describeChange, type Mutation } from './mutation.ts';
import { keyOf, type Result, type Results } from './results.ts';
import { type Run, runCompiler, runSimulator, runTests, type TestRun } from './runs.ts';
import { nearTestsOf, testsOf } from './tests-of.ts';

const KILLERS_LIMIT_MS = 2 * 60_000;
const FOLDER_LIMIT_MS = 10 * 60_000;
const SIMULATOR_LIMIT_MS = 10 * 60_000;
const COMPILER_LIMIT_MS = 3 * 60_000;

export interface TrialOptions {
  /** Runs only the simulator, with this number of lives. */
  readonly lives?: number;
  /** Takes the tests from the place of the source, and asks the compiler about survivors. */
  readonly isDrawn?: boolean;
  /** Of a drawn mutation, runs the tests of the nearest folders only: a survivor may be killed by others. */
  readonly isNear?: boolean;
  /** The longest time of one run of tests. */
  readonly limitMs?: number;
}

export class Trials {
  readonly #copy: Copy;
  readonly #results: Results;
  readonly #options: TrialOptions;
  /** Test files that passed without a mutation. */
  readonly #sound = new Set<string>();

  constructor(copy: Copy, results: Results, options: TrialOptions) {
    this.#copy = copy;
    this.#results = results;
    this.#options = options;
  }

  /** Runs the tests that these mutations name, or the simulator, on the unchanged copy. Throws if one fails. */
  async begin(mutations: readonly Mutation[]): Promise<void> {
    const { root } = this.#copy;
    const { lives } = this.#options;
    if (lives !== undefined) return mustPass('the simulator', await runSimulator(root, lives, SIMULATOR_LIMIT_MS));
    for (const tests of killerRuns([...new Set(mutations.flatMap(({ killers }) => killers))])) {
      mustPass(tests.paths.join(' '), await runTests(root, { ...tests, limitMs: FOLDER_LIMIT_MS }));
    }
  }

  async try(mutation: Mutation): Promise<{ readonly result: Result; readonly isKnown: boolean }> {
    const { id, file, breaks } = mutation;
    const text = readFileSync(path.join(this.#copy.root, file), 'utf8');
    const { lives, isDrawn = false, isNear = false } = this.#options;
    const key = keyOf(mutation, text, lives ?? [isDrawn, isNear, mutation.killers]);
    const known = this.#results.known(key);
    if (known !== undefined) return { result: known, isKnown: true };
    const startedMs = performance.now();
    const run = await this.#run(mutation);
    const ms = Math.round(performance.now() - startedMs);
    await this.#mustBeSound(run);
    const verdict = run.status === 'survived' ? { status: run.status } : { status: run.status, by: run.by };
    const result = {
      key,
      id,
      file,
      breaks,
      ...describeChange(mutation, text),
      verdict,
      ms,
      at: new Date().toISOString(),
    };
    this.#results.add(result);
    return { result, isKnown: false };
  }

  async #run(mutation: Mutation): Promise<Run> {
    const { root } = this.#copy;
    const { lives, isDrawn = false, isNear = false, limitMs } = this.#options;
    const takeBack = this.#copy.apply(mutation);
    try {
      if (lives !== undefined) return await runSimulator(root, lives, SIMULATOR_LIMIT_MS);
      const near = killerRuns(mutation.killers);
      const wide = (isNear ? nearTestsOf : testsOf)(root, mutation.file).map((paths) => ({
        paths,
        limitMs: isNear ? KILLERS_LIMIT_MS : FOLDER_LIMIT_MS,
      }));
      for (const tests of isDrawn ? wide : near) {
        const run = await runTests(root, { ...tests, limitMs: limitMs ?? tests.limitMs });
        if (run.status !== 'survived') return run;
      }
      return isDrawn && !isNear ? await runCompiler(root, COMPILER_LIMIT_MS) : { status: 'survived' };
    } finally {
      takeBack();
    }
  }

  async #mustBeSound(run: Run): Promise<void> {
    const { isDrawn = false } = this.#options;
    const file = 'file' in run ? run.file : undefined;
    if (!isDrawn || run.status !== 'killed' || file === undefined || this.#sound.has(file)) return;
    mustPass(file, await runTests(this.#copy.root, { paths: file.split(' '), limitMs: FOLDER_LIMIT_MS }));
    this.#sound.add(file);
  }
}

function mustPass(what: string, run: Run): void {
  if (run.status === 'survived') return;
  throw new Error(`Without a mutation, ${what} fails, too (${run.by}): it can kill nothing. Make it pass first.`);
}

/** One run for all killers without a title, and one for each with a title. */
function killerRuns(killers: readonly string[]): TestRun[] {
  const runs: TestRun[] = [];
  const plain: string[] = [];
  for (const killer of killers) {
    const at = killer.indexOf(' ');
    if (at < 0) plain.push(killer);
    else runs.push({ paths: [killer.slice(0, at)], title: killer.slice(at + 1), limitMs: KILLERS_LIMIT_MS });
  }
  if (plain.length > 0) runs.push({ paths: plain, limitMs: KILLERS_LIMIT_MS });
  return runs;
}
