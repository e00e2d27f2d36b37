/** A mutation: one deliberate defect in a source file, as data. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface Mutation {
  readonly id: string;
  /** The path from the root of the repository. */
  readonly file: string;
  /** The text to replace. It occurs in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The defect, in one sentence. */
  readonly breaks: string;
  /** The tests that are expected to fail: a path, or a path and a part of the title after a space. */
  readonly killers: readonly string[];
  /** The simulator alone is expected to notice the defect. */
  readonly sim?: true;
}

/** The text of the file with the mutation. Throws if the mutation is stale. */
export function mutated({ id, file, find, replace }: Mutation, text: string): string {
  const parts = text.split(find);
  if (find === '' || parts.length !== 2) {
    throw new Error(
      `${id} is stale: its text occurs ${parts.length - 1} times in ${file}, not once. Adapt \`find\` and \`replace\` to the source.`,
    );
  }
  if (find === replace) throw new Error(`${id} changes nothing in ${file}.`);
  return parts.join(replace);
}

/** The problems of a list of mutations: duplicate ids, and mutations that do not match their source. */
export function staleIn(root: string, mutations: readonly Mutation[]): string[] {
  const ids = new Set<string>();
  return mutations.flatMap((mutation) => {
    const { id, file } = mutation;
    const problems = ids.has(id) ? [`${id} is the id of two mutations.`] : [];
    ids.add(id);
    try {
      mutated(mutation, readFileSync(path.join(root, file), 'utf8'));
    } catch (error) {
      problems.push((error as Error).message);
    }
    return problems;
  });
}

/** The place of a mutation in its file, and its lines before and after, as in a diff. */
export function describeChange(mutation: Mutation, text: string): { readonly line: number; readonly diff: string } {
  const { find, replace } = mutation;
  const at = text.indexOf(find);
  const from = text.lastIndexOf('\n', at) + 1;
  const lines = (whole: string, length: number, sign: string): string[] => {
    const last = Math.max(from, at + length - (whole[at + length - 1] === '\n' ? 1 : 0));
    const end = whole.indexOf('\n', last);
    const shown = whole.slice(from, end < 0 ? whole.length : end).split('\n');
    return shown.map((one) => `${sign} ${one.trim()}`);
  };
  // A removed line leaves nothing.
  const isRemoved = replace === '' && from === at && find.endsWith('\n');
  const after = isRemoved ? [] : lines(mutated(mutation, text), replace.length, '+');
  return {
    line: text.slice(0, at).split('\n').length,
    diff: [...lines(text, find.length, '-'), ...after].join('\n'),
  };
}
