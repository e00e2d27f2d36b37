/** Checks that apply to every value of a definition, regardless of its key and of the source format. */
import { DEFINITION_LIMITS } from '../limits.ts';
import { isJsonList, type Json, setMember } from '../value.ts';
import type { ProblemList } from './problem-list.ts';

const DATA_LIMITS = {
  /**
   * An object with shared parts can be exponentially larger than it looks; a definition with maxNodes nodes stays below
   * this.
   */
  maxValues: 5_000_000,
} as const;

type Path = (string | number)[];

/** Walks all data; the reader has already bounded the depth. Returns the total number of object members. */
export function checkData(root: Json, problems: ProblemList): number {
  let members = 0;
  const path: Path = [];
  const visit = (value: Json): void => {
    if (typeof value === 'string') {
      if (!value.isWellFormed()) reportBadUnicode(path, problems);
    } else if (typeof value === 'number') {
      if (!Number.isSafeInteger(value)) checkNumber(value, path, problems);
    } else if (isJsonList(value)) {
      for (let index = 0; index < value.length; index++) {
        path.push(index);
        visit(value[index] ?? null);
        path.pop();
      }
    } else if (value !== null && typeof value === 'object') {
      for (const key of Object.keys(value)) {
        members++;
        path.push(key);
        checkKey(key, path, problems);
        visit(value[key] ?? null);
        path.pop();
      }
    }
  };
  visit(root);
  return members;
}

function checkKey(key: string, path: Path, problems: ProblemList): void {
  if (key === '__proto__') {
    problems.error({
      code: 'RESERVED_KEY',
      message: "'__proto__' cannot be a key",
      hint: 'the name is reserved by JavaScript; use another key',
      path: [...path],
      at: 'key',
    });
  } else if (!key.isWellFormed()) {
    reportBadUnicode(path, problems, 'key');
  }
}

function reportBadUnicode(path: Path, problems: ProblemList, at: 'key' | 'value' = 'value'): void {
  problems.error({
    code: 'INVALID_UNICODE',
    message: `the ${at === 'key' ? 'key' : 'text'} contains half of a surrogate pair, which is not a character`,
    hint: 'write both halves (\\ud83d\\ude00) or the character itself',
    path: [...path],
    at,
  });
}

function checkNumber(value: number, path: Path, problems: ProblemList): void {
  if (!Number.isFinite(value)) {
    problems.error({
      code: 'NOT_FINITE',
      message: `${writtenNumber(path, problems) ?? value} is not a finite number`,
      hint: 'workflow data is JSON, which has no infinity and no NaN; use a number or null',
      path: [...path],
    });
    return;
  }
  const written = Number.isInteger(value) ? writtenNumber(path, problems) : undefined;
  if (written === undefined || !/^[-+]?\d+$/.test(written) || BigInt(written.replace('+', '')) === BigInt(value))
    return;
  problems.warning({
    code: 'UNSAFE_INTEGER',
    message: `${written} is too large to be exact: it becomes ${BigInt(value)}`,
    hint: `put it in quotes to keep every digit: "${written}"`,
    path: [...path],
  });
}

function writtenNumber(path: Path, problems: ProblemList): string | undefined {
  if (problems.full) return undefined;
  const range = problems.source.rangeOf(path);
  // For a longer number, the message shows its value instead.
  if (!range || range.length > 400) return undefined;
  return problems.source.text.slice(range.offset, range.offset + range.length);
}

/**
 * Deep-copies an object, so that later changes to it do not affect the definition; `undefined` when it is not JSON
 * data.
 */
export function copyData(root: unknown, problems: ProblemList): Json | undefined {
  let values = 0;
  const path: Path = [];
  const refuse = (code: string, message: string, hint: string): undefined => {
    problems.error({ code, message, hint, path: [...path] });
    return undefined;
  };
  const copy = (value: unknown): Json | undefined => {
    if (++values > DATA_LIMITS.maxValues) {
      const hint = 'a shared object counts once for each use';
      if (!problems.hasErrors)
        refuse('TOO_LARGE', `the definition has more than ${DATA_LIMITS.maxValues} values`, hint);
      return undefined;
    }
    if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
      return value;
    if (path.length >= DEFINITION_LIMITS.maxNestingDepth && typeof value === 'object') {
      return refuse('TOO_DEEP', tooDeepMessage(), 'is an object part of itself?');
    }
    if (Array.isArray(value)) return copyMembers<Json[]>(value.entries(), []);
    if (isPlainObject(value)) return copyMembers<Record<string, Json>>(Object.entries(value), {});
    return refuse(
      'NOT_JSON',
      `${nameOf(value)} is not JSON data`,
      'use null, booleans, numbers, strings, lists and plain objects',
    );
  };
  const copyMembers = <T extends Json[] | Record<string, Json>>(
    members: Iterable<[string | number, unknown]>,
    target: T,
  ): T => {
    for (const [key, member] of members) {
      if (values > DATA_LIMITS.maxValues) break;
      if (member === undefined && typeof key === 'string') continue;
      path.push(key);
      const copied = copy(member);
      if (copied !== undefined) setMember(target as Record<string, Json>, key as string, copied);
      path.pop();
    }
    return target;
  };
  return copy(root);
}

export function tooDeepMessage(): string {
  return `values are nested deeper than ${DEFINITION_LIMITS.maxNestingDepth} levels`;
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  // An object of another realm (a vm, a worker) has that realm's Object.prototype, which has no prototype.
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) return `a ${value.constructor?.name ?? 'special'} object`;
  return value === undefined ? 'undefined' : `a ${typeof value}`;
}
