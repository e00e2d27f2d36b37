/** Follows a path of members through a schema, without data, to find references that can never be valid. */
import type { DocumentPath } from '../problem.ts';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../value.ts';

/**
 * The verdict on a path:
 *  - fits: the schema names every member, or leaves them open
 *  - absent: such a member cannot exist
 *  - undeclared: the schema neither names nor forbids the member
 */
export type Finding =
  | { readonly verdict: 'fits'; readonly schema: JsonSchema }
  | { readonly verdict: 'absent' | 'undeclared'; readonly at: number; readonly known: readonly string[] };

const SAYS_MORE = ['$ref', '$dynamicRef', 'anyOf', 'oneOf', 'allOf', 'if', 'patternProperties', 'not'];

export function followPath(schema: JsonSchema, path: DocumentPath): Finding {
  let current = schema;
  for (const [at, key] of path.entries()) {
    const step = stepInto(current, key, at);
    if (step.verdict !== 'fits') return step;
    current = step.schema;
  }
  return fits(current);
}

function stepInto(schema: JsonSchema, key: string | number, at: number): Finding {
  if (!isJsonObject(schema) || SAYS_MORE.some((keyword) => Object.hasOwn(schema, keyword))) return fits(true);
  const types = typesOf(schema.type);
  if (types === undefined) return isJsonObject(schema.properties) ? member(schema, String(key), at) : fits(true);
  if (types.length !== 1) return fits(true);
  const [type] = types;
  if (type === 'object') return member(schema, String(key), at);
  if (type === 'array' && typeof key === 'number') return fits(schemaOr(schema.items));
  if (type !== 'array' && type !== 'string') return { verdict: 'absent', at, known: [] };
  return key === 'length' ? fits({ type: 'integer' }) : { verdict: 'absent', at, known: ['length'] };
}

function member(schema: JsonObject, key: string, at: number): Finding {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  if (Object.hasOwn(properties, key)) return fits(schemaOr(properties[key]));
  const known = Object.keys(properties);
  if (schema.additionalProperties === false) return { verdict: 'absent', at, known };
  if (isJsonObject(schema.additionalProperties)) return fits(schema.additionalProperties);
  return known.length === 0 ? fits(true) : { verdict: 'undeclared', at, known };
}

function fits(schema: JsonSchema): Finding {
  return { verdict: 'fits', schema };
}

function typesOf(type: Json | undefined): readonly Json[] | undefined {
  if (type === undefined) return undefined;
  return Array.isArray(type) ? type : [type];
}

function schemaOr(schema: Json | undefined): JsonSchema {
  return typeof schema === 'boolean' || isJsonObject(schema) ? schema : true;
}
