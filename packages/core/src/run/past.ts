/**
 * Nodes of rounds that have ended. A round that went well collapses in the state; the journal still has it, and is
 * folded up to its end for those who ask.
 */
import type { Plan } from '../plan/plan.ts';
import type { Entry } from './entry.ts';
import { evolve } from './evolve.ts';
import { newRunState } from './new-state.ts';
import { nodeAt } from './standing.ts';
import type { RunState } from './state.ts';

/** Longer journals are not folded for a question: a fold of this many takes about a second. */
const MAX_PAST_ENTRIES = 200_000;

interface PastFrame {
  readonly seq: number;
  readonly at: number;
  readonly entries: readonly Entry[];
}

/** The run as it was when the node was last there, and when that was; undefined where it never was. */
export function lastStateWith(
  plan: Plan,
  executionId: string,
  frames: readonly PastFrame[],
  path: string,
): { readonly state: RunState; readonly at: number } | 'too-long' | undefined {
  const count = frames.reduce((sum, { entries }) => sum + entries.length, 0);
  if (count > MAX_PAST_ENTRIES) return 'too-long';
  let isThere = false;
  let gone = -1;
  fold(plan, executionId, frames, count, (state, index) => {
    const wasThere = isThere;
    isThere = nodeAt(state, path) !== undefined;
    if (wasThere && !isThere) gone = index;
  });
  return gone < 0 ? undefined : fold(plan, executionId, frames, gone);
}

/** Folds so many entries; `look` is asked after each. */
function fold(
  plan: Plan,
  executionId: string,
  frames: readonly PastFrame[],
  count: number,
  look?: (state: RunState, index: number) => void,
): { readonly state: RunState; readonly at: number } {
  const state = newRunState(plan, executionId);
  let index = 0;
  let last = 0;
  for (const { at, entries, seq } of frames) {
    for (const entry of entries) {
      if (index === count) return { state, at: last };
      evolve(state, entry, at);
      last = at;
      look?.(state, index);
      index++;
    }
    state.seq = seq;
  }
  return { state, at: last };
}
