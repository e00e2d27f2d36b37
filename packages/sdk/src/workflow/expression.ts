/**
 * Typed references that authors use: placeholders for values that exist when the workflow runs. At run time of the
 * builder they are a `Source`, which `render.ts` converts to the text of an expression once its position is known.
 */
import type { Json, JsonSchema } from '@nebula/core';
import { NebulaError } from '@nebula/core/authoring';
import { alternatives, mayBeNull, memberSchema } from './schema-path.ts';

declare const resolved: unique symbol;

/** Has a value of type `T` when the workflow runs. */
export interface Expression<out T> {
  readonly [resolved]: T;
}

/** An expression whose members can be read. */
export type Ref<T> = Expression<T> & Members<T>;

/** Mixed lists, texts and objects, and unknown types, have no members; declare the type with `typed<T>()`. */
type Members<T> = [NonNullable<T>] extends [never]
  ? unknown
  : [NonNullable<T>] extends [readonly unknown[] | string]
    ? { readonly length: Ref<number | NullOf<T>> }
    : [NonNullable<T>] extends [object]
      ? ObjectMembers<NonNullable<T>, NullOf<T>>
      : unknown;

/** A missing member is null in the language, and null in these types. */
type ObjectMembers<T extends object, N> = {
  readonly [K in keyof T as IsName<K> extends true ? K : never]-?: Ref<
    | Exclude<T[K], undefined>
    | N
    | (Partial<Pick<T, K>> extends Pick<T, K> ? null : never)
    | (undefined extends T[K] ? null : never)
  >;
};

type IsName<K> = K extends string ? (string extends K ? false : true) : false;
type NullOf<T> = null extends T ? null : undefined extends T ? null : never;

/** Text with embedded values. It cannot be part of other expressions. */
export interface Text extends Expression<string> {
  readonly text: true;
}

/** A `T` in which expressions may replace values at any depth. */
export type Value<T> = Expression<T> | Written<T>;

type Written<T> = [Json] extends [T]
  ? AnyData
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends object
      ? { readonly [K in keyof T]: Value<T[K]> }
      : never;

type AnyData = string | number | boolean | null | readonly AnyValue[] | { readonly [key: string]: AnyValue };
type AnyValue = Expression<unknown> | AnyData;

/** The members of an object, each a value or an expression; a single expression for the whole object is not allowed. */
export type Fields<T> = ([Json] extends [T]
  ? { readonly [key: string]: AnyValue }
  : T extends readonly unknown[]
    ? never
    : T extends object
      ? { readonly [K in keyof T]: Value<T[K]> }
      : never) & { readonly [resolved]?: never };

/** `false` and `null` are false; everything else is true. */
export type Condition = boolean | Expression<boolean | null>;

/** The type of a written value after evaluation. */
export type Resolved<V> = unknown extends V
  ? unknown
  : V extends Expression<infer T>
    ? T
    : V extends { readonly output: Expression<infer T>; readonly id: string; readonly attempts: Expression<number> }
      ? T
      : V extends string | number | boolean | null | undefined
        ? V
        : V extends object
          ? { readonly [K in keyof V]: Resolved<V[K]> }
          : unknown;

/** The start of a reference. Objects are compared by identity. */
export type Root =
  | { readonly kind: 'node'; readonly node: NodeAddress; readonly member: string }
  | { readonly kind: 'loop'; readonly loop: object; readonly member: 'item' | 'index' | 'items' | 'previous' }
  | { readonly kind: 'self'; readonly of: object }
  | {
      readonly kind: 'run';
      readonly name: 'input' | 'vars' | 'execution' | 'workflow' | 'trigger';
      readonly of: object;
    }
  | { readonly kind: 'code'; readonly parts: readonly string[]; readonly holes: readonly unknown[] };

export interface NodeAddress {
  readonly id: string;
  /** The graph that contains the node. */
  readonly graph: object;
}

export interface Step {
  readonly key: unknown;
  readonly isOptional: boolean;
}

export interface PathSource {
  readonly kind: 'path';
  readonly root: Root;
  readonly steps: readonly Step[];
  /** The schema of the value, as far as known; true otherwise. */
  readonly schema: JsonSchema;
  /** Whether the value may be null, so that members are read with `?.`. */
  readonly isNullable: boolean;
}

export interface TextSource {
  readonly kind: 'text';
  readonly parts: readonly string[];
  readonly holes: readonly unknown[];
}

export type Source = PathSource | TextSource;

const sources = new WeakMap<object, Source>();

export function sourceOf(value: unknown): Source | undefined {
  return typeof value === 'object' && value !== null ? sources.get(value) : undefined;
}

export function pathOf(value: unknown): PathSource {
  const source = sourceOf(value);
  if (source?.kind === 'path') return source;
  throw new NebulaError('WORKFLOW_INVALID', 'a reference is required here', {
    hint: 'read it from a node, the input or an item, e.g. user.output.name',
  });
}

/** Reading a member returns a longer reference. */
export function reference<T>(source: PathSource): Ref<T> {
  const proxy = new Proxy(Object.freeze({}), {
    get: (_, key) => (typeof key === 'string' ? memberOf(source, key) : refuseText(key)),
    has: () => false,
    set: refuseChange,
    defineProperty: refuseChange,
  });
  sources.set(proxy, source);
  return proxy as unknown as Ref<T>;
}

export function rootReference<T>(root: Root, schema: JsonSchema = true, isNullable = false): Ref<T> {
  return reference({ kind: 'path', root, steps: [], schema, isNullable: isNullable || mayBeNull(schema) });
}

export function memberOf(source: PathSource, key: unknown): Ref<unknown> {
  const found = memberSchema(source.schema, key);
  const isOptional = source.isNullable || found === undefined;
  const schema = found ?? true;
  return reference({
    kind: 'path',
    root: source.root,
    steps: [...source.steps, { key, isOptional }],
    schema,
    isNullable: isOptional || mayBeNull(schema),
  });
}

/** The schema of the items of a list reference. */
export function itemSchema(schema: JsonSchema): JsonSchema {
  const [only, ...others] = alternatives(schema);
  if (only === undefined || others.length > 0 || typeof only === 'boolean' || only.type !== 'array') return true;
  const { items } = only;
  return typeof items === 'object' && items !== null && !Array.isArray(items) ? (items as JsonSchema) : true;
}

export function textExpression(source: TextSource): Text {
  const text = Object.freeze({ text: true });
  sources.set(text, source);
  return text as unknown as Text;
}

function refuseText(key: symbol): undefined {
  if (key !== Symbol.toPrimitive) return undefined;
  throw new NebulaError(
    'WORKFLOW_INVALID',
    'a reference cannot be used as a value: its value exists only when the workflow runs',
    {
      hint: 'to put it into text, write text`Hello …`; to compute with it, write expr`…`',
    },
  );
}

function refuseChange(): never {
  throw new NebulaError('WORKFLOW_INVALID', 'a reference cannot be changed', {
    hint: 'assign variables with w.set()',
  });
}
