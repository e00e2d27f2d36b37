/** Types of values: from a schema, from an example, or both; shown as short words, and followed member by member. */
import { isJsonObject, type Json, type JsonSchema } from '@nebula/core';

/** What is known about a value. */
export interface Known {
  readonly schema?: JsonSchema | undefined;
  readonly value?: Json | undefined;
}

export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' | 'any';

const SHORT: Readonly<Record<Kind, string>> = {
  null: 'null',
  boolean: 'boolean',
  number: 'number',
  string: 'text',
  array: 'list',
  object: 'object',
  any: 'any',
};

export function kindOf({ schema, value }: Known): Kind {
  if (isJsonObject(schema)) {
    const { type } = schema;
    if (type === 'integer') return 'number';
    if (typeof type === 'string' && type in SHORT) return type as Kind;
    if (isJsonObject(schema.properties)) return 'object';
    if (Array.isArray(schema.enum) && schema.enum.every((one) => typeof one === 'string')) return 'string';
  }
  if (value === undefined) return 'any';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as Kind);
}

/** `text`, `list of number`, `object`. */
export function typeText(known: Known): string {
  const kind = kindOf(known);
  if (kind !== 'array') return SHORT[kind];
  const item = kindOf(memberOf(known, 0));
  return item === 'any' ? SHORT.array : `list of ${SHORT[item]}`;
}

export function memberOf({ schema, value }: Known, key: string | number): Known {
  return { schema: memberSchema(schema, key), value: memberValue(value, key) };
}

function memberSchema(schema: JsonSchema | undefined, key: string | number): JsonSchema | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (typeof key === 'number') return asSchema(schema.items);
  const { properties, additionalProperties } = schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) return asSchema(properties[key]);
  return isJsonObject(additionalProperties) ? additionalProperties : undefined;
}

function asSchema(value: Json | undefined): JsonSchema | undefined {
  return isJsonObject(value) || typeof value === 'boolean' ? value : undefined;
}

function memberValue(value: Json | undefined, key: string | number): Json | undefined {
  if (Array.isArray(value)) return typeof key === 'number' ? value[key] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, String(key)) ? value[String(key)] : undefined;
}

/** The members of an object that are known, those of the schema first. */
export function membersOf(
  known: Known,
): { readonly key: string; readonly known: Known; readonly doc: string | undefined }[] {
  const { schema, value } = known;
  const declared = isJsonObject(schema) && isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  const seen = isJsonObject(value) ? Object.keys(value).filter((key) => !declared.includes(key)) : [];
  return [...declared, ...seen].map((key) => {
    const member = memberOf(known, key);
    const doc = isJsonObject(member.schema) ? (member.schema.description ?? member.schema.title) : undefined;
    return { key, known: member, doc: typeof doc === 'string' ? doc : undefined };
  });
}

const MAX_PREVIEW = 60;

/** A value on one line, shortened. */
export function previewText(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value) ?? '';
  return text.length > MAX_PREVIEW ? `${text.slice(0, MAX_PREVIEW)}…` : text;
}
