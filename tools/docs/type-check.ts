/**
 * Checks all TypeScript of the documentation with one run of the compiler, in a project as `nebula init` makes it: its
 * options are less strict than the repository's, and the packages must compile with them, too.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Fence } from './fences.ts';
import { ROOT } from './playground.ts';

/** One line for each thing that is wrong; the blocks of one document may import each other. */
export async function typeErrors(fences: readonly Fence[]): Promise<string[]> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-types-')));
  try {
    await promisify(execFile)(process.execPath, [path.join(ROOT, 'apps/cli/bin/nebula.js'), 'init', folder]);
    // The clone's command links its own packages only; documents also use others, such as zod.
    rmSync(path.join(folder, 'node_modules'), { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
    for (const { document, line, marks, text } of fences) {
      const file = path.join(folder, document.replace(/\.md$/, ''), marks.get('file') ?? `line-${line}.ts`);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
    // Packages that did not change are not checked again.
    const memory = path.join(ROOT, 'node_modules/.cache/docs.tsbuildinfo');
    const options = ['--noEmit', '--checkers', '1', '--pretty', 'false', '--incremental', '--tsBuildInfoFile', memory];
    await promisify(execFile)(process.execPath, [tsc, ...options, '-p', folder], {
      cwd: folder,
      // The same setting as in the types check.
      env: { ...process.env, GOGC: '400' },
    });
    return [];
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (stdout === undefined) throw error;
    return stdout.trim().split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
