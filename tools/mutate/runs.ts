/** Runs tests, or the simulator, in a copy of the repository, and reports the first failure. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Verdict } from './results.ts';

/** The longest time of one test, below that of vitest.config.ts: a mutant that waits for ever should not wait long. */
const TEST_LIMIT_MS = 30_000;
/** Random tests draw fewer cases, as in `npm test -- --quick`. */
const FUZZ_RUNS = '50';

export interface TestRun {
  /** Paths for vitest. */
  readonly paths: readonly string[];
  /** A part of the titles. */
  readonly title?: string;
  readonly limitMs: number;
}

interface Failure {
  readonly file: string;
  readonly test: string;
}

/** `file`: the test file that failed, for a look at whether it passes without the mutation. */
export type Run = Verdict & { readonly file?: string };

export async function runTests(root: string, { paths, title, limitMs }: TestRun): Promise<Run> {
  const report = path.join(root, 'node_modules/.cache/mutate-report.json');
  // Outside of `node_modules`, in which actions may not write.
  const temporary = mkdtempSync(path.join(tmpdir(), 'n-'));
  chmodSync(temporary, 0o755);
  rmSync(report, { force: true });
  const args = [
    path.join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--bail=1',
    '--reporter=json',
    `--outputFile=${report}`,
    `--testTimeout=${TEST_LIMIT_MS}`,
    '--exclude=**/scale.test.ts',
    ...(title === undefined ? [] : ['-t', title]),
    ...paths,
  ];
  const { exitCode, isTimeout } = await run(root, args, limitMs, { FUZZ_RUNS, TMPDIR: temporary, TEST_BUNDLES: 'off' });
  rmSync(temporary, { recursive: true, force: true, maxRetries: 10 });
  const what = [...paths, ...(title === undefined ? [] : [title])].join(' ');
  if (isTimeout) return { status: 'timeout', by: what };
  const failure = firstFailure(root, report, what, exitCode);
  if (failure === undefined) return { status: 'survived' };
  return { status: 'killed', by: `${failure.file}: ${failure.test}`, file: failure.file };
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function firstFailure(root: string, file: string, what: string, exitCode: number | null): Failure | undefined {
  const report = readReport(file);
  // Without a report the process has died, or the setup failed, as it does when the sources cannot be bundled.
  if (report === undefined) return { file: what, test: `vitest ended with ${exitCode}` };
  for (const { name, status, message, assertionResults } of report.testResults) {
    const failed = assertionResults.find((one) => one.status === 'failed');
    const own = path.relative(root, name);
    if (failed !== undefined) return { file: own, test: failed.fullName };
    if (status === 'failed') return { file: own, test: message.split('\n')[0] ?? '' };
  }
  if (report.numPassedTests + report.numFailedTests === 0) throw new Error(`No test matches ${what}.`);
  return exitCode === 0 ? undefined : { file: what, test: `vitest ended with ${exitCode}: an error outside of a test` };
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}

/** Lives from seed 1 on, until the first violation. */
export async function runSimulator(root: string, lives: number, limitMs: number): Promise<Run> {
  const args = [path.join(root, 'sim/run.ts'), '--seeds', String(lives)];
  let violation: string | undefined;
  const { exitCode, isTimeout, lastLine } = await run(root, args, limitMs, {}, (line) => {
    if (!/^seed \d+: /.test(line)) return false;
    violation = line;
    return true;
  });
  if (violation !== undefined) return { status: 'killed', by: violation };
  if (isTimeout) return { status: 'timeout', by: `${lives} lives` };
  return exitCode === 0 ? { status: 'survived' } : { status: 'killed', by: `the simulator failed: ${lastLine}` };
}

/** The compiler, for a drawn mutation that no test notices: code that does not compile cannot be committed. */
export async function runCompiler(root: string, limitMs: number): Promise<Run> {
  const args = [path.join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', root];
  let problem: string | undefined;
  const { exitCode, isTimeout } = await run(root, args, limitMs, {}, (line) => {
    problem ??= line;
    return true;
  });
  if (problem === undefined && (isTimeout || exitCode === 0)) return { status: 'survived' };
  return { status: 'killed', by: `types: ${problem ?? `tsc ended with ${exitCode}`}` };
}

interface Ended {
  readonly exitCode: number | null;
  readonly isTimeout: boolean;
  readonly lastLine: string;
}

/** Runs a program with all processes that it starts in a group of their own, and ends the group at the limit. */
function run(
  root: string,
  args: readonly string[],
  limitMs: number,
  env: Readonly<Record<string, string>>,
  endsWith: (line: string) => boolean = () => false,
): Promise<Ended> {
  const child = spawn(process.execPath, args, {
    cwd: root,
    detached: true,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/nebula-compiled'),
      NO_COLOR: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let isTimeout = false;
  let lastLine = '';
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The group has ended.
    }
  };
  const timer = setTimeout(() => {
    isTimeout = true;
    end();
  }, limitMs);
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (line.trim() !== '') lastLine = line;
      if (endsWith(line)) end();
    });
  }
  const interrupted = () => {
    end();
    process.exit(130);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => {
      clearTimeout(timer);
      process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
      end();
      resolve({ exitCode, isTimeout, lastLine });
    });
  });
}
