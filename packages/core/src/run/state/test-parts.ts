/** Which nodes of a test run take part in it, and which are pinned. */
import type { Pin, TestPart, TestPlan } from '../../plan/pin.ts';
import { pathInDefinition } from './selectors.ts';
import type { NodeState, ScopeState } from './state.ts';

/** The part of the scope's graph that takes part; undefined: all of it. */
export function testPartOf({ parts }: TestPlan, scope: ScopeState): TestPart | undefined {
  // A compensation belongs to a node that took part.
  if (parts.size === 0 || scope.undoes !== null) return undefined;
  return parts.get(scope.parent === null ? '' : pathInDefinition(scope.parent));
}

export function takesNoPart(test: TestPlan, node: NodeState): boolean {
  return testPartOf(test, node.scope)?.ids.has(node.plan.id) === false;
}

export function pinOf({ pins }: TestPlan, node: NodeState): Pin | undefined {
  return pins.size === 0 || node.scope.undoes !== null ? undefined : pins.get(pathInDefinition(node));
}
