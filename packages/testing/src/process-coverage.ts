/** Coverage of everything that this process tests, for whoever started it: `nebula test` runs files in processes. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Coverage } from './coverage.ts';

/** Names the folder into which processes write what they covered. */
export const COVERAGE_DIR = 'NEBULA_TEST_COVERAGE';

let shared: Coverage | undefined;

/** Undefined when nobody asks for it. */
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
