/** `npm run check [name…]`: everything that can be known about the repository without running it. */
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { checkAmbient } from './checks/ambient.ts';
import { checkArrows } from './checks/arrows.ts';
import { checkInstalled } from './checks/installed.ts';
import { checkLinks } from './checks/links.ts';
import { checkNames } from './checks/names.ts';
import { checkPromises, checkStyle, checkTypes, checkUnused } from './checks/programs.ts';
import { openRepository, type Repository, type Verdict } from './checks/repository.ts';
import { checkSpec } from './checks/spec.ts';
import { checkTidiness } from './checks/tidiness.ts';

interface Subject {
  readonly root: string;
  readonly repository: Repository;
}

type Check = (subject: Subject) => Verdict | Promise<Verdict>;

/** The longest first, so that the cores are busy to the end. */
const CHECKS: Readonly<Record<string, Check>> = {
  unused: ({ root }) => checkUnused(root),
  types: ({ root }) => checkTypes(root),
  promises: ({ root }) => checkPromises(root),
  style: ({ root }) => checkStyle(root),
  installed: ({ root, repository }) => checkInstalled(root, repository),
  arrows: ({ repository }) => checkArrows(repository),
  ambient: ({ repository }) => checkAmbient(repository),
  spec: ({ repository }) => checkSpec(repository),
  tidiness: ({ repository }) => checkTidiness(repository),
  links: ({ repository }) => checkLinks(repository),
  names: ({ repository }) => checkNames(repository),
};

/** Checks that read all types or all files once more: 15 and 6 s of processor time. */
const SLOW: readonly string[] = ['promises', 'unused'];
export const FAST_CHECKS = Object.keys(CHECKS).filter((name) => !SLOW.includes(name));

/** More than this of one check hides the others; asked for alone, a check shows all. */
const PROBLEMS_SHOWN_MAX = 40;

/** Runs the checks and prints a line for each; returns the names of those that failed. */
export async function runChecks(root: string, names: readonly string[] = Object.keys(CHECKS)): Promise<string[]> {
  const subject: Subject = { root, repository: openRepository(root) };
  const limit = names.length === 1 ? Infinity : PROBLEMS_SHOWN_MAX;
  const failed: string[] = [];
  const waiting = [...names];
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const startedMs = performance.now();
      const verdict = await judge(CHECKS[name]!, subject);
      if (verdict.problems.length > 0) failed.push(name);
      print(name, verdict, performance.now() - startedMs, limit);
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, lane));
  return failed;
}

/** A check that throws counts as failed; the others continue. */
async function judge(check: Check, subject: Subject): Promise<Verdict> {
  try {
    return await check(subject);
  } catch (error) {
    return { problems: [`the check itself broke down: ${error instanceof Error ? error.stack : error}`] };
  }
}

function print(name: string, { problems, warnings = [], summary }: Verdict, tookMs: number, limit: number): void {
  const ok = problems.length === 0;
  const mark = ok ? styleText('green', '✓') : styleText('red', '✗');
  const took = styleText('dim', `${(tookMs / 1000).toFixed(1)} s`);
  console.log(`${mark} ${name} ${took}${summary ? styleText('dim', ` · ${summary}`) : ''}`);
  const shown = problems.slice(0, limit);
  for (const problem of shown) console.log(`    ${problem}`);
  if (shown.length < problems.length) {
    console.log(`    … and ${problems.length - shown.length} more: npm run check -- ${name}`);
  }
  for (const warning of warnings) console.log(styleText('yellow', `    warning: ${warning}`));
}

if (import.meta.main) {
  const { values, positionals: names } = parseArgs({ options: { root: { type: 'string' } }, allowPositionals: true });
  const unknown = names.filter((name) => !(name in CHECKS));
  if (unknown.length > 0) {
    console.error(`No check is called ${unknown.join(', ')}. There are: ${Object.keys(CHECKS).join(', ')}.`);
    process.exit(2);
  }
  const root = values.root ?? path.dirname(import.meta.dirname);
  const failed = await runChecks(root, names.length > 0 ? names : undefined);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
