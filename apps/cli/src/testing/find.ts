/** Finds the files that `nebula test` runs. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { NebulaError } from '@nebula/core';

export interface FoundTests {
  /** Paths relative to the current folder. */
  readonly yaml: readonly string[];
  readonly code: readonly string[];
}

const YAML = /\.test\.ya?ml$/;
const CODE = /\.test\.[mc]?[jt]s$/;
/** Modules that a test file must import to be run here. */
const IMPORTS = ['@nebula/testing', 'node:test'];
const SKIPPED = new Set(['node_modules', 'coverage', 'dist']);

/**
 * The named files, and all files below named folders. Code that uses neither the test kit nor Node's test runner
 * belongs to another runner, and is run only if it is named.
 */
export function findTests(cwd: string, names: readonly string[]): FoundTests {
  const found = new Set<string>();
  for (const name of names.length === 0 ? ['.'] : names) {
    const absolute = path.resolve(cwd, name);
    if (!existsSync(absolute)) {
      throw new NebulaError('FILE_UNREADABLE', `there is no ${name}`, {
        hint: 'give a test file, or a folder of them',
      });
    }
    if (statSync(absolute).isDirectory()) for (const file of below(absolute)) found.add(path.relative(cwd, file));
    else if (YAML.test(absolute) || CODE.test(absolute)) found.add(path.relative(cwd, absolute));
    else {
      throw new NebulaError('NOT_A_TEST', `${name} is not a test file`, {
        hint: 'tests are called *.test.yaml or *.test.ts, and lie beside the workflow',
      });
    }
  }
  const files = [...found].sort();
  if (files.length === 0) {
    throw new NebulaError('NO_TESTS', `there are no tests in ${names.join(', ') || 'this folder'}`, {
      hint: 'tests are called *.test.yaml, or *.test.ts with @nebula/testing',
    });
  }
  return { yaml: files.filter((file) => YAML.test(file)), code: files.filter((file) => CODE.test(file)) };
}

function below(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) || entry.name.startsWith('.') ? [] : below(file);
    if (YAML.test(entry.name)) return [file];
    return CODE.test(entry.name) && isOurs(readFileSync(file, 'utf8')) ? [file] : [];
  });
}

function isOurs(text: string): boolean {
  return IMPORTS.every((name) => text.includes(`'${name}'`) || text.includes(`"${name}"`));
}
