/** Converts values to text, for templates, `toString`, `join` and `toJson`. */
import { canonicalJson, type Json, partsOf } from '../value.ts';
import { type Budget, MAX_VALUE_DEPTH } from './budget.ts';
import { limitError } from './expression-error.ts';

/** Null becomes empty text, text stays unchanged, lists and objects become JSON. */
export function textOf(budget: Budget, value: Json): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (typeof value === 'object') return jsonText(budget, value, false);
  return String(value);
}

/** Writes JSON text; its minimum length is computed and charged before anything is written. */
export function jsonText(budget: Budget, value: Json, pretty: boolean): string {
  leastLength(budget, value, 0, pretty, budget.limits.maxStringBytes);
  return pretty ? JSON.stringify(value, null, 2) : JSON.stringify(value);
}

/** At least: a name, a value and three marks. */
const CHARACTERS_PER_MEMBER = 8;

/** A text that is equal for equal values, used for sets of lists and objects. */
export function identityText(budget: Budget, value: Json): string {
  // Each part is sorted by name and written.
  budget.spendForMembers(
    Math.max(1, leastLength(budget, value, 0, false, budget.limits.maxStringBytes) / CHARACTERS_PER_MEMBER),
  );
  return canonicalJson(value);
}

function leastLength(budget: Budget, value: Json, depth: number, pretty: boolean, allowed: number): number {
  if (typeof value === 'string') {
    if (value.length > allowed) budget.allowText(budget.limits.maxStringBytes + 1);
    budget.spendForCharacters(value.length);
    return value.length + 2;
  }
  if (typeof value !== 'object' || value === null) return 1;
  if (depth >= MAX_VALUE_DEPTH) throw limitError(`values nested deeper than ${MAX_VALUE_DEPTH} levels have no text`);
  const perPart = 1 + (pretty ? 2 * depth + 3 : 0);
  let length = 2;
  if (!Array.isArray(value)) for (const key of Object.keys(value)) length += key.length + 3;
  const parts = partsOf(value);
  budget.spendForElements(parts.length + 1);
  for (const part of parts) {
    length += perPart + leastLength(budget, part, depth + 1, pretty, allowed - length);
    if (length > allowed) budget.allowText(budget.limits.maxStringBytes + 1);
  }
  return length;
}
