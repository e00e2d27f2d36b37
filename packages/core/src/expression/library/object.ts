/** Functions of objects. */
import { isJsonList, isJsonObject, type Json, type JsonObject, memberOf, setMember } from '../../value.ts';
import { MAX_VALUE_DEPTH } from '../budget.ts';
import { limitError, typeError } from '../expression-error.ts';
import type { Frame, Lambda } from '../frame.ts';
import { describe, isTrue } from '../kind.ts';
import { type FunctionDefinition, functionsOn } from './definition.ts';

const ofObject = functionsOn<JsonObject>(['object']);

export const objectFunctions: readonly FunctionDefinition[] = [
  ofObject('keys()', 'The names of the members.', ['{ a: 1, b: 2 }.keys()', ['a', 'b']], (frame, object) =>
    namesOf(frame, object),
  ),
  ofObject('values()', 'The values of the members.', ['{ a: 1, b: 2 }.values()', [1, 2]], (frame, object) =>
    entriesOf(frame, object).map(([, value]) => value),
  ),
  ofObject(
    'entries()',
    'The members as a list of `{key, value}`.',
    ['{ a: 1 }.entries()', [{ key: 'a', value: 1 }]],
    (frame, object) => entriesOf(frame, object).map(([key, value]) => ({ key, value })),
  ),
  ofObject(
    'has(name: string)',
    'Whether the object has the member.',
    [`{ a: null }.has('a')`, true],
    (_, object, name: string) => Object.hasOwn(object, name),
  ),
  functionsOn<Json>(['object', 'array'], { picks: true })(
    'get(path: string, otherwise?: any)',
    'The value at a path such as `a.b[0].c`; null, or `otherwise`, when it is missing.',
    [`{ a: [{ b: 1 }] }.get('a[0].b')`, 1],
    (frame, value, path: string, otherwise: Json = null) => readPath(frame, value, path) ?? otherwise,
  ),
  ofObject(
    'set(name: string, value: any)',
    'A copy with one member added or replaced.',
    [`{ a: 1 }.set('b', 2)`, { a: 1, b: 2 }],
    (frame, object, name: string, value: Json) => {
      const changed = copyOf(frame, object);
      setMember(changed, name, value);
      return changed;
    },
  ),
  ofObject(
    'pick(...names: string)',
    'A copy with only the named members.',
    [`{ a: 1, b: 2, c: 3 }.pick('a', 'c')`, { a: 1, c: 3 }],
    (frame, object, names: readonly string[]) => {
      const wanted = new Set(names);
      return filtered(frame, object, (_, key) => wanted.has(key));
    },
  ),
  ofObject(
    'omit(...names: string)',
    'A copy without the named members.',
    [`{ a: 1, b: 2, c: 3 }.omit('b')`, { a: 1, c: 3 }],
    (frame, object, names: readonly string[]) => {
      const unwanted = new Set(names);
      return filtered(frame, object, (_, key) => !unwanted.has(key));
    },
  ),
  ofObject(
    'merge(...objects: object)',
    'A copy with the members of other objects; later ones win.',
    ['{ a: 1, b: 1 }.merge({ b: 2 })', { a: 1, b: 2 }],
    (frame, object, objects: readonly JsonObject[]) => {
      const merged = copyOf(frame, object);
      for (const other of objects) addMembers(frame, merged, other);
      return merged;
    },
  ),
  ofObject(
    'mergeDeep(other: object)',
    'Like merge, but nested objects are merged, too.',
    ['{ a: { x: 1 } }.mergeDeep({ a: { y: 2 } })', { a: { x: 1, y: 2 } }],
    (frame, object, other: JsonObject) => mergedDeep(frame, object, other, 0),
  ),
  ofObject(
    'mapValues(each: (value, key))',
    'A copy with each value replaced by the result of the lambda.',
    ['{ a: 1, b: 2 }.mapValues(v => v * 10)', { a: 10, b: 20 }],
    (frame, object, each: Lambda) => {
      const mapped: Record<string, Json> = {};
      for (const [key, value] of entriesOf(frame, object)) setMember(mapped, key, each.call(frame, value, key));
      return mapped;
    },
  ),
  ofObject(
    'mapKeys(each: (key, value))',
    'A copy with each name replaced by the result of the lambda.',
    ['{ a: 1 }.mapKeys(k => k.upper())', { A: 1 }],
    (frame, object, each: Lambda) => {
      const mapped: Record<string, Json> = {};
      for (const [key, value] of entriesOf(frame, object)) {
        const name = each.call(frame, key, value);
        if (typeof name !== 'string') throw typeError(`the name of a member is a string, not ${describe(name)}`);
        setMember(mapped, name, value);
      }
      return mapped;
    },
  ),
  ofObject(
    'filterValues(test: (value, key))',
    'Only the members for which the lambda is true.',
    ['{ a: 1, b: 2 }.filterValues(v => v > 1)', { b: 2 }],
    (frame, object, test: Lambda) => filtered(frame, object, (value, key) => isTrue(test.call(frame, value, key))),
  ),
  ofObject('compact()', 'A copy without null members.', ['{ a: 1, b: null }.compact()', { a: 1 }], (frame, object) =>
    filtered(frame, object, (value) => value !== null),
  ),
];

export function objectFromEntries(frame: Frame, entries: readonly Json[]): JsonObject {
  frame.budget.spendForMembers(entries.length);
  const object: Record<string, Json> = {};
  for (const entry of entries) {
    const [key, value] = isJsonList(entry)
      ? entry
      : isJsonObject(entry)
        ? [memberOf(entry, 'key'), memberOf(entry, 'value')]
        : [];
    if (typeof key !== 'string' || value === undefined) {
      throw typeError('an entry must be {key, value} or [key, value] with a string as key');
    }
    setMember(object, key, value);
  }
  return object;
}

function namesOf(frame: Frame, object: JsonObject): readonly string[] {
  const names = Object.keys(object);
  frame.budget.spendForMembers(names.length);
  return names;
}

function entriesOf(frame: Frame, object: JsonObject): readonly (readonly [string, Json])[] {
  const entries = Object.entries(object);
  frame.budget.spendForMembers(entries.length);
  return entries;
}

function filtered(frame: Frame, object: JsonObject, keep: (value: Json, key: string) => boolean): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [key, value] of entriesOf(frame, object)) if (keep(value, key)) setMember(kept, key, value);
  return kept;
}

function copyOf(frame: Frame, object: JsonObject): Record<string, Json> {
  const copy: Record<string, Json> = {};
  addMembers(frame, copy, object);
  return copy;
}

export function addMembers(frame: Frame, target: Record<string, Json>, source: JsonObject): void {
  for (const key of namesOf(frame, source)) setMember(target, key, source[key] ?? null);
}

function mergedDeep(frame: Frame, left: JsonObject, right: JsonObject, depth: number): JsonObject {
  if (depth >= MAX_VALUE_DEPTH) throw limitError(`values nested deeper than ${MAX_VALUE_DEPTH} levels are not merged`);
  frame.budget.spendForElements(1);
  const merged = copyOf(frame, left);
  for (const [key, value] of entriesOf(frame, right)) {
    const before = memberOf(left, key);
    const both = before !== undefined && isJsonObject(before) && isJsonObject(value);
    setMember(merged, key, both ? mergedDeep(frame, before, value, depth + 1) : value);
  }
  return merged;
}

function readPath(frame: Frame, from: Json, path: string): Json | undefined {
  frame.budget.spendForCharacters(path.length);
  let value: Json | undefined = from;
  // `a[0].b` and `a.0.b` mean the same.
  for (const key of path.replace(/\[(-?\d{1,15})\]/g, '.$1').split('.')) {
    if (key === '' || value === undefined) continue;
    if (isJsonList(value)) value = /^-?\d{1,15}$/.test(key) ? value.at(Number(key)) : undefined;
    else value = isJsonObject(value) ? memberOf(value, key) : undefined;
  }
  return value;
}
