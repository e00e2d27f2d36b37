/**
 * Derives types from JSON Schemas. The compiler reads a literal schema in `defineAction`, so nothing is written twice.
 * `jsonSchema<T>()` is the alternative for schemas that these types do not cover (`$ref`, `if`, computed schemas).
 */
import type { Json, JsonObject, JsonSchema } from '@nebula/core';

declare const typed: unique symbol;

/** A JSON Schema whose type was declared by its author. */
export type TypedSchema<T> = JsonObject & { readonly [typed]?: T };

/** Declares the type of a JSON Schema's values: `jsonSchema<Order>({ $ref: … })`. */
export function jsonSchema<T>(schema: JsonObject): TypedSchema<T> {
  return schema as TypedSchema<T>;
}

/**
 * `written` is the value as given by a workflow; `parsed` is the value passed to the code, in which members with a
 * default are always present.
 */
export type Stage = 'written' | 'parsed';

export type FromSchema<S, M extends Stage> = S extends { readonly [typed]?: infer T }
  ? typeof typed extends keyof S
    ? T
    : FromKeywords<S, M>
  : FromKeywords<S, M>;

type FromKeywords<S, M extends Stage> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] }
      ? FromSchema<A, M>
      : S extends { readonly oneOf: readonly (infer A)[] }
        ? FromSchema<A, M>
        : S extends { readonly type: readonly (infer T)[] }
          ? FromType<S, T, M>
          : S extends { readonly type: infer T }
            ? FromType<S, T, M>
            : Json;

/** Distributes over a union of types. */
type FromType<S, T, M extends Stage> = T extends 'string'
  ? string
  : T extends 'number' | 'integer'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array'
          ? readonly (S extends { readonly items: infer I } ? FromSchema<I, M> : Json)[]
          : T extends 'object'
            ? FromObject<S, M>
            : Json;

type FromObject<S, M extends Stage> = S extends { readonly properties: infer P }
  ? Flat<
      { readonly [K in keyof P as K extends Present<S, P, M> ? K : never]: FromSchema<P[K], M> } & {
        readonly [K in keyof P as K extends Present<S, P, M> ? never : K]?: FromSchema<P[K], M>;
      }
    >
  : S extends { readonly additionalProperties: infer A }
    ? { readonly [key: string]: A extends JsonObject ? FromSchema<A, M> : Json }
    : JsonObject;

/** Names of the members that are always present. */
type Present<S, P, M extends Stage> =
  | (S extends { readonly required: readonly (infer R)[] } ? R : never)
  | (M extends 'parsed' ? { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P] : never);

type Flat<T> = { [K in keyof T]: T[K] };

export function isJsonSchema(schema: unknown): schema is JsonSchema {
  return typeof schema === 'boolean' || (typeof schema === 'object' && schema !== null && !Array.isArray(schema));
}
