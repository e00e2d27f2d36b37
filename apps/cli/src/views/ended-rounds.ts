/** Nodes of rounds that have ended: the run keeps their results only, the timeline still has the rest. */
import type { RunDocument, TimelineEvent } from '@nebula/core';
import { formatDuration } from '@nebula/core';
import type { Colors } from '../terminal/io.ts';
import { printable } from '../terminal/width.ts';

export interface EndedNode {
  readonly status: string;
  readonly startedAt: string | null;
  readonly finishedAt: string;
}

const ENDS: Readonly<Record<string, string>> = {
  NodeCompleted: 'completed',
  NodeFailed: 'failed',
  NodeSkipped: 'skipped',
  NodeCancelled: 'cancelled',
};

/** More than anybody reads; the timeline has them all. */
const MAX_LISTED = 1_000;

/** By path, in the order in which they ended last. */
export function endedNodes(document: RunDocument, timeline: readonly TimelineEvent[]): Map<string, EndedNode> {
  const begun = new Map<string, number>();
  const ended = new Map<string, EndedNode>();
  for (const { type, node, at } of timeline) {
    if (node === null || Object.hasOwn(document.nodes, node)) continue;
    if ((type === 'NodeStarted' || type === 'NodeOpened') && !begun.has(node)) begun.set(node, at);
    const status = ENDS[type];
    if (status === undefined) continue;
    const startedAt = begun.get(node);
    begun.delete(node);
    ended.delete(node);
    ended.set(node, {
      status,
      startedAt: startedAt === undefined ? null : new Date(startedAt).toISOString(),
      finishedAt: new Date(at).toISOString(),
    });
  }
  return ended;
}

export function endedLines(ended: ReadonlyMap<string, EndedNode>, { colors }: { readonly colors: Colors }): string[] {
  if (ended.size === 0) return [];
  const rows = [...ended].slice(0, MAX_LISTED);
  const width = Math.max(...rows.map(([path]) => path.length));
  const lines = rows.map(([path, { status, startedAt, finishedAt }]) => {
    const took = startedAt === null ? '' : formatDuration(Date.parse(finishedAt) - Date.parse(startedAt));
    return `  ${printable(path).padEnd(width)}  ${status}  ${colors.dim(took)}`.trimEnd();
  });
  const more = ended.size > MAX_LISTED ? [colors.dim(`  … and ${ended.size - MAX_LISTED} more, see the timeline`)] : [];
  return [colors.bold('Rounds that have ended'), ...lines, ...more];
}
