/**
 * The functions with which authors write values: `expr`, `text`, and functions that derive a reference from another.
 */
import {
  type Expression,
  memberOf,
  pathOf,
  type Ref,
  type Resolved,
  reference,
  rootReference,
  type Text,
  textExpression,
} from './expression.ts';

/** The values allowed in the holes of `expr`: references and JSON literals. */
type Hole = (Expression<unknown> & { readonly text?: Expression<unknown> }) | JsonLiteral;
type JsonLiteral = string | number | boolean | null | readonly JsonLiteral[] | { readonly [key: string]: JsonLiteral };

/**
 * An expression of the language, with references and literals in its holes: `` expr<boolean>`${order.output.total} >
 * 100` ``. The type is declared by the author and not checked.
 */
export function expr<T = unknown>(parts: TemplateStringsArray, ...holes: readonly Hole[]): Ref<NoInfer<T>> {
  return rootReference<NoInfer<T>>({ kind: 'code', parts: [...parts], holes });
}

/** Text with embedded values: `` text`Dear ${user.output.name}` ``. Null becomes empty text, objects become JSON. */
export function text(parts: TemplateStringsArray, ...holes: readonly (Expression<unknown> | JsonLiteral)[]): Text {
  return textExpression({ kind: 'text', parts: [...parts], holes });
}

/** Declares the type of a reference without a schema: `typed<Order>(response.output.body)`. */
export function typed<T>(ref: Expression<unknown>): Ref<T> {
  return reference<T>(pathOf(ref));
}

/** Marks a reference as nullable: the output of a node that may have been skipped. */
export function maybe<T>(ref: Expression<T>): Ref<T | null> {
  return reference<T | null>({ ...pathOf(ref), isNullable: true });
}

/** The value, or a fallback where it is null or missing. */
export function or<T, F>(ref: Expression<T>, fallback: F): Ref<NonNullable<T> | Resolved<F>> {
  return rootReference({ kind: 'code', parts: ['', ' ?? ', ''], holes: [ref, fallback] });
}

/** An item of a list, or a member by a name known only at run time. Null where there is none. */
export function at<T>(ref: Expression<readonly T[] | null>, key: number | Expression<number>): Ref<T | null>;
export function at<T>(
  ref: Expression<{ readonly [key: string]: T } | null>,
  key: string | Expression<string>,
): Ref<T | null>;
export function at(ref: Expression<unknown>, key: unknown): Ref<unknown> {
  return memberOf(pathOf(ref), key);
}
