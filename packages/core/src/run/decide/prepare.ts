/** Work that is done in steps before `decide` needs its result. */
import type { Steps } from '../../steps.ts';
import type { Json } from '../../value.ts';
import { type BlobRef, resolveValue } from '../journal/stored-value.ts';
import { nodeAt } from '../state/selectors.ts';
import type { RunState } from '../state/state.ts';
import { payloadSteps } from '../waits/waits.ts';
import type { Stimulus } from './stimulus.ts';

/** Whether something arrived for a node that waits. */
export function hasPayload(
  stimulus: Stimulus,
): stimulus is Stimulus & { readonly type: 'signal' | 'callback' | 'answer' } {
  return stimulus.type === 'signal' || stimulus.type === 'callback' || stimulus.type === 'answer';
}

/**
 * The steps that compile the returned graph of this stimulus, or check its payload, before `decide` needs it; undefined
 * if there is nothing to prepare.
 */
export function stepsBefore(
  state: RunState,
  stimulus: Stimulus,
  lookup: (blob: BlobRef) => Json,
): Steps<unknown> | undefined {
  if (hasPayload(stimulus)) return payloadSteps(state, stimulus);
  if (stimulus.type !== 'ended' && stimulus.type !== 'settle') return undefined;
  const work = nodeAt(state, stimulus.node)?.plan.work;
  if (work?.kind !== 'dynamic') return undefined;
  if (stimulus.type === 'ended') {
    const { outcome } = stimulus;
    return outcome.status === 'completed' ? work.prepare(resolveValue(outcome.output, lookup)) : undefined;
  }
  return stimulus.settlement.happened === true ? work.prepare(stimulus.settlement.output) : undefined;
}
