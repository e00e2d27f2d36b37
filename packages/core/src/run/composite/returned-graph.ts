/** Graphs that dynamic nodes have returned, before they are decided on: the engine compiles them in steps. */
import type { CompiledReturn } from '../../plan/plan.ts';
import type { Steps } from '../../steps.ts';
import type { Json } from '../../value.ts';
import type { Stimulus } from '../decide/stimulus.ts';
import { type BlobRef, resolveValue } from '../journal/stored-value.ts';
import { nodeAt } from '../state/selectors.ts';
import type { RunState } from '../state/state.ts';

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
    return outcome.status === 'completed' ? work.prepare(resolveValue(outcome.output, lookup)) : undefined;
  }
  return stimulus.settlement.happened === true ? work.prepare(stimulus.settlement.output) : undefined;
}
