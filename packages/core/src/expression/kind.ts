/** The kinds of JSON values, named as in JSON Schema. */
import { didYouMean } from '../problem.ts';
import type { Json, JsonObject } from '../value.ts';

export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

export function kindOf(value: Json): Kind {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'boolean';
  // A scope that contains `undefined`, against its type, must also end in a clean error.
  return (value ?? null) === null ? 'null' : Array.isArray(value) ? 'array' : 'object';
}

const SPOKEN: Readonly<Record<Kind, string>> = {
  null: 'null',
  boolean: 'a boolean',
  number: 'a number',
  string: 'a string',
  array: 'a list',
  object: 'an object',
};

/** The kind in words, for messages: `a list`. */
export function spokenKind(kind: Kind): string {
  return SPOKEN[kind];
}

export function describe(value: Json): string {
  return SPOKEN[kindOf(value)];
}

/** Only `false` and `null` are false; everything else, including `0`, `''` and `[]`, is true. */
export function isTrue(value: Json): boolean {
  return value !== false && value !== null;
}

/** Enough to find the intended name; an object with more members is a table, not a record. */
const SUGGESTED_FROM_MEMBERS = 1_000;
/** The cost of a comparison is the product of the lengths. */
const SUGGESTED_NAME_LENGTH = 64;

/** The member that a misspelt name probably means. */
export function closestMember(object: JsonObject, name: string): string | undefined {
  if (name.length > SUGGESTED_NAME_LENGTH) return undefined;
  const names = Object.keys(object).slice(0, SUGGESTED_FROM_MEMBERS);
  return didYouMean(
    name,
    names.filter((known) => known.length <= SUGGESTED_NAME_LENGTH),
  );
}
