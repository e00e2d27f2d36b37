/** Describes the gate that a node waits at. */
import type { GateDocument } from '@nebula/core';
import { printableLine } from '../terminal/width.ts';

/** `for a permit of bank (limit 2)`. */
export function gateText(gate: GateDocument): string {
  switch (gate.kind) {
    case 'concurrency':
      return `for a permit of ${printableLine(gate.key)} (limit ${gate.limit})`;
    case 'rate':
      return `for its turn under the rate limit of ${printableLine(gate.key)}`;
    case 'reserve':
      return 'for a run that computes the same output';
    case 'cache':
      return 'for the cache';
  }
}
