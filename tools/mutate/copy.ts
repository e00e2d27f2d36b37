/**
 * A copy of the repository in which mutations are applied, so that the tree itself never changes.
 *
 *  1 Imports of our packages resolve to the copy: its `node_modules` has links to its own packages.
 *  2 Packages of others are links to the installed ones.
 *  3 The copy has at most one mutation at a time.
 */
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Mutation, mutated } from './mutation.ts';

/** Folders that no test reads, or that are linked. */
const LEFT_OUT: ReadonlySet<string> = new Set(['node_modules', '.git', 'dist', '.nebula', 'coverage']);

export interface Copy extends Disposable {
  readonly root: string;
  /** Applies the mutation until the returned function is called. */
  apply(mutation: Mutation): () => void;
}

export function makeCopy(original: string): Copy {
  const root = mkdtempSync(path.join(tmpdir(), 'nebula-mutate-'));
  // Some tests run programs as another user.
  chmodSync(root, 0o755);
  cpSync(original, root, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !LEFT_OUT.has(path.basename(source)),
  });
  // The checks look for the root of a repository.
  mkdirSync(path.join(root, '.git'));
  linkModules(original, root, '.');
  const remove = (): void => rmSync(root, { recursive: true, force: true, maxRetries: 10 });
  // Also when the program is interrupted.
  process.once('exit', remove);
  return {
    root,
    apply(mutation) {
      const file = path.join(root, mutation.file);
      const text = readFileSync(file, 'utf8');
      writeFileSync(file, mutated(mutation, text));
      return () => writeFileSync(file, text);
    },
    [Symbol.dispose]() {
      process.off('exit', remove);
      remove();
    },
  };
}

/** Links the packages of `node_modules`, here and in the folders of our packages. */
function linkModules(original: string, root: string, folder: string): void {
  linkEntries(path.join(original, folder, 'node_modules'), path.join(root, folder, 'node_modules'));
  if (folder !== '.') return;
  for (const group of ['packages', 'apps']) {
    for (const name of entriesOf(path.join(original, group))) linkModules(original, root, path.join(group, name));
  }
}

function linkEntries(from: string, to: string): void {
  const names = entriesOf(from).filter((name) => name !== '.cache');
  if (names.length === 0) return;
  mkdirSync(to, { recursive: true });
  for (const name of names) {
    const source = path.join(from, name);
    // Links are relative: to our packages (`@nebula/*`), and to the programs of packages (`.bin`).
    if (lstatSync(source).isSymbolicLink()) symlinkSync(readlinkSync(source), path.join(to, name));
    else if (name.startsWith('@') || name === '.bin') linkEntries(source, path.join(to, name));
    else symlinkSync(source, path.join(to, name));
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
