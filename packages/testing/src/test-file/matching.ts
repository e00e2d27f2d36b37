/**
 * Patterns as in the language's `match`, with the position of each deviation. Objects match by the members of the
 * pattern, lists item by item; `{ gt, gte, lt, lte, in, type, exists, regex }` must stand alone.
 */
import {
  compileMatcher,
  createBudget,
  EXPRESSION_LIMITS,
  isJsonObject,
  isOperators,
  type Json,
  type JsonObject,
  jsonEquals,
  memberOf,
  NebulaError,
} from '@nebula/core';

export interface Mismatch {
  /** `output.items[2].sku`. */
  readonly what: string;
  readonly expected: Json;
  /** Undefined: the member is missing. */
  readonly actual: Json | undefined;
  readonly note?: string;
}

export function mismatches(pattern: Json, actual: Json | undefined, what: string): Mismatch[] {
  const isRight = (right: boolean): Mismatch[] => (right ? [] : [{ what, expected: pattern, actual }]);
  if (Array.isArray(pattern)) return listMismatches(pattern, actual, what);
  if (!isJsonObject(pattern)) return isRight(actual !== undefined && jsonEquals(pattern, actual));
  if (isOperators(pattern)) return isRight(holds(pattern, actual));
  if (!isJsonObject(actual ?? null)) return isRight(false);
  return Object.entries(pattern).flatMap(([key, part]) =>
    mismatches(part, memberOf(actual as JsonObject, key), `${what}${step(key)}`),
  );
}

function listMismatches(pattern: readonly Json[], actual: Json | undefined, what: string): Mismatch[] {
  if (!Array.isArray(actual)) return [{ what, expected: [...pattern], actual }];
  if (actual.length !== pattern.length) {
    return [{ what, expected: [...pattern], actual, note: `${actual.length} items instead of ${pattern.length}` }];
  }
  return pattern.flatMap((item, at) => mismatches(item, actual[at] as Json, `${what}[${at}]`));
}

function step(key: string): string {
  return /^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** A missing value is an object without the member that the pattern is about. */
function holds(pattern: JsonObject, actual: Json | undefined): boolean {
  const value = pattern.regex === undefined ? pattern : { ...pattern, regex: inlineFlags(String(pattern.regex)) };
  const { matcher, problems } = compileMatcher({ value });
  if (matcher === undefined) throw new NebulaError('MATCH_INVALID', problems[0]?.message ?? 'the pattern is invalid');
  const budget = createBudget(EXPRESSION_LIMITS, () => performance.now());
  return matcher.matches(actual === undefined ? {} : { value: actual }, budget);
}

/** `^ord` as it is; `/^ord/i` as `(?i)^ord`. */
function inlineFlags(regex: string): string {
  const [, body, flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(regex) ?? [];
  if (body === undefined) return regex;
  const kept = flags.replace(/[^ims]/g, '');
  return kept === '' ? body : `(?${kept})${body}`;
}
