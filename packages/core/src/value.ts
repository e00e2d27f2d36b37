/** The values of a workflow: JSON only. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** A JSON Schema (draft 2020-12), kept as plain data. */
export type JsonSchema = JsonObject | boolean;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** Maps all texts of a value, the names of members included. Returns the same value if none changes. */
export function mapTexts(value: Json, map: (text: string) => string): Json {
  if (typeof value === 'string') return map(value);
  if (isJsonList(value)) {
    const items = value.map((item) => mapTexts(item, map));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value);
  const mapped = names.map((name) => mapTexts(value[name] as Json, map));
  const mappedNames = names.map(map);
  if (names.every((name, index) => mappedNames[index] === name && mapped[index] === value[name])) return value;
  const members: Record<string, Json> = {};
  for (const [index, name] of mappedNames.entries()) setMember(members, name, mapped[index] as Json);
  return members;
}

/** The elements of a list, or the values of an object. */
export function partsOf(value: readonly Json[] | JsonObject): readonly Json[] {
  return isJsonList(value) ? value : Object.values(value);
}

/** Reads an own property; never reaches a prototype. */
export function memberOf(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Sets an own member, even if its name is `__proto__`. */
export function setMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** The type of a value, as JSON Schema names it. */
export function jsonTypeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

/** The types of JSON Schema in messages. */
export const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

/** Deep equality by type and value, regardless of key order. */
export function jsonEquals(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (isJsonList(a)) {
    if (!isJsonList(b) || a.length !== b.length) return false;
    return a.every((item, index) => jsonEquals(item, b[index] ?? null));
  }
  if (isJsonList(b)) return false;
  const members = Object.entries(a);
  if (members.length !== Object.keys(b).length) return false;
  return members.every(([key, member]) => Object.hasOwn(b, key) && jsonEquals(member, b[key] ?? null));
}

/** True when lists and objects nest deeper than `limit`. Not recursive, so that any depth is safe. */
export function nestsDeeper(value: Json, limit: number): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const next: Json[] = [];
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue;
      if (depth >= limit) return true;
      for (const inner of partsOf(one)) if (typeof inner === 'object' && inner !== null) next.push(inner);
    }
    level = next;
  }
  return false;
}

/** The path to the first number that is not finite (`1e999` parses to one), or `undefined`. */
export function pathToNonFinite(value: Json): readonly (string | number)[] | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : [];
  if (typeof value !== 'object' || value === null) return undefined;
  const members: Iterable<readonly [string | number, Json]> = isJsonList(value)
    ? value.entries()
    : Object.entries(value);
  for (const [key, inner] of members) {
    const found = pathToNonFinite(inner);
    if (found !== undefined) return [key, ...found];
  }
  return undefined;
}

/** JSON text with sorted keys: equal values have equal text, so the text can be hashed. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  let text = '';
  for (const key of Object.keys(value).sort()) {
    text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

/** Whether the value contains more than `most` values, counting itself. Stops at the limit. */
export function hasMoreValues(value: Json, most: number): boolean {
  let count = 0;
  const visit = (one: Json): boolean => {
    if (++count > most) return true;
    if (typeof one !== 'object' || one === null) return false;
    return partsOf(one).some(visit);
  };
  return visit(value);
}
