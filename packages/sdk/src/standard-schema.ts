/**
 * The parts of Standard Schema (standardschema.dev) and of Standard JSON Schema that Nebula uses. zod 4, valibot,
 * arktype and others implement them, so authors can use the library they know.
 */
import type { JsonSchema } from '@nebula/core';
import { isJsonObject } from '@nebula/core/authoring';

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly [side in Side]: (options: { readonly target: 'draft-2020-12' }) => unknown };
  };
}

export type Side = 'input' | 'output';

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type before parsing, as written in a workflow. */
export type StandardInput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input'];
/** The type after parsing, as passed to the code. */
export type StandardOutput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output'];

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  // Schemas of some libraries are callable, i.e. functions.
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false;
  const standard = (schema as { '~standard'?: unknown })['~standard'];
  return isJsonObject(standard) && typeof standard.validate === 'function';
}

/** The JSON Schema for forms, or undefined when the library cannot derive one. */
export function describeStandardSchema(schema: StandardSchema, side: Side): JsonSchema | undefined {
  return (
    schemaOrNothing(() => schema['~standard'].jsonSchema?.[side]({ target: 'draft-2020-12' })) ??
    // By default, zod rejects a whole object for one member without a JSON form (a Date); with this option it leaves
    // only that member open.
    schemaOrNothing(() => (schema as ZodLike).toJSONSchema?.({ io: side, unrepresentable: 'any' }))
  );
}

interface ZodLike extends StandardSchema {
  toJSONSchema?(options: { readonly io: Side; readonly unrepresentable: 'any' }): unknown;
}

function schemaOrNothing(derive: () => unknown): JsonSchema | undefined {
  try {
    const derived = derive();
    if (typeof derived === 'boolean') return derived;
    // Converted through text, because zod attaches a non-enumerable `~standard` to the derived schema.
    return isJsonObject(derived) ? (JSON.parse(JSON.stringify(derived)) as JsonSchema) : undefined;
  } catch {
    return undefined;
  }
}

/** Formats a path as `orders[3].total`; empty for the value itself. */
export function issuePath(issue: StandardIssue): string {
  let path = '';
  for (const segment of issue.path ?? []) {
    const key = typeof segment === 'object' ? segment.key : segment;
    path += typeof key === 'number' ? `[${key}]` : path === '' ? String(key) : `.${String(key)}`;
  }
  return path;
}
