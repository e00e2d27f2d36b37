/** Collects the coverage of this process for its parent: `nebula test` runs files in separate processes. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Coverage } from './coverage.ts';

/** Environment variable with the folder to which processes write their coverage. */
export const COVERAGE_DIR = 'NEBULA_TEST_COVERAGE';

let shared: Coverage | undefined;

/** Returns undefined when coverage is not requested. */
export function processCoverage(): Coverage | undefined {
  const dir = process.env[COVERAGE_DIR];
  if (dir === undefined || dir === '') return undefined;
  if (shared === undefined) {
    const coverage = new Coverage();
    shared = coverage;
    process.once('exit', () => writeFileSync(path.join(dir, `${process.pid}.json`), JSON.stringify(coverage.data)));
  }
  return shared;
}
