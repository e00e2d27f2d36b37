/** Graphs that dynamic nodes have returned, before they are decided on: the engine compiles them in steps. */
import type { CompiledReturn } from '../plan/plan.ts';
import type { Steps } from '../steps.ts';
import type { Json } from '../value.ts';
import { type BlobRef, heldValue } from './held.ts';
import { nodeAt } from './standing.ts';
import type { RunState } from './state.ts';
import type { Stimulus } from './stimulus.ts';

/** The steps that make `decide` find the graph of this stimulus compiled; undefined when there is none. */
export function stepsBefore(
  state: RunState,
  stimulus: Stimulus,
  lookup: (blob: BlobRef) => Json,
): Steps<CompiledReturn> | undefined {
  if (stimulus.type !== 'ended' && stimulus.type !== 'settle') return undefined;
  const work = nodeAt(state, stimulus.node)?.plan.work;
  if (work?.kind !== 'dynamic') return undefined;
  if (stimulus.type === 'ended') {
    const { outcome } = stimulus;
    return outcome.status === 'completed' ? work.prepare(heldValue(outcome.output, lookup)) : undefined;
  }
  return stimulus.settlement.happened === true ? work.prepare(stimulus.settlement.output) : undefined;
}
