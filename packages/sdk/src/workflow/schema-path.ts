/**
 * Determines from schemas which members always exist. Members that always exist are read with `.`, all others with
 * `?.`, so that an optional member never fails a run.
 */
import type { Json, JsonObject, JsonSchema } from '@nebula/core';
import { isJsonObject } from '@nebula/core/authoring';

/** The alternatives of a schema, without `null`. */
export function alternatives(schema: JsonSchema): readonly JsonSchema[] {
  if (!isJsonObject(schema)) return [schema];
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return (choices as readonly JsonSchema[]).filter((one) => !isNull(one));
  if (!Array.isArray(schema.type)) return [schema];
  return schema.type.filter((type) => type !== 'null').map((type) => ({ ...schema, type }));
}

export function mayBeNull(schema: JsonSchema): boolean {
  if (!isJsonObject(schema)) return false;
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return choices.some((one) => isNull(one) || mayBeNull(one as JsonSchema));
  return isNull(schema) || (Array.isArray(schema.type) && schema.type.includes('null'));
}

function isNull(schema: Json): boolean {
  return isJsonObject(schema) && (schema.type === 'null' || schema.const === null);
}

/** The schema of a member that always exists, or undefined. */
export function memberSchema(schema: JsonSchema, key: unknown): JsonSchema | undefined {
  const found = alternatives(schema).map((one) => certainMember(one, key));
  if (found.length === 0 || found.includes(undefined)) return undefined;
  return found.length === 1 ? found[0] : { anyOf: found as JsonSchema[] };
}

function certainMember(schema: JsonSchema, key: unknown): JsonSchema | undefined {
  if (!isJsonObject(schema) || typeof key !== 'string') return undefined;
  if (schema.type === 'array' || schema.type === 'string') return key === 'length' ? { type: 'integer' } : undefined;
  if (schema.type !== 'object' || !isJsonObject(schema.properties)) return undefined;
  const member = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
  const isRequired = Array.isArray(schema.required) && schema.required.includes(key);
  return member !== undefined && isRequired ? (member as JsonSchema) : undefined;
}

/** Members with a default always exist once defaults are filled in. */
export function withDefaults(schema: JsonSchema): JsonSchema {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return schema;
  const properties: Record<string, JsonSchema> = {};
  const required = new Set(Array.isArray(schema.required) ? (schema.required as string[]) : []);
  for (const [key, member] of Object.entries(schema.properties)) {
    properties[key] = withDefaults(member as JsonSchema);
    if (isJsonObject(member) && Object.hasOwn(member, 'default')) required.add(key);
  }
  return { ...schema, properties, required: [...required] };
}

export function objectSchema(properties: Readonly<Record<string, JsonSchema>>): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties) };
}
