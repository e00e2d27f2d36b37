/** Member access on values, and the errors for missing members. */

import { clipped } from '../problem.ts';
import { isJsonList, type Json, type JsonObject } from '../value.ts';
import { ExpressionError, quoted, type Span } from './expression-error.ts';
import { closestMember, describe, kindOf } from './kind.ts';
import { hasMethod } from './library/registry.ts';

const LISTED_MEMBERS = 8;
const SHOWN_SOURCE = 60;

/** Reads an own member only, whatever its name; `undefined` when there is none. */
export function readMember(value: Json, name: string): Json | undefined {
  if (typeof value === 'object' && value !== null) {
    if (!Object.hasOwn(value, name)) return undefined;
    // `length` is the only named property of a list; `list['0']` is not an index.
    if (isJsonList(value)) return name === 'length' ? value.length : undefined;
    return value[name];
  }
  return typeof value === 'string' && name === 'length' ? value.length : undefined;
}

/**
 * Like `readMember`, but several times faster, for names that no plain object inherits: if a plain object has such a
 * member, it is an own member. Values that are not plain objects take the slow path.
 */
function readOrdinaryMember(value: Json, name: string): Json | undefined {
  if (typeof value === 'object' && value !== null) {
    const prototype = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return (value as JsonObject)[name];
  }
  return readMember(value, name);
}

/** Negative indexes count from the end. */
function readElement(value: Json, index: number): Json | undefined {
  return isJsonList(value) ? value[index < 0 ? value.length + index : index] : undefined;
}

export function readKey(value: Json, key: string | number): Json | undefined {
  return typeof key === 'string' ? readMember(value, key) : readElement(value, key);
}

/** Selects the reader for a key that is known at compile time. */
export function keyReader(key: string | number): (value: Json, key: string | number) => Json | undefined {
  const read: (value: Json, key: never) => Json | undefined =
    typeof key === 'number' ? readElement : key in Object.prototype ? readMember : readOrdinaryMember;
  return read as (value: Json, key: string | number) => Json | undefined;
}

/** The error for a key that `value` does not have. `before` is the source of the value. */
export function missing(value: Json, key: string | number, before: string, at: Span): ExpressionError {
  const subject = sourceText(before);
  const access = typeof key === 'number' ? `[${key}]` : /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${quoted(key)}]`;
  const fail = (code: 'EXPRESSION_TYPE' | 'EXPRESSION_REFERENCE', message: string, hint: string) =>
    new ExpressionError(code, `${subject} ${message}`, { at, hint, isMissing: true });
  switch (kindOf(value)) {
    case 'null': {
      const optional = access.startsWith('.') ? `?${access}` : `?.${access}`;
      return fail('EXPRESSION_TYPE', `is null and has no ${keyText(key)}`, `write ${optional} if it may be null`);
    }
    case 'array':
      if (typeof key === 'number' && isJsonList(value)) {
        const { length } = value;
        const range = length === 0 ? 'is empty' : `has only ${length} element${length === 1 ? '' : 's'}`;
        return fail(
          'EXPRESSION_REFERENCE',
          `${range} and has no ${keyText(key)}`,
          `write ?.${access} if it may be missing`,
        );
      }
      return fail(
        'EXPRESSION_TYPE',
        `is a list and has no ${keyText(key)}`,
        callHint(key) ?? `for each element: .map(i => i${access})`,
      );
    case 'object':
      if (typeof key === 'number') {
        return fail(
          'EXPRESSION_TYPE',
          'is an object, whose members have names, not numbers',
          `write [${JSON.stringify(String(key))}]`,
        );
      }
      return fail('EXPRESSION_REFERENCE', `has no ${keyText(key)}`, memberHint(value as JsonObject, key, access));
    case 'boolean':
    case 'number':
    case 'string':
      return fail(
        'EXPRESSION_TYPE',
        `is ${describe(value)} and has no ${keyText(key)}`,
        callHint(key) ?? 'only objects and lists have members',
      );
  }
}

/** Shortens the source of a value for a message; the end is the most telling part. */
export function sourceText(source: string): string {
  return source.length > SHOWN_SOURCE ? `…${source.slice(-SHOWN_SOURCE)}` : source;
}

function keyText(key: string | number): string {
  return typeof key === 'number' ? `element ${key}` : `member ${quoted(key)}`;
}

function callHint(key: string | number): string | undefined {
  return typeof key === 'string' && hasMethod(key) ? `to call the function write .${key}()` : undefined;
}

function memberHint(object: JsonObject, key: string, access: string): string {
  const meant = closestMember(object, key);
  if (meant !== undefined) return `did you mean ${JSON.stringify(meant)}?`;
  const call = callHint(key);
  if (call !== undefined) return call;
  const optional = access.startsWith('.') ? `?${access}` : `?.${access}`;
  const names = Object.keys(object);
  const listed = names
    .slice(0, LISTED_MEMBERS)
    .map((name) => clipped(name))
    .join(', ');
  const known = names.length === 0 ? 'it is empty' : `it has ${listed}${names.length > LISTED_MEMBERS ? ', …' : ''}`;
  return `${known}; write ${optional} if it may be missing`;
}
