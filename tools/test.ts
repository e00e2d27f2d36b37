/**
 * `npm test`: the checks, then every test. `npm test -- packages/core -t retry` hands its words to vitest and leaves
 * the checks out.
 *
 * The last line is `N passed, N failed`, with `, N skipped` where some were. Whatever else goes wrong (a check, a file
 * that does not load, an error outside of any test, no tests at all) counts as one failure each, so that the line and
 * the exit code never disagree.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runChecks } from './check.ts';
import { TALLY_FILE, type Tally } from './tally.ts';

interface TestRun {
  /** Null when vitest did not get as far as counting. */
  readonly tally: Tally | null;
  readonly exitCode: number | null;
}

export async function runVitest(
  root: string,
  args: readonly string[],
  output: 'inherit' | 'ignore' = 'inherit',
): Promise<TestRun> {
  const folder = mkdtempSync(path.join(tmpdir(), 'nebula-tally-'));
  const file = path.join(folder, 'tally.json');
  try {
    const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const reporters = ['--reporter=default', `--reporter=${path.join(import.meta.dirname, 'tally.ts')}`];
    const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...args], {
      cwd: root,
      env: { ...process.env, ...(process.stdout.isTTY ? {} : { NO_COLOR: '1' }), [TALLY_FILE]: file },
      stdio: ['ignore', output, output],
    });
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    return { tally: readTally(file), exitCode };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What the run comes to: lines for people, the last of them also for machines. */
export function conclude(
  { tally, exitCode }: TestRun,
  failedChecks: readonly string[],
): { ok: boolean; lines: string[] } {
  const { passed, failed, skipped, brokenFiles, unhandledRejections } = tally ?? NOTHING;
  const failures = [
    ...failedChecks.map((name) => `check ${name} failed`),
    ...Array.from({ length: brokenFiles }, () => 'a test file failed outside of its tests'),
    ...Array.from({ length: unhandledRejections }, () => 'an error was left unhandled'),
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
  const args = process.argv.slice(2);
  const failedChecks = args.length === 0 ? await runChecks(root) : [];
  const { ok, lines } = conclude(await runVitest(root, args), failedChecks);
  console.log(`${((performance.now() - startedMs) / 1000).toFixed(1)} s in all`);
  console.log(lines.join('\n'));
  process.exitCode = ok ? 0 : 1;
}
