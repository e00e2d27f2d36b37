/** A reporter that leaves the figures of a run in a file, where tools/test.ts finds them. */
import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Files that failed outside of any test: they do not load, or a hook threw. */
  readonly brokenFiles: number;
  /** Errors that no test caught, such as a promise rejected after its test was over. */
  readonly unhandledRejections: number;
}

export const TALLY_FILE = 'NEBULA_TEST_TALLY';

export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledRejections: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const isBroken = (module: TestModule) =>
      module.state() === 'failed' && ![...module.children.allTests('failed')].length;
    const tally: Tally = {
      passed: count('passed'),
      failed: count('failed'),
      skipped: count('skipped'),
      brokenFiles: modules.filter(isBroken).length,
      unhandledRejections: unhandledRejections.length,
    };
    writeFileSync(process.env[TALLY_FILE]!, JSON.stringify(tally));
  }
}
