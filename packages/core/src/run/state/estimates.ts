/** Ranks the nodes of a graph by the estimates that a run was started with. */
import type { GraphPlan } from '../../plan/plan.ts';

/** How long nodes took in earlier runs (ms), by id. Only nodes of the workflow itself, not of bodies. */
export type Estimates = Readonly<Record<string, number>>;

/** The longest way to an end node, by the index of the node. */
export function ranksWith({ nodes }: GraphPlan, estimates: Estimates): readonly number[] {
  const ranks: number[] = new Array(nodes.length).fill(0);
  // Successors have a higher level, so their ranks are computed first.
  for (const { index, id, outgoing, estimateMs } of nodes.toSorted((a, b) => b.level - a.level)) {
    const own = Object.hasOwn(estimates, id) ? (estimates[id] ?? 0) : estimateMs;
    ranks[index] = own + outgoing.reduce((longest, { to }) => Math.max(longest, ranks[to.index] ?? 0), 0);
  }
  return ranks;
}
