/** Finds what an open run waits for, and whether it is parked with the executions that it waits for. */
import type { BareNode, BareRun } from '@nebula/core';
import { gateText, pausedAt, waitingText } from './views/wait-words.ts';

export interface RunWaits {
  readonly parked: boolean;
  readonly waits: readonly Wait[];
}

export interface Wait {
  readonly node: string;
  /** `for signal go`. */
  readonly text: string;
  /** The child that the node waits for. */
  readonly executionId?: string;
}

export type ReadDocument = (executionId: string) => Promise<BareRun | undefined>;

/** The depth to which children are read for a list. */
const MAX_DEPTH = 32;

export async function waitsOf(read: ReadDocument, executionId: string, now: number): Promise<RunWaits | undefined> {
  const document = await read(executionId);
  if (document === undefined || document.finishedAt !== null) return undefined;
  const waits = Object.entries(document.nodes).flatMap(([path, node]) => waitOf(path, node, now, pausedAt(document)));
  return { parked: await isParked(read, document, MAX_DEPTH), waits };
}

async function isParked(read: ReadDocument, document: BareRun | undefined, depth: number): Promise<boolean> {
  if (document === undefined || document.finishedAt !== null) return false;
  if (document.parked || !document.parkedExceptChildren || depth === 0) return document.parked;
  for (const child of openChildren(document)) {
    if (!(await isParked(read, await read(child.executionId), depth - 1))) return false;
  }
  return true;
}

/** Open children, as far as the journal of the parent knows. */
export function openChildren({
  nodes,
}: Pick<BareRun, 'nodes'>): { readonly node: string; readonly executionId: string }[] {
  return Object.entries(nodes).flatMap(([node, { status, child }]) =>
    status === 'running' && child !== undefined ? [{ node, executionId: child.executionId }] : [],
  );
}

function waitOf(node: string, { status, waitsFor, child }: BareNode, now: number, paused?: number): Wait[] {
  if (status === 'unknown') return [{ node, text: 'for a decision whether it took effect' }];
  if (status === 'running' && child !== undefined) {
    return [{ node, text: `for ${child.executionId}`, executionId: child.executionId }];
  }
  if (waitsFor?.kind === 'event') return [{ node, text: waitingText(waitsFor, now, paused) }];
  return waitsFor?.kind === 'gate' ? [{ node, text: gateText(waitsFor.gate) }] : [];
}
