/** Schemas that become part of a workflow, and so must be data. */
import { canonicalJson, isJsonObject, type Json, type JsonObject, type JsonSchema } from '@nebula/core';
import type { Schema } from '../define-action.ts';
import { isJsonSchema } from '../json-schema.ts';
import { describeStandardSchema, isStandardSchema } from '../standard-schema.ts';
import { invalid } from './render.ts';

/** A library's schema as JSON Schema. What only code can do, such as converting, would be lost, and is refused. */
export function dataSchema(schema: Schema | undefined, what: string): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  if (!isStandardSchema(schema)) {
    if (isJsonSchema(schema)) return schema;
    throw invalid(`${what} is not a schema`, 'give a Standard Schema (zod 4 and others) or a JSON Schema');
  }
  const [given, parsed] = [describeStandardSchema(schema, 'input'), describeStandardSchema(schema, 'output')];
  if (given === undefined) {
    throw invalid(`${what} has no JSON Schema`, 'use a library that makes them (zod 4), or write a JSON Schema');
  }
  if (parsed === undefined || shapeText(given) !== shapeText(parsed)) {
    throw invalid(`${what} changes what it is given`, 'a workflow is data: convert in an action, not in the schema');
  }
  const { $schema: _, ...rest } = isJsonObject(given) ? given : {};
  return isJsonObject(given) ? rest : given;
}

/** What differs between what is given and what comes out although nothing is converted. */
const SIDED = new Set(['required', 'additionalProperties', '$schema', 'default']);

function shapeText(schema: JsonSchema): string {
  return canonicalJson(shapeOf(schema));
}

function shapeOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value as JsonObject).filter(([key, member]) => !SIDED.has(key) || isJsonObject(member));
  return Object.fromEntries(members.map(([key, member]) => [key, shapeOf(member)]));
}
