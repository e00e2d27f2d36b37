/** Nodes of ended iterations: the run keeps only their results, the timeline still has the rest. */
import { formatDuration, type RunDocument, RunHistory, type TimelineEvent } from '@nebula/core';
import type { Colors } from '../terminal/io.ts';
import { printable } from '../terminal/width.ts';

export interface EndedNode {
  readonly status: string;
  readonly startedAt: string | null;
  readonly finishedAt: string;
}

/** The most nodes listed; the timeline has all of them. */
const MAX_LISTED = 1_000;

/** Keyed by path, in the order of their first events. */
export function endedNodes(document: RunDocument, timeline: readonly TimelineEvent[]): Map<string, EndedNode> {
  const history = new RunHistory();
  for (const event of timeline) history.note(event);
  const ended = new Map<string, EndedNode>();
  for (const { path, status, spans, endedAt } of history.nodes) {
    if (endedAt === null || Object.hasOwn(document.nodes, path)) continue;
    const first = spans.find(({ kind }) => kind !== 'queued')?.from;
    ended.set(path, {
      status,
      startedAt: first === undefined ? null : new Date(first).toISOString(),
      finishedAt: new Date(endedAt).toISOString(),
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
  return [colors.bold('Iterations that have ended'), ...lines, ...more];
}
