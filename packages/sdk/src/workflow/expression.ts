/**
 * What authors hold in their hands: things that have a value when the workflow runs. To the compiler they are typed; here
 * they are a `Source`, which `render.ts` turns into the text of an expression once it is known where that text stands.
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

/** Where lists, texts and objects mix, or nothing is known, there are no members: `typed<T>()` says what it is. */
type Members<T> = [NonNullable<T>] extends [never]
  ? unknown
  : [NonNullable<T>] extends [readonly unknown[] | string]
    ? { readonly length: Ref<number | NullOf<T>> }
    : [NonNullable<T>] extends [object]
      ? ObjectMembers<NonNullable<T>, NullOf<T>>
      : unknown;

/** What may be missing is null in the language, and so it is here. */
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

/** Text with values in it. It is no part of other expressions. */
export interface Text extends Expression<string> {
  readonly text: true;
}

/** What may stand where a `T` is wanted: the value itself, with expressions at any depth of it. */
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

/** The members of an object, each a value or an expression; an expression for all of them at once will not do. */
export type Fields<T> = ([Json] extends [T]
  ? { readonly [key: string]: AnyValue }
  : T extends readonly unknown[]
    ? never
    : T extends object
      ? { readonly [K in keyof T]: Value<T[K]> }
      : never) & { readonly [resolved]?: never };

/** `false` and `null` do not hold; everything else does. */
export type Condition = boolean | Expression<boolean | null>;

/** The type that a written value has in the end. */
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

/** Where reading begins. Objects stand for what they name: the same object is the same thing. */
export type Root =
  | { readonly kind: 'node'; readonly node: NodePlace; readonly member: string }
  | { readonly kind: 'loop'; readonly loop: object; readonly member: 'item' | 'index' | 'items' | 'previous' }
  | { readonly kind: 'self'; readonly of: object }
  | {
      readonly kind: 'run';
      readonly name: 'input' | 'vars' | 'execution' | 'workflow' | 'trigger';
      readonly of: object;
    }
  | { readonly kind: 'code'; readonly parts: readonly string[]; readonly holes: readonly unknown[] };

export interface NodePlace {
  readonly id: string;
  /** The graph that the node is in. */
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
  /** What is known of the value; true when nothing is. */
  readonly schema: JsonSchema;
  /** Whether it may turn out to be null, so that members are read with `?.`. */
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
  throw new NebulaError('WORKFLOW_INVALID', 'a reference is needed here', {
    hint: 'read it from a node, the input or an item: user.output.name',
  });
}

/** Every member that is read is a longer reference. */
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

/** The schema of what a list reference has in it. */
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
  throw new NebulaError('WORKFLOW_INVALID', 'a reference has no value while the workflow is written', {
    hint: 'put text before the quotes, text`Hello …`, or expr`…` to calculate with it',
  });
}

function refuseChange(): never {
  throw new NebulaError('WORKFLOW_INVALID', 'a reference cannot be changed', {
    hint: 'w.set() assigns variables',
  });
}
