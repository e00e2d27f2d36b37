/** What a node has to be granted before it begins, in words. */
import { type Gate, isJsonObject, type Json } from '@nebula/core';
import { printableLine } from '../terminal/width.ts';

const KINDS: ReadonlySet<unknown> = new Set<Gate['kind']>(['concurrency', 'rate', 'cache', 'reserve']);

/** From the details of an event. */
export function gateOf(details: Json): Gate | null {
  return isJsonObject(details) && KINDS.has(details.kind) ? (details as unknown as Gate) : null;
}

/** `for one of 2 places for bank`. */
export function gateText(gate: Gate): string {
  switch (gate.kind) {
    case 'concurrency':
      return `for ${gate.limit === 1 ? 'the place' : `one of ${gate.limit} places`} for ${printableLine(gate.key)}`;
    case 'rate':
      return `for its turn under the rate limit of ${printableLine(gate.key)}`;
    case 'reserve':
      return 'for a run that works out the same output';
    case 'cache':
      return 'for a look into the cache';
  }
}
