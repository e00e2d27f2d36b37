/**
 * Patterns of file triggers: `*` and `?` within a name, `[a-z]`, `{a,b}`, and `**` for any folders.
 *
 *  1 A pattern expands to at most `maxAlternatives` plain ones; more are rejected before expansion.
 *  2 Names are matched by `matchesSequence`: O(pattern × name), never exponential.
 *  3 The scans of a project read at most `maxEntries` folder entries, in pieces, and each scan every folder once.
 */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import path from 'node:path';
import { matchesSequence, NebulaError } from '@nebula/core';
import { FILE_PATTERN_LIMITS } from '../limits.ts';

export interface FilePattern {
  /** The path segments of each alternative. */
  readonly alternatives: readonly (readonly string[])[];
}

/** Throws `BAD_FILE_PATTERN`. */
export function parseFilePattern(text: string): FilePattern {
  const { maxChars, maxSegments, maxAlternatives } = FILE_PATTERN_LIMITS;
  if (text.length > maxChars) throw refused(text, `is longer than ${maxChars} characters`);
  if (/[@!+?*]\(/.test(text)) throw refused(text, 'has a group in parentheses');
  const expanded = expand(text);
  if (expanded.some((one) => one.startsWith('/') || one.split('/').includes('..'))) {
    throw refused(text, 'leads out of the project folder');
  }
  const alternatives = expanded.map((one) => one.split('/').filter((name) => name !== '' && name !== '.'));
  if (alternatives.length > maxAlternatives) throw refused(text, `stands for more than ${maxAlternatives} patterns`);
  if (alternatives.some((one) => one.length > maxSegments)) throw refused(text, `has more than ${maxSegments} names`);
  return { alternatives };
}

/** Expands the first closed brace, then the rest. Stops one above the limit. */
function expand(text: string): string[] {
  const done: string[] = [];
  const open = [text];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const choice = firstChoice(next);
    if (choice === undefined) done.push(next);
    else open.push(...choice);
    if (done.length + open.length > FILE_PATTERN_LIMITS.maxAlternatives) return [...done, ...open];
  }
  return done;
}

function firstChoice(text: string): string[] | undefined {
  const begin = text.indexOf('{');
  if (begin < 0) return undefined;
  const cuts = [begin];
  let depth = 0;
  for (let at = begin; at < text.length; at++) {
    const char = text[at];
    if (char === '{') depth++;
    else if (char === ',' && depth === 1) cuts.push(at);
    else if (char === '}' && --depth === 0) {
      cuts.push(at);
      const [head, tail] = [text.slice(0, begin), text.slice(at + 1)];
      return cuts.slice(1).map((end, index) => head + text.slice((cuts[index] as number) + 1, end) + tail);
    }
  }
  throw refused(text, 'has a brace without an end');
}

const isPlain = (name: string): boolean => !/[*?[]/.test(name);

/** The names that a scan may still read, and the folders that it does not enter. */
export interface WalkBudget {
  left: number;
  isSkipped?(folder: string): boolean;
}

/** Yields files below `root` that match the pattern, as relative paths. */
export async function* filesOf(
  root: string,
  { alternatives }: FilePattern,
  budget: WalkBudget = { left: FILE_PATTERN_LIMITS.maxEntries },
): AsyncGenerator<string> {
  const found = new Set<string>();
  for (const names of alternatives) {
    const seen = new Set<string>();
    for await (const file of walk(root, '', names, 0, budget, seen)) {
      if (found.has(file)) continue;
      found.add(file);
      yield file;
    }
  }
}

async function* walk(
  root: string,
  folder: string,
  names: readonly string[],
  at: number,
  budget: WalkBudget,
  seen: Set<string>,
): AsyncGenerator<string> {
  const key = `${at} ${folder}`;
  const name = names[at];
  if (name === undefined || budget.left <= 0 || seen.has(key)) return;
  seen.add(key);
  if (budget.isSkipped?.(path.join(root, folder)) === true) return;
  const isLast = at === names.length - 1;
  if (isPlain(name)) {
    const next = path.join(folder, name);
    if (isLast) yield next;
    else yield* walk(root, next, names, at + 1, budget, seen);
    return;
  }
  if (name === '**') yield* walk(root, folder, names, at + 1, budget, seen);
  for await (const entry of entriesOf(path.join(root, folder))) {
    if (budget.left-- <= 0) return;
    const next = path.join(folder, entry.name);
    if (name === '**') {
      if (isLast && entry.isFile()) yield next;
      if (entry.isDirectory()) yield* walk(root, next, names, at, budget, seen);
    } else if (matchesName(name, entry.name)) {
      if (isLast) yield next;
      else if (entry.isDirectory()) yield* walk(root, next, names, at + 1, budget, seen);
    }
  }
}

async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  const entries = await opendir(folder).catch(() => undefined);
  if (entries !== undefined) yield* entries;
}

export function matchesName(pattern: string, name: string): boolean {
  const tokens = tokensOf(pattern);
  return matchesSequence(
    tokens.length,
    name.length,
    (at) => tokens[at] === 'star',
    (at, index) => (tokens[at] as FitsOne)(name[index] as string),
  );
}

type FitsOne = (char: string) => boolean;

function tokensOf(pattern: string): ('star' | FitsOne)[] {
  const tokens: ('star' | FitsOne)[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] as string;
    const end = char === '[' ? pattern.indexOf(']', at + 2) : -1;
    if (char === '*') tokens.push('star');
    else if (char === '?') tokens.push(() => true);
    else if (end < 0) tokens.push((one) => one === char);
    else {
      tokens.push(setOf(pattern.slice(at + 1, end)));
      at = end;
    }
  }
  return tokens;
}

function setOf(text: string): FitsOne {
  const isNegated = text[0] === '!' || text[0] === '^';
  const set = isNegated ? text.slice(1) : text;
  return (one) => isIn(set, one) !== isNegated;
}

function isIn(set: string, char: string): boolean {
  for (let at = 0; at < set.length; at++) {
    const from = set[at] as string;
    const to = set[at + 1] === '-' ? set[at + 2] : undefined;
    if (to === undefined ? from === char : from <= char && char <= to) return true;
    if (to !== undefined) at += 2;
  }
  return false;
}

function refused(text: string, what: string): NebulaError {
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return new NebulaError('BAD_FILE_PATTERN', `The path '${shown}' of a file trigger ${what}.`, {
    hint: 'Take a folder, or a pattern such as inbox/*.csv; several triggers can name several patterns.',
  });
}
