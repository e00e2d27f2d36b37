/** The words with which authors write values: `expr`, `text`, and what turns one reference into another. */
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

/** What may stand in the holes of `expr`: references, and literals of JSON. */
type Hole = (Expression<unknown> & { readonly text?: Expression<unknown> }) | JsonLiteral;
type JsonLiteral = string | number | boolean | null | readonly JsonLiteral[] | { readonly [key: string]: JsonLiteral };

/**
 * An expression of the language, with references and literals in its holes: `` expr<boolean>`${order.output.total} > 100` ``.
 * The type is the author's word.
 */
export function expr<T = unknown>(parts: TemplateStringsArray, ...holes: readonly Hole[]): Ref<NoInfer<T>> {
  return rootReference<NoInfer<T>>({ kind: 'code', parts: [...parts], holes });
}

/** Text with values in it: `` text`Dear ${user.output.name}` ``. Null is empty, objects are JSON. */
export function text(parts: TemplateStringsArray, ...holes: readonly (Expression<unknown> | JsonLiteral)[]): Text {
  return textExpression({ kind: 'text', parts: [...parts], holes });
}

/** Says what a reference holds, where no schema does: `typed<Order>(response.output.body)`. */
export function typed<T>(ref: Expression<unknown>): Ref<T> {
  return reference<T>(pathOf(ref));
}

/** The same reference where it may be null: the output of a node that may have been skipped. */
export function maybe<T>(ref: Expression<T>): Ref<T | null> {
  return reference<T | null>({ ...pathOf(ref), isNullable: true });
}

/** The value, or another one where it is null or missing. */
export function or<T, F>(ref: Expression<T>, fallback: F): Ref<NonNullable<T> | Resolved<F>> {
  return rootReference({ kind: 'code', parts: ['', ' ?? ', ''], holes: [ref, fallback] });
}

/** An item of a list, or a member by a name that is known only when it runs. Null where there is none. */
export function at<T>(ref: Expression<readonly T[] | null>, key: number | Expression<number>): Ref<T | null>;
export function at<T>(
  ref: Expression<{ readonly [key: string]: T } | null>,
  key: string | Expression<string>,
): Ref<T | null>;
export function at(ref: Expression<unknown>, key: unknown): Ref<unknown> {
  return memberOf(pathOf(ref), key);
}
