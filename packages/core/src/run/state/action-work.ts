import { assert } from '../../error.ts';
import type { ActionWork, DynamicWork } from '../../plan/plan.ts';
import type { NodeState } from './state.ts';

/** What a node that takes a slot runs. */
export function actionWork({ plan }: NodeState): ActionWork | DynamicWork {
  const { work } = plan;
  assert(work.kind === 'action' || work.kind === 'dynamic', `node '${plan.id}' runs an action`);
  return work;
}
