/** Checks all TypeScript of the documentation with one run of the compiler. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Fence } from './fences.ts';
import { ROOT } from './playground.ts';

/** One line for each thing that is wrong; the blocks of one document may import each other. */
export async function typeErrors(fences: readonly Fence[]): Promise<string[]> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-types-')));
  try {
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
    cpSync(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
    writeFileSync(
      path.join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: path.join(ROOT, 'tsconfig.json'), include: ['**/*.ts'] }),
    );
    for (const { document, line, marks, text } of fences) {
      const file = path.join(folder, path.basename(document, '.md'), marks.get('file') ?? `line-${line}.ts`);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
    await promisify(execFile)(process.execPath, [tsc, '--noEmit', '--pretty', 'false', '-p', folder], { cwd: folder });
    return [];
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (stdout === undefined) throw error;
    return stdout.trim().split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
