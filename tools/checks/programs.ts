/** Checks that other programs do for us; each of them reads its configuration at the root. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import type { Verdict } from './repository.ts';

/** Erasable syntax, strictness and all the rest of tsconfig.json. Files that did not change are not checked again. */
export async function checkTypes(root: string): Promise<Verdict> {
  const ours = await runProgram(root, 'tsc', tsc('types'));
  return ours.problems.length > 0 ? ours : checkTypesForUsers(root);
}

/**
 * The compiler keeps its results in the cache folder: 2 s of CPU time after a small change, 15 s without. By default it
 * has four checkers, each of which checks shared types again: 27 s. Declarations are checked as the build would write them.
 */
function tsc(cache: string): readonly string[] {
  const memory = path.join('node_modules', '.cache', `${cache}.tsbuildinfo`);
  return [
    '--noEmit',
    '--declaration',
    '--checkers',
    '1',
    '--pretty',
    'false',
    '--incremental',
    '--tsBuildInfoFile',
    memory,
  ];
}

/**
 * Our packages are sources, so users check them too, and often with no more than `strict`. Users get
 * only the files of `tsconfig.build.json`: without tests, tools and the simulator this takes half of the time.
 */
async function checkTypesForUsers(root: string): Promise<Verdict> {
  const lenient = ['--noUncheckedIndexedAccess', 'false', '--exactOptionalPropertyTypes', 'false'];
  const args = ['-p', 'tsconfig.build.json', ...tsc('types-for-users'), ...lenient];
  const { problems } = await runProgram(root, 'tsc', args);
  return { problems: problems.filter((line) => /^packages\/[^/]+\/(src|conformance)\//.test(line)) };
}

/** Format, order of imports and lint, as in biome.json. `npm run format` repairs most of it. */
export function checkStyle(root: string): Promise<Verdict> {
  return runProgram(root, 'biome', [
    'ci',
    '--colors=off',
    '--reporter=concise',
    '--diagnostic-level=warn',
    '--error-on-warnings',
    '.',
  ]);
}

/** Lint that needs types: forgotten promises, switches that miss a case. As in .oxlintrc.json. */
export function checkPromises(root: string): Promise<Verdict> {
  return runProgram(root, 'oxlint', ['--type-aware', '--deny-warnings', '--format=unix']);
}

/** Files, exports and dependencies that nothing uses, as in knip.json. */
export function checkUnused(root: string): Promise<Verdict> {
  return runProgram(root, 'knip', ['--no-progress', '--no-config-hints', '--reporter=compact']);
}

async function runProgram(root: string, name: string, args: readonly string[]): Promise<Verdict> {
  const bin = path.join(root, 'node_modules', '.bin');
  const search = [bin, path.dirname(process.execPath), process.env.PATH].join(path.delimiter);
  const child = spawn(path.join(bin, name), args, {
    cwd: root,
    // GOGC makes tsc, a Go program, collect garbage less often: a fifth less CPU time, 80 MB more.
    env: { ...process.env, PATH: search, NO_COLOR: '1', FORCE_COLOR: undefined, GOGC: '400' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (exitCode, signal) => resolve(exitCode ?? signal ?? 'nothing'));
  });
  if (code === 0) return { problems: [] };
  return { problems: output.trim() === '' ? [`${name} ended with ${code}`] : output.trimEnd().split('\n') };
}
