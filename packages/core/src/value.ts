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

/** Reads an own property; never reaches a prototype. */
export function memberOf(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Deep equality by type and value, regardless of key order. */
export function jsonEquals(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => jsonEquals(item, b[index] as Json));
  }
  if (Array.isArray(b)) return false;
  const left = a as JsonObject;
  const right = b as JsonObject;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && jsonEquals(left[key] as Json, right[key] as Json));
}

/** True when lists and objects nest deeper than `limit`. Not recursive, so that any depth is safe. */
export function nestsDeeper(value: Json, limit: number): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const next: Json[] = [];
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue;
      if (depth >= limit) return true;
      for (const inner of Array.isArray(one) ? one : Object.values(one)) {
        if (typeof inner === 'object' && inner !== null) next.push(inner as Json);
      }
    }
    level = next;
  }
  return false;
}

/** The path to the first number that is not finite (`1e999` parses to one), or `undefined`. */
export function pathToNonFinite(value: Json): readonly (string | number)[] | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : [];
  if (typeof value !== 'object' || value === null) return undefined;
  const isList = Array.isArray(value);
  for (const [key, inner] of Object.entries(value)) {
    const found = pathToNonFinite(inner as Json);
    if (found !== undefined) return [isList ? Number(key) : key, ...found];
  }
  return undefined;
}

/** JSON text with sorted keys: equal values have equal text, so the text can be hashed. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`);
  return `{${members.join(',')}}`;
}

/** Whether the value contains more than `most` values, counting itself. Stops at the limit. */
export function hasMoreValues(value: Json, most: number): boolean {
  let count = 0;
  const visit = (one: Json): boolean => {
    if (++count > most) return true;
    if (typeof one !== 'object' || one === null) return false;
    return Array.isArray(one) ? one.some(visit) : Object.values(one).some((member) => visit(member as Json));
  };
  return visit(value);
}
