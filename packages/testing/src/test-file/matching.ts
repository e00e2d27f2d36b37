/**
 * Patterns as in the language's `match`, with the position of each deviation. Objects match by the members of the
 * pattern, lists item by item; `{ gt, gte, lt, lte, in, type, exists, regex }` must stand alone.
 */
import { isJsonObject, type Json, type JsonObject, jsonEquals, memberOf, NebulaError } from '@nebula/core';

export interface Mismatch {
  /** `output.items[2].sku`. */
  readonly what: string;
  readonly expected: Json;
  /** Undefined: the member is missing. */
  readonly actual: Json | undefined;
  readonly note?: string;
}

const OPERATORS = ['gt', 'gte', 'lt', 'lte', 'in', 'type', 'exists', 'regex'];

export function mismatches(pattern: Json, actual: Json | undefined, what: string): Mismatch[] {
  const isRight = (right: boolean): Mismatch[] => (right ? [] : [{ what, expected: pattern, actual }]);
  if (Array.isArray(pattern)) return listMismatches(pattern, actual, what);
  if (!isJsonObject(pattern)) return isRight(actual !== undefined && jsonEquals(pattern, actual));
  const keys = Object.keys(pattern);
  if (keys.length > 0 && keys.every((key) => OPERATORS.includes(key))) {
    return isRight(keys.every((key) => holds(key, pattern[key] as Json, actual)));
  }
  if (!isJsonObject(actual ?? null)) return isRight(false);
  return keys.flatMap((key) =>
    mismatches(pattern[key] as Json, memberOf(actual as JsonObject, key), `${what}${step(key)}`),
  );
}

function listMismatches(pattern: readonly Json[], actual: Json | undefined, what: string): Mismatch[] {
  if (!Array.isArray(actual)) return [{ what, expected: [...pattern], actual }];
  if (actual.length !== pattern.length) {
    return [{ what, expected: [...pattern], actual, note: `${actual.length} items instead of ${pattern.length}` }];
  }
  return pattern.flatMap((item, at) => mismatches(item, actual[at] as Json, `${what}[${at}]`));
}

function step(key: string): string {
  return /^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function holds(operator: string, operand: Json, actual: Json | undefined): boolean {
  if (operator === 'exists') return (actual !== undefined) === operand;
  if (actual === undefined) return false;
  switch (operator) {
    case 'in':
      return Array.isArray(operand) && operand.some((one) => jsonEquals(one as Json, actual));
    case 'type':
      return (Array.isArray(operand) ? operand : [operand]).some((type) => isOfType(actual, type as Json));
    case 'regex':
      return typeof actual === 'string' && regex(operand).test(actual);
    default:
      return isInOrder(operator, operand, actual);
  }
}

function isInOrder(operator: string, operand: Json, actual: Json): boolean {
  const [left, right] = [actual, operand];
  const comparable =
    (typeof left === 'number' && typeof right === 'number') || (typeof left === 'string' && typeof right === 'string');
  if (!comparable) return false;
  if (operator === 'gt') return left > right;
  if (operator === 'gte') return left >= right;
  return operator === 'lt' ? left < right : left <= right;
}

function isOfType(value: Json, type: Json): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return isJsonObject(value);
  return typeof value === type;
}

/** `regex: ^ord` or `regex: /^ord/i`. */
function regex(operand: Json): RegExp {
  const text = String(operand);
  const written = /^\/(.*)\/([a-z]*)$/s.exec(text);
  try {
    return written === null ? new RegExp(text, 'u') : new RegExp(written[1] as string, written[2]);
  } catch (error) {
    throw new NebulaError('MATCH_INVALID', `${text} is not a regular expression: ${(error as Error).message}`);
  }
}
