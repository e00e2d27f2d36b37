/**
 * `npm test`: the checks, then every test. `npm test -- --quick`: the fast checks, the tests that need neither disk nor
 * processes, and a walk through everything else. `npm test -- packages/core -t retry` hands its words to vitest and
 * leaves the checks out.
 *
 * The last line is `N passed, N failed`, with `, N skipped` where some were. Any other failure (a check, a file
 * that does not load, an error outside of any test, no tests at all) counts as one failure each, so that the line and
 * the exit code never disagree.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FAST_CHECKS, runChecks } from './check.ts';
import { TALLY_FILE, type Tally } from './tally.ts';

/**
 * The tests of `--quick`, by folder and name, so that a new test belongs to it by its place. Tests over random cases draw
 * fewer of them; those of 100,000 nodes are left out.
 */
const QUICK = [
  ...['core', 'engine', 'client', 'sdk', 'testing'].map((name) => `packages/${name}/test/`),
  'packages/drivers/test/memory.test.ts',
  'smoke.test.ts',
  '--exclude=**/scale.test.ts',
];
const QUICK_RUNS = '50';
/** The full run leaves it out: its lives are the first ones of the fleet. */
const ONLY_QUICK = '--exclude=sim/smoke.test.ts';
const QUICK_LIMIT_S = 60;

/** Compiled code of the programs that tests start, for all of them and for the next time: it halves their start. */
const COMPILE_CACHE = 'node_modules/.cache/nebula-compiled';

interface TestRun {
  /** Null when vitest did not get as far as counting. */
  readonly tally: Tally | null;
  readonly exitCode: number | null;
  /** Files left in the temporary folder of the tests. */
  readonly leftovers?: readonly string[];
}

export async function runVitest(
  root: string,
  args: readonly string[],
  output: 'inherit' | 'ignore' = 'inherit',
  env: Readonly<Record<string, string>> = {},
): Promise<TestRun> {
  // Short names: what the tests print is wrapped at a width, and contains paths in here.
  const folder = mkdtempSync(path.join(tmpdir(), 'n-'));
  // Some tests run programs as another user.
  chmodSync(folder, 0o755);
  const file = path.join(folder, 'tally.json');
  const temporary = path.join(folder, 't');
  mkdirSync(temporary);
  try {
    const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const reporters = ['--reporter=default', `--reporter=${path.join(import.meta.dirname, 'tally.ts')}`];
    const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...args], {
      cwd: root,
      env: {
        NODE_COMPILE_CACHE: path.join(root, COMPILE_CACHE),
        ...process.env,
        ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }),
        ...env,
        TMPDIR: temporary,
        [TALLY_FILE]: file,
      },
      stdio: ['ignore', output, output],
    });
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    return { tally: readTally(file), exitCode, leftovers: readdirSync(temporary) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The summary of the run: lines for people, the last of them also for machines. */
export function summarize(
  { tally, exitCode, leftovers = [] }: TestRun,
  failedChecks: readonly string[],
): { ok: boolean; lines: string[] } {
  const { passed, failed, skipped, brokenFiles, unhandledRejections } = tally ?? NOTHING;
  const failures = [
    ...failedChecks.map((name) => `check ${name} failed`),
    ...Array.from({ length: brokenFiles }, () => 'a test file failed outside of its tests'),
    ...Array.from({ length: unhandledRejections }, () => 'an error was left unhandled'),
    // A file that does not load has no hooks that could clean up.
    ...(brokenFiles > 0 ? [] : leftovers).map((name) => `${name} was left in the temporary folder`),
  ];
  if (tally === null) failures.push('vitest did not finish');
  else if (passed + failed === 0 && brokenFiles === 0) failures.push('no test ran');
  else if (exitCode !== 0 && failed + brokenFiles + unhandledRejections === 0)
    failures.push(`vitest ended with ${exitCode}`);
  const total = failed + failures.length;
  const line = `${passed} passed, ${total} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return { ok: total === 0, lines: [...failures, line] };
}

const NOTHING: Tally = { passed: 0, failed: 0, skipped: 0, brokenFiles: 0, unhandledRejections: 0 };

function readTally(file: string): Tally | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Tally;
  } catch {
    return null;
  }
}

if (import.meta.main) {
  const root = path.dirname(import.meta.dirname);
  const startedMs = performance.now();
  const words = process.argv.slice(2);
  const isQuick = words.includes('--quick');
  const args = words.filter((word) => word !== '--quick');
  const failedChecks = args.length === 0 ? await runChecks(root, isQuick ? FAST_CHECKS : undefined) : [];
  const run = isQuick
    ? runVitest(root, [...QUICK, ...args], 'inherit', { FUZZ_RUNS: QUICK_RUNS })
    : runVitest(root, args.length === 0 ? [ONLY_QUICK] : args);
  const { ok, lines } = summarize(await run, failedChecks);
  const tookS = (performance.now() - startedMs) / 1000;
  console.log(`${tookS.toFixed(1)} s in all`);
  if (isQuick && tookS > QUICK_LIMIT_S) console.log(`that is more than the ${QUICK_LIMIT_S} s that it should take`);
  console.log(lines.join('\n'));
  process.exitCode = ok ? 0 : 1;
}
