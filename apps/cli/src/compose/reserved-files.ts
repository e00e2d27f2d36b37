/**
 * The files of a project that no grant reaches: the key of secrets, and workflow files. A workflow that writes one could
 * grant itself everything.
 *
 *  1 No grant reads or writes a file that a server registers, under any of its names.
 *  2 No grant writes into a folder in which a server looks for workflow files, because workflows use the files beside
 *    them. If that folder is the project itself, only YAML and JSON there are reserved.
 *  3 The patterns and files are those of the running server: `serve` changes them with the configuration.
 */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { baseFolder, workflowPatterns } from '../project.ts';
import type { Project } from '../services.ts';
import { type Io, KEY_VARIABLES } from '../terminal/io.ts';

/** Endings of files that a workflow finds beside it. */
const WORKFLOW = /\.(ya?ml|json)$/i;

export class ReservedFiles {
  readonly #roots: readonly string[];
  readonly #keys: readonly string[];
  #patterns: readonly string[];
  /** Under all their names. */
  #files: ReadonlySet<string> = new Set();

  constructor({ dir, config }: Pick<Project, 'dir' | 'config'>, env: Io['env'] = {}) {
    this.#roots = namesOf(path.resolve(dir));
    this.#keys = KEY_VARIABLES.flatMap((name) => env[`${name}_FILE`] || []).map((file) => path.resolve(file));
    this.#patterns = workflowPatterns(config);
  }

  setPatterns(patterns: readonly string[]): void {
    this.#patterns = patterns;
  }

  /** `files`: absolute paths of the registered files, and of those that they use. */
  setFiles(files: readonly string[]): void {
    this.#files = new Set(files.flatMap(namesOf));
  }

  /** Returns why no grant gives this access to an absolute path; undefined if one may. */
  why(file: string, access: 'read' | 'write'): string | undefined {
    if (this.#keys.flatMap(namesOf).includes(file)) return 'it is the key of secrets';
    if (this.#files.has(file)) return 'it is a workflow file';
    for (const root of this.#roots) {
      const name = path.relative(root, file);
      for (const pattern of this.#patterns) {
        if (path.matchesGlob(name, path.normalize(pattern))) return 'it is a workflow file';
        if (access === 'write' && isBeside(root, file, pattern)) return 'it is in a folder of workflow files';
      }
    }
    return undefined;
  }
}

/** Whether a file is where the pattern finds workflow files. */
function isBeside(root: string, file: string, pattern: string): boolean {
  const base = path.resolve(root, baseFolder(pattern));
  if (isIn(root, base) && !WORKFLOW.test(file)) return false;
  const isDeep = path.resolve(root, path.dirname(pattern)) !== base;
  return namesOf(base).some((folder) => isIn(isDeep ? file : path.dirname(file), folder, isDeep));
}

/** Compares without case, because some file systems ignore it. */
function isIn(file: string, folder: string, orBelow = true): boolean {
  const [inner, outer] = [file.toLowerCase(), folder.toLowerCase()];
  if (inner === outer) return true;
  return orBelow && inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}

/** A path as written, and as resolved through links. */
function namesOf(file: string): readonly string[] {
  try {
    const real = realpathSync(file);
    return real === file ? [file] : [file, real];
  } catch {
    return [file];
  }
}
