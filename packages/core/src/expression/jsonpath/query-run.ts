/** What running a query and running its filters have in common. */
import { isJsonObject, type Json, memberOf } from '../../value.ts';
import type { Budget } from '../budget.ts';
import type { Segment } from './query.ts';

/** What all parts of one query run share. */
export interface QueryContext {
  readonly root: Json;
  readonly budget: Budget;
}

/** The values that some segments select below a value. */
export type Selection = (context: QueryContext, from: Json) => readonly Json[];

/** Handed to the filters, whose own queries may select many values. */
export type CompileSegments = (segments: readonly Segment[]) => Selection;

/** Reads a singular query without lists; undefined is RFC 9535's Nothing. */
export function readSingular(from: Json, path: readonly (string | number)[]): Json | undefined {
  let value: Json | undefined = from;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (typeof key === 'number') value = Array.isArray(value) ? value.at(key) : undefined;
    else value = isJsonObject(value) ? memberOf(value, key) : undefined;
  }
  return value;
}
