/** A JSONPath query (RFC 9535) as data. */
import { isJsonObject, type Json, memberOf } from '../../value.ts';
import type { Budget } from '../budget.ts';
import type { Span } from '../expression-error.ts';

export interface Query extends Span {
  readonly segments: readonly Segment[];
  /** Names and indexes of a query that selects at most one value; otherwise undefined. */
  readonly singular: readonly (string | number)[] | undefined;
}

export interface Segment extends Span {
  readonly descendant: boolean;
  readonly selectors: readonly Selector[];
}

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'wildcard' }
  | {
      readonly kind: 'slice';
      readonly start: number | undefined;
      readonly end: number | undefined;
      readonly step: number;
    }
  | { readonly kind: 'filter'; readonly test: FilterTest };

export type FilterOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export type FilterTest =
  | { readonly kind: 'or' | 'and'; readonly operands: readonly FilterTest[] }
  | { readonly kind: 'not'; readonly operand: FilterTest }
  | {
      readonly kind: 'compare';
      readonly operator: FilterOperator;
      readonly left: Comparable;
      readonly right: Comparable;
    }
  | { readonly kind: 'exists'; readonly query: FilterQuery }
  | { readonly kind: 'regex'; readonly whole: boolean; readonly text: Comparable; readonly pattern: Comparable };

/** The operand of a comparison: a value, or nothing. */
export type Comparable =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'single'; readonly query: FilterQuery }
  | { readonly kind: 'length'; readonly of: Comparable }
  | { readonly kind: 'count'; readonly query: FilterQuery }
  | { readonly kind: 'value'; readonly query: FilterQuery };

/** `$…` starts at the root, `@…` at the value under test. */
export interface FilterQuery {
  readonly absolute: boolean;
  readonly query: Query;
}

/** Names and indexes of the leading segments that select at most one value each. */
export function singularPrefix(segments: readonly Segment[]): readonly (string | number)[] {
  const path: (string | number)[] = [];
  for (const { descendant, selectors } of segments) {
    const only = selectors.length === 1 && !descendant ? selectors[0] : undefined;
    if (only?.kind === 'name') path.push(only.name);
    else if (only?.kind === 'index') path.push(only.index);
    else break;
  }
  return path;
}

/** Shared by all parts of one query run. */
export interface QueryContext {
  readonly root: Json;
  readonly budget: Budget;
}

/** Returns the values that some segments select below a value. */
export type Selection = (context: QueryContext, from: Json) => readonly Json[];

/** Passed to the filters, whose own queries may select many values. */
export type CompileSegments = (segments: readonly Segment[]) => Selection;

/** Reads a singular query without building lists; `undefined` is the Nothing of RFC 9535. */
export function readSingular(from: Json, path: readonly (string | number)[]): Json | undefined {
  let value: Json | undefined = from;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (typeof key === 'number') value = Array.isArray(value) ? value.at(key) : undefined;
    else value = isJsonObject(value) ? memberOf(value, key) : undefined;
  }
  return value;
}
