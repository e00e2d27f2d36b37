/** The project's own code: the configuration and the files that it imports, at any depth. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const MAX_FILES = 500;
const MAX_BYTES = 1024 * 1024;
const IMPORTED = /\b(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"\n]+)['"]/g;
const IS_CODE = /\.[cm]?[jt]sx?$/;

/** Absolute paths. Empty for a configuration without code. */
export function codeFiles(configFile: string | undefined): readonly string[] {
  const files = new Set(configFile === undefined || !IS_CODE.test(configFile) ? [] : [configFile]);
  for (const file of files) {
    for (const [, specifier = ''] of textOf(file).matchAll(IMPORTED)) {
      const imported = path.resolve(path.dirname(file), specifier);
      if (files.size < MAX_FILES && isFile(imported)) files.add(imported);
    }
  }
  return [...files];
}

/** The files of the project's code that were written after this moment. */
export function codeChangedSince(configFile: string | undefined, moment: number): readonly string[] {
  return codeFiles(configFile).filter((file) => statSync(file).mtimeMs > moment);
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

function textOf(file: string): string {
  return IS_CODE.test(file) && statSync(file).size <= MAX_BYTES ? readFileSync(file, 'utf8') : '';
}
