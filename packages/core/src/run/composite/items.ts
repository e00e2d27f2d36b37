/** What may be a list of items. */
import type { RunError } from '../../error.ts';
import type { Json } from '../../value.ts';

/** Iterations that a loop may have, items added while it runs included. */
export const MAX_ITERATIONS = 1_000_000;

export function notAList(value: Json, where: string): RunError {
  const found =
    value === null ? 'null' : typeof value === 'object' ? 'an object' : `the ${typeof value} ${String(value)}`;
  return { code: 'NOT_A_LIST', kind: 'USER', message: `\`${where}\` must give a list, not ${found}.` };
}

export function tooManyItems(count: number): RunError {
  return { code: 'TOO_MANY_ITEMS', kind: 'USER', message: `A loop has at most ${MAX_ITERATIONS} items, not ${count}.` };
}
