/** Finds what an open run waits for, and whether it is parked. */
import { type NodeDocument, PARKS_AFTER_MS, type RunDocument } from '@nebula/core';
import { gateText, waitingText } from './views/wait-words.ts';

export interface RunWaits {
  /** Neither a worker, another run nor a time within a minute moves the run. */
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

export type ReadDocument = (executionId: string) => Promise<RunDocument | undefined>;

/** The depth to which children are read for a list. */
const MAX_DEPTH = 32;

export async function waitsOf(
  read: ReadDocument,
  executionId: string,
  now: number,
  depth = 0,
): Promise<RunWaits | undefined> {
  const document = await read(executionId);
  if (document === undefined || document.finishedAt !== null) return undefined;
  const open = openNodes(document);
  const waits = open.flatMap(([path, node]) => waitOf(path, node, now));
  if (document.status === 'paused') return { parked: true, waits };
  const isStill = document.status !== 'pending' && open.length > 0 && open.every(([, node]) => isIdle(node, now));
  if (!isStill || depth >= MAX_DEPTH) return { parked: false, waits };
  for (const child of openChildren(document)) {
    if ((await waitsOf(read, child.executionId, now, depth + 1))?.parked !== true) return { parked: false, waits };
  }
  return { parked: true, waits };
}

/** Open children, as far as the journal of the parent knows. */
export function openChildren(document: RunDocument): { readonly node: string; readonly executionId: string }[] {
  return Object.entries(document.nodes).flatMap(([node, { status, child }]) =>
    status === 'running' && child !== undefined ? [{ node, executionId: child.executionId }] : [],
  );
}

const OPEN: ReadonlySet<string> = new Set(['queued', 'running', 'waiting', 'unknown']);

/** Open nodes at any depth, without pending ones and without composite nodes, whose open bodies are listed instead. */
function openNodes({ nodes, scopes }: RunDocument): [path: string, node: NodeDocument][] {
  const around = new Set(Object.values(scopes).map(({ node }) => node));
  return Object.entries(nodes).filter(([path, { status }]) => OPEN.has(status) && !around.has(path));
}

function waitOf(node: string, { status, waitsFor, child }: NodeDocument, now: number): Wait[] {
  if (status === 'unknown') return [{ node, text: 'for a decision whether it took effect' }];
  if (status === 'running' && child !== undefined) {
    return [{ node, text: `for ${child.executionId}`, executionId: child.executionId }];
  }
  if (waitsFor?.kind === 'event') return [{ node, text: waitingText(waitsFor, now) }];
  return waitsFor?.kind === 'gate' ? [{ node, text: gateText(waitsFor.gate) }] : [];
}

/** Neither a worker nor a near time moves the node. A node with a child is idle here; the child is checked itself. */
function isIdle({ status, child, waitsFor }: NodeDocument, now: number): boolean {
  if (status === 'unknown') return true;
  if (status === 'running') return child !== undefined;
  if (waitsFor?.kind !== 'event') return false;
  const isFar = (at: string): boolean => Date.parse(at) > now + PARKS_AFTER_MS;
  const { deadline, events } = waitsFor;
  return (deadline === null || isFar(deadline)) && events.every((one) => one.kind !== 'time' || isFar(one.at));
}
