/** Describes the gate that a node waits at. */
import type { GateDocument } from '@nebula/core';
import { printableLine } from '../terminal/width.ts';

/** `for one of 2 places for bank`. */
export function gateText(gate: GateDocument): string {
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
