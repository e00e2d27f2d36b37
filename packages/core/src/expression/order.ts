/** Equality and order of JSON values; comparisons are charged to the budget. */
import { isJsonList, type Json, memberOf } from '../value.ts';
import { type Budget, MAX_VALUE_DEPTH } from './budget.ts';
import { limitError } from './expression-error.ts';

/** Deep equality by type and value, regardless of the order of members. */
export function valuesEqual(budget: Budget, a: Json, b: Json): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return scalarsEqual(budget, a, b);
  return structuresEqual(budget, a, b, 0);
}

function scalarsEqual(budget: Budget, a: Json, b: Json): boolean {
  if (typeof a === 'string' && typeof b === 'string' && a.length === b.length) budget.spendForCharacters(a.length);
  return a === b;
}

function structuresEqual(budget: Budget, a: Json, b: Json, depth: number): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return scalarsEqual(budget, a, b);
  if (a === b) return true;
  if (depth >= MAX_VALUE_DEPTH)
    throw limitError(`values nested deeper than ${MAX_VALUE_DEPTH} levels are not compared`);
  if (isJsonList(a) || isJsonList(b)) {
    if (!isJsonList(a) || !isJsonList(b) || a.length !== b.length) return false;
    budget.spendForElements(a.length);
    for (let index = 0; index < a.length; index++) {
      if (!structuresEqual(budget, a[index] ?? null, b[index] ?? null, depth + 1)) return false;
    }
    return true;
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  budget.spendForElements(keys.length + 1);
  for (const key of keys) {
    const other = memberOf(b, key);
    if (other === undefined || !structuresEqual(budget, a[key] ?? null, other, depth + 1)) return false;
  }
  return true;
}

/** Order by code point: negative, zero or positive. UTF-16 units would sort emoji before U+E000. */
export function compareText(budget: Budget, a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    budget.spendForCharacters(index);
    const leftHalf = left >= 0xd800 && left <= 0xdfff;
    const rightHalf = right >= 0xd800 && right <= 0xdfff;
    if (leftHalf !== rightHalf) return leftHalf ? 1 : -1;
    return left - right;
  }
  budget.spendForCharacters(length);
  return a.length - b.length;
}
