/** Which edges were taken, from what the journal says of the nodes before them. */
import type { EdgePlan } from '../plan/plan.ts';
import { isFinal } from './standing.ts';
import type { NodeState, Phase, ScopeState } from './state.ts';

export function decideEdge(nodes: readonly NodeState[], edge: EdgePlan, from: Phase): void {
  const target = nodes[edge.to.index] as NodeState;
  target.decided++;
  if (isTaken(edge, from)) target.taken++;
}

/** Whether an edge out of a final node was taken, from what the journal says of that node. */
export function isTaken(edge: EdgePlan, from: Phase): boolean {
  switch (from.status) {
    case 'completed':
      return edge.on !== 'error' && !has(from.dead, edge.key);
    case 'failed':
      if (from.handling === 'handled') return has(from.taken, edge.key);
      return from.handling === 'ignored' && edge.on !== 'error' && !has(from.dead, edge.key);
    case 'skipped':
      return from.why === 'disabled' && (edge.on === 'success' || edge.on === 'always') && !has(from.dead, edge.key);
    default:
      return false;
  }
}

/** Lists longer than this are looked up as sets: 100,000 dead edges out of one node took 12 s, and take 0.1. */
const SHORT_LIST = 32;
const longLists = new WeakMap<readonly string[], ReadonlySet<string>>();

function has(keys: readonly string[] | undefined, key: string): boolean {
  if (keys === undefined) return false;
  if (keys.length <= SHORT_LIST) return keys.includes(key);
  let set = longLists.get(keys);
  if (set === undefined) {
    set = new Set(keys);
    longLists.set(keys, set);
  }
  return set.has(key);
}

/** Counts edges and open nodes anew from the phases. */
export function recount(scope: ScopeState): void {
  const { nodes } = scope;
  scope.open = 0;
  scope.openPerLevel.fill(0);
  for (const node of nodes) {
    if (isFinal(node.phase.status)) continue;
    scope.open++;
    (scope.openPerLevel[node.plan.level] as number)++;
    node.decided = 0;
    node.taken = 0;
    for (const edge of node.plan.incoming) {
      const from = (nodes[edge.from.index] as NodeState).phase;
      if (!isFinal(from.status)) continue;
      node.decided++;
      if (isTaken(edge, from)) node.taken++;
    }
  }
  scope.level = scope.openPerLevel.findIndex((open) => open > 0);
  if (scope.level < 0) scope.level = scope.openPerLevel.length;
}
