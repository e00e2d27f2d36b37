/**
 * Average durations of nodes, learned from completed nodes, so that the next run starts its critical path first.
 *
 *  1 Averages are kept in memory. An average that is new, or has moved by `FACTOR`, is written with the frame of the
 *    node. The store is read once per workflow, so another engine learns of it when it next begins with that workflow.
 *  2 A run gets its estimates at its start and journals them: later averages do not change it.
 *  3 Short nodes count as unknown: nothing is kept, written or estimated for them.
 */
import type { Entry, Plan, WorkflowId } from '@nebula/core';
import { type Estimates, nodeAt } from '@nebula/core/run';
import type { Definitions, DurationRow } from '@nebula/ports';
import type { LiveRun } from '../turn/live-run.ts';

/** Twice the duration that is assumed for an unknown node. */
const NOTABLE_MS = 200;
/** The weight of the newest duration. */
const WEIGHT = 0.3;
/** The factor by which an average must have moved to be written again. */
const FACTOR = 1.5;
/** The number of estimates that a run gets: those of the longest nodes. */
const MAX_ESTIMATES = 200;

interface Average {
  ms: number;
  storedMs: number;
}

export class Durations {
  private readonly store: Definitions;
  private readonly workflows = new Map<string, Map<string, Average>>();
  /** Workflows whose averages have been read. */
  private readonly requested = new Set<string>();

  constructor(store: Definitions) {
    this.store = store;
  }

  isKnown(workflowId: WorkflowId): boolean {
    return this.requested.has(workflowId);
  }

  /** Reads the stored averages. After an error the next start reads again. */
  async read(workflowId: WorkflowId): Promise<void> {
    const rows = await this.store.durations(workflowId).catch(() => undefined);
    if (rows === undefined) return;
    this.requested.add(workflowId);
    const known = this.workflows.get(workflowId) ?? new Map<string, Average>();
    this.workflows.set(workflowId, known);
    for (const [node, ms] of rows) if (!known.has(node)) known.set(node, { ms, storedMs: ms });
  }

  /** Estimates for the nodes of a workflow; undefined if there are none worth having. */
  estimates({ workflowId, root, mode }: Plan): Estimates | undefined {
    const known = this.workflows.get(workflowId);
    if (known === undefined || known.size === 0 || mode === 'sequential') return undefined;
    const found = [...known].filter(([node, { storedMs }]) => {
      const plan = root.nodes[root.indexOf.get(node) ?? -1];
      return storedMs >= NOTABLE_MS && plan !== undefined && !plan.isEstimated;
    });
    if (found.length === 0) return undefined;
    const longest = found.sort(([, a], [, b]) => b.storedMs - a.storedMs).slice(0, MAX_ESTIMATES);
    return Object.fromEntries(longest.map(([node, { storedMs }]) => [node, storedMs]));
  }

  /** Returns undefined if there is nothing to write. */
  learn({ state, plan }: LiveRun, entries: readonly Entry[], now: number): DurationRow[] | undefined {
    let rows: DurationRow[] | undefined;
    const { workflowId } = plan;
    for (const entry of entries) {
      if (entry.type !== 'node.completed' || entry.cached !== undefined || entry.node.includes('/')) continue;
      const node = nodeAt(state, entry.node);
      if (node === undefined || node.startedAt === null || node.plan.isEstimated || node.plan.work.kind === 'wait')
        continue;
      const storedMs = this.note(workflowId, entry.node, now - node.startedAt);
      if (storedMs === undefined) continue;
      rows ??= [];
      rows.push({ workflowId, node: entry.node, ms: storedMs });
    }
    return rows;
  }

  /** Returns the new average if it must be written. */
  private note(workflowId: WorkflowId, node: string, ms: number): number | undefined {
    const known = this.workflows.get(workflowId);
    const average = known?.get(node);
    if (average === undefined) {
      if (ms < NOTABLE_MS) return undefined;
      this.workflows.set(workflowId, (known ?? new Map<string, Average>()).set(node, { ms, storedMs: ms }));
      return ms;
    }
    average.ms += (ms - average.ms) * WEIGHT;
    const { ms: now, storedMs } = average;
    if (now < storedMs * FACTOR && now > storedMs / FACTOR) return undefined;
    average.storedMs = Math.round(now);
    return average.storedMs;
  }
}
