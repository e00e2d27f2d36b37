/** Types and functions that queries and filters share at run time. */
import { isJsonObject, type Json, memberOf } from '../../value.ts';
import type { Budget } from '../budget.ts';
import type { Segment } from './query.ts';

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
