/** Explains why a run or a node waits, including what only other runs know: the holders of permits. */
import type { ExecutionId, NodePath, Plan } from '@nebula/core';
import {
  type Explanation,
  explainEnded,
  explainNode,
  explainRun,
  type Holders,
  holderCauses,
  type NodeState,
  nodeAt,
  pathOf,
  permitKey,
  type RunState,
  slotPermit,
} from '@nebula/core/run';
import type { Journal, PermitRow, Permits } from '@nebula/ports';
import { endedNode } from './ended-node.ts';

/** The limits on gated nodes whose holders are looked up, and on holders of each whose state is read. */
const MAX_GATED = 10;
const MAX_HOLDERS = 5;

/** Reads of other runs. */
export interface ExplanationParts {
  readonly store: Journal & Permits;
  state(executionId: ExecutionId): Promise<RunState | undefined>;
  permits(executionId: ExecutionId, key: string): Promise<readonly PermitRow[]>;
  /** A version of the workflow of the explained run. */
  planOf(version: number): Promise<Plan>;
}

/** Explains one node, or without `node` the run. `at`: the frame of the state, if it is not the newest one. */
export async function explanationOf(
  parts: ExplanationParts,
  state: RunState,
  node: NodePath | undefined,
  now: number,
  at?: number,
): Promise<Explanation | undefined> {
  if (at !== undefined) return explainPast(parts, state, node, at);
  if (node === undefined) {
    return withHolders(parts, state, explainRun(state, now), [...state.gated].slice(0, MAX_GATED), now);
  }
  const explanation = explainNode(state, node, now);
  if (explanation?.status === 'collapsed') return explainCollapsed(parts, state, node, explanation);
  const gated = nodeAt(state, node);
  return explanation && withHolders(parts, state, explanation, gated === undefined ? [] : [gated], now);
}

/** The holders of permits are known for the present only. */
async function explainPast(
  parts: ExplanationParts,
  state: RunState,
  node: NodePath | undefined,
  at: number,
): Promise<Explanation | undefined> {
  if (node === undefined) return explainRun(state, state.updatedAt);
  const explanation = explainNode(state, node, state.updatedAt);
  return explanation?.status === 'collapsed' ? explainCollapsed(parts, state, node, explanation, at) : explanation;
}

async function withHolders(
  parts: ExplanationParts,
  { executionId, slot }: RunState,
  explained: Explanation,
  nodes: readonly NodeState[],
  now: number,
): Promise<Explanation> {
  const causes = [...explained.causes];
  if (explained.node === null && slot?.status === 'waiting') {
    const rows = await parts.store.permits(slotPermit(slot));
    causes.push(...holderCauses(await holdersOf(parts, executionId, '', rows), now));
  }
  for (const node of nodes) {
    const key = node.phase.status === 'gated' ? permitKey(node.phase.gate) : undefined;
    if (key === undefined) continue;
    const rows = await parts.permits(executionId, key);
    const holders = holderCauses(await holdersOf(parts, executionId, pathOf(node), rows), now);
    const path = explained.node === null ? pathOf(node) : undefined;
    causes.push(
      ...holders.map((one) => (path === undefined ? one : { ...one, message: `${path}: ${one.message}`, node: path })),
    );
  }
  return { ...explained, causes, reasons: causes.map(({ message }) => message) };
}

async function holdersOf(
  parts: ExplanationParts,
  executionId: ExecutionId,
  node: NodePath,
  rows: readonly PermitRow[],
): Promise<Holders> {
  const own = rows.findIndex((row) => row.executionId === executionId && row.node === node);
  const held = rows.filter(({ isHeld }) => isHeld);
  const holders: Holders['holders'][number][] = [];
  for (const row of held) {
    const state = holders.length < MAX_HOLDERS ? await parts.state(row.executionId).catch(() => undefined) : undefined;
    const since = row.node === '' ? state?.startedAt : state && nodeAt(state, row.node)?.startedAt;
    holders.push({ executionId: row.executionId, node: row.node, since: since ?? null });
  }
  return { holders, before: Math.max(0, own - held.length) };
}

/** Explains the node as it was at the end of its iteration, from the journal. */
async function explainCollapsed(
  parts: ExplanationParts,
  { executionId }: RunState,
  path: NodePath,
  collapsed: Explanation,
  at?: number,
): Promise<Explanation | undefined> {
  const found = await endedNode(parts, executionId, path, at);
  if (found === 'too-long') return collapsed;
  return found && explainEnded(collapsed, found.state, found.node);
}
