/**
 * The parts of Standard Schema (standardschema.dev) and of Standard JSON Schema that Nebula uses.
 * zod 4, valibot, arktype and others implement them, so authors keep the library that they know.
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

/** Before parsing: what the writer of a workflow gives. */
export type StandardInput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input'];
/** After parsing: what the code gets. */
export type StandardOutput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output'];

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  // Some libraries' schemas are callable, hence functions.
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false;
  const standard = (schema as { '~standard'?: unknown })['~standard'];
  return isJsonObject(standard) && typeof standard.validate === 'function';
}

/** The JSON Schema that draws the form; none when the library cannot tell. */
export function describeStandardSchema(schema: StandardSchema, side: Side): JsonSchema | undefined {
  return (
    schemaOrNothing(() => schema['~standard'].jsonSchema?.[side]({ target: 'draft-2020-12' })) ??
    // zod refuses a whole object for one member without a JSON form (a Date); asked like this, it leaves only that member open.
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
    // Through text, because zod hangs a non-enumerable `~standard` on what it derives.
    return isJsonObject(derived) ? (JSON.parse(JSON.stringify(derived)) as JsonSchema) : undefined;
  } catch {
    return undefined;
  }
}

/** `orders[3].total`; empty for the value itself. */
export function issuePath(issue: StandardIssue): string {
  let path = '';
  for (const segment of issue.path ?? []) {
    const key = typeof segment === 'object' ? segment.key : segment;
    path += typeof key === 'number' ? `[${key}]` : path === '' ? String(key) : `.${String(key)}`;
  }
  return path;
}
