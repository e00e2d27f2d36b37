/** Schemas that become part of a workflow and therefore must be data. */
import type { Json, JsonSchema } from '@nebula/core';
import { canonicalJson, isJsonObject } from '@nebula/core/authoring';
import type { Schema } from '../define-action.ts';
import { isJsonSchema } from '../json-schema.ts';
import { describeStandardSchema, isStandardSchema, type StandardSchema } from '../standard-schema.ts';
import { invalid } from './render.ts';

/**
 * Converts a library's schema to JSON Schema. Behaviour that needs code, such as conversions, would be lost and is
 * rejected.
 */
export function dataSchema(schema: Schema | undefined, what: string): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  if (!isStandardSchema(schema)) {
    if (isJsonSchema(schema)) return schema;
    throw invalid(`${what} is not a schema`, 'pass a Standard Schema (zod 4 and others) or a JSON Schema');
  }
  const [given, parsed] = [describeStandardSchema(schema, 'input'), describeStandardSchema(schema, 'output')];
  if (given === undefined || !isWhole(schema)) {
    throw invalid(`${what} has no JSON Schema`, 'use a library that can derive it (zod 4), or write a JSON Schema');
  }
  if (parsed === undefined || shapeText(given) !== shapeText(parsed)) {
    throw invalid(`${what} converts its values`, 'convert them in an action instead: a workflow is data');
  }
  const { $schema: _, ...rest } = isJsonObject(given) ? given : {};
  return isJsonObject(given) ? rest : given;
}

/** False when a member has no JSON form, e.g. a date, and was left open in the description. */
function isWhole(schema: StandardSchema): boolean {
  try {
    schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' });
    return true;
  } catch {
    return false;
  }
}

/** Keywords that differ between input and output although nothing is converted. */
const SIDED = new Set(['required', '$schema', 'default']);
const MAPS = new Set(['properties', 'patternProperties', '$defs']);

function shapeText(schema: JsonSchema): string {
  return canonicalJson(shapeOf(schema, false));
}

/** In a map, keys are names and not keywords. */
function shapeOf(value: Json, isMap: boolean): Json {
  if (Array.isArray(value)) return value.map((item) => shapeOf(item, false));
  if (!isJsonObject(value)) return value;
  const shape: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    const isSided = SIDED.has(key) || (key === 'additionalProperties' && typeof member === 'boolean');
    if (isMap || !isSided) shape[key] = shapeOf(member, !isMap && MAPS.has(key));
  }
  return shape;
}
