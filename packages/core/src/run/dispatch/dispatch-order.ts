/** The dispatch order: which of two ready nodes goes first. */
import type { Plan } from '../../plan/plan.ts';
import { type Estimates, ranksWith } from '../state/estimates.ts';
import { priorityOf } from '../state/settings.ts';
import type { NodeState, RunState } from '../state/state.ts';

export function rankOf({ scope, plan }: NodeState): number {
  return scope.rankBase + (scope.ranks?.[plan.index] ?? plan.rank);
}

/** With one node at a time, people expect the order of the definition. */
export function goesFirst({ mode }: Plan): (a: NodeState, b: NodeState) => boolean {
  return mode === 'sequential' ? isEarlier : isMoreUrgent;
}

/** Sets the estimates, before any node is ready. */
export function estimate(state: RunState, estimates: Estimates): void {
  state.estimates = estimates;
  state.root.ranks = ranksWith(state.plan.root, estimates);
}

/** Priority first, then the longer way to the end, then the order of the definition. */
function isMoreUrgent(a: NodeState, b: NodeState): boolean {
  const priorityA = priorityOf(a);
  const priorityB = priorityOf(b);
  if (priorityA !== priorityB) return priorityA > priorityB;
  const rankA = rankOf(a);
  const rankB = rankOf(b);
  return rankA === rankB ? isEarlier(a, b) : rankA > rankB;
}

/** The order of the definition: a body has the position of its composite node, and iterations follow each other. */
function isEarlier(a: NodeState, b: NodeState): boolean {
  if (a.scope === b.scope) return a.plan.index < b.plan.index;
  const wayA = wayTo(a);
  const wayB = wayTo(b);
  const length = Math.min(wayA.length, wayB.length);
  for (let step = 0; step < length; step++) {
    if (wayA[step] !== wayB[step]) return (wayA[step] ?? 0) < (wayB[step] ?? 0);
  }
  return wayA.length < wayB.length;
}

/** Positions and iterations, from the root down. */
function wayTo(node: NodeState): number[] {
  const way: number[] = [];
  for (let at: NodeState | null = node; at !== null; at = at.scope.parent) way.push(at.plan.index, at.scope.iteration);
  return way.reverse();
}
