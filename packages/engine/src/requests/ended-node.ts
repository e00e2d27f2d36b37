/** Finds a node whose iteration has ended and was dropped from the state: the journal still has it. */
import { type ExecutionId, type NodePath, type Plan, RunView } from '@nebula/core';
import type { NodeState, RunState } from '@nebula/core/run';
import type { Journal } from '@nebula/ports';
import { framesOf } from '../turn/codec.ts';

/** Longer journals are not folded from their beginning for one node: a fold of this many entries takes about a second. */
const MAX_FOLDED_ENTRIES = 200_000;

export interface EndedNode {
  readonly node: NodeState;
  readonly state: RunState;
}

/**
 * Folds the journal up to frame `upTo`. `planOf`: the versions of the workflow that the journal names. Returns 'too-long'
 * for a journal above the limit.
 */
export async function endedNode(
  { store, planOf }: { readonly store: Journal; planOf(version: number): Promise<Plan> },
  executionId: ExecutionId,
  path: NodePath,
  upTo = Number.POSITIVE_INFINITY,
): Promise<EndedNode | 'too-long' | undefined> {
  const plans = new Map<number, Plan>();
  let view: RunView | undefined;
  let folded = 0;
  for await (const frame of framesOf(store, executionId, 0)) {
    if (frame.seq > upTo) break;
    folded += frame.entries.length;
    if (folded > MAX_FOLDED_ENTRIES) return 'too-long';
    for (const entry of frame.entries) {
      if (entry.type !== 'run.started' && entry.type !== 'run.migrated') continue;
      const plan = await planOf(entry.version);
      plans.set(entry.version, plan);
      view ??= new RunView(plan, executionId, {
        keeps: (other) => other === path,
        planOf: (version) => plans.get(version) ?? plan,
      });
    }
    view?.apply(frame);
  }
  const node = view?.node(path);
  return view === undefined || node === undefined ? undefined : { node, state: view.state };
}
