/** Types and values in messages. */
import type { Json } from '../value.ts';

export function list(values: readonly Json[]): string {
  return values
    .slice(0, 8)
    .map((one) => JSON.stringify(one))
    .join(' or ');
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

export function words(types: readonly string[]): string {
  return types.map((type) => WORDS[type] ?? type).join(' or ');
}
