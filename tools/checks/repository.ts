/**
 * The repository as the checks see it: a list of files, their text and, for code, their syntax tree.
 *
 * 1. Paths are relative to the root and use `/`.
 * 2. Nothing is read or parsed twice; a repository is a picture of one moment.
 * 3. Tests make repositories out of plain objects, so a check never touches the disk itself.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Comment, type Node, type Program, parseSync } from 'oxc-parser';

export interface Code {
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
  /** Why the file cannot be parsed; null when it can. */
  readonly broken: string | null;
  /** The line of an offset, from 1. */
  line(offset: number): number;
}

export interface Repository {
  readonly files: readonly string[];
  has(file: string): boolean;
  text(file: string): string;
  code(file: string): Code;
}

/** A finding of a check. A problem fails the check, a warning is only shown. */
export interface Verdict {
  readonly problems: readonly string[];
  readonly warnings?: readonly string[];
  /** A few words for the check's line, such as `212 rules`. */
  readonly summary?: string;
}

const SKIPPED_FOLDERS = new Set(['node_modules', '.git', '.nebula', '.cache', 'coverage', 'dist']);

export function openRepository(root: string): Repository {
  return makeRepository(listFiles(root), (file) => readFileSync(path.join(root, file), 'utf8'));
}

export function repositoryOf(files: Readonly<Record<string, string>>): Repository {
  return makeRepository(Object.keys(files).sort(), (file) => files[file]!);
}

export function isCode(file: string): boolean {
  return /\.(ts|tsx|mts|js|jsx|mjs)$/.test(file);
}

export function isTest(file: string): boolean {
  return /\.test\.tsx?$/.test(file);
}

/** The tests of a port live beside it, so that every driver can run them. */
export function isConformance(file: string): boolean {
  return file.startsWith('packages/ports/conformance/') && isCode(file);
}

export function at(code: Code, offset: number, text: string): string {
  return `${code.path}:${code.line(offset)} ${text}`;
}

/** Visits a node and everything below it, parents first. Where `visit` returns false, it goes no deeper. */
export function walk(node: Node, visit: (node: Node, parents: readonly Node[]) => unknown): void {
  const parents: Node[] = [];
  const step = (current: Node): void => {
    if (visit(current, parents) === false) return;
    parents.push(current);
    for (const value of Object.values(current)) {
      if (Array.isArray(value)) for (const item of value) isNode(item) && step(item);
      else if (isNode(value)) step(value);
    }
    parents.pop();
  };
  step(node);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

function makeRepository(files: readonly string[], read: (file: string) => string): Repository {
  const known = new Set(files);
  const texts = new Map<string, string>();
  const codes = new Map<string, Code>();
  const repository: Repository = {
    files,
    has: (file) => known.has(file),
    text(file) {
      let text = texts.get(file);
      if (text === undefined) {
        text = read(file);
        texts.set(file, text);
      }
      return text;
    },
    code(file) {
      let code = codes.get(file);
      if (code === undefined) {
        code = parse(file, repository.text(file));
        codes.set(file, code);
      }
      return code;
    },
  };
  return repository;
}

function parse(file: string, text: string): Code {
  const result = parseSync(file, text);
  const starts = [0];
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) starts.push(i + 1);
  return {
    path: file,
    text,
    program: result.program,
    comments: result.comments,
    broken: result.errors[0]?.message ?? null,
    line(offset) {
      let low = 0;
      let high = starts.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (starts[middle]! <= offset) low = middle;
        else high = middle - 1;
      }
      return low + 1;
    },
  };
}

function listFiles(root: string): string[] {
  const found: string[] = [];
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name)) pending.push(name);
      else if (entry.isFile()) found.push(name);
    }
  }
  return found.sort();
}
