/** What an unfinished run waits for, and whether somebody has to move it. */
import { type NodeDocument, PARKS_AFTER_MS, type RunDocument } from '@nebula/core';
import { gateText } from './views/gate-words.ts';
import { waitingText } from './views/wait-words.ts';

export interface RunWaits {
  /** Neither a worker nor another run moves it, nor time within a minute. */
  readonly parked: boolean;
  readonly waits: readonly Wait[];
}

export interface Wait {
  readonly node: string;
  /** `for signal go`. */
  readonly text: string;
  /** The execution that is waited for. */
  readonly executionId?: string;
}

export type ReadDocument = (executionId: string) => Promise<RunDocument | undefined>;

/** Executions may be nested; a picture of a list need not look at all of them. */
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

/** Executions that run for nodes of this one and have not ended, as far as its journal knows. */
export function openChildren(document: RunDocument): { readonly node: string; readonly executionId: string }[] {
  return Object.entries(document.nodes).flatMap(([node, { status, child }]) =>
    status === 'running' && child !== undefined ? [{ node, executionId: child.executionId }] : [],
  );
}

const OPEN: ReadonlySet<string> = new Set(['queued', 'running', 'waiting', 'unknown']);

/** At any depth: not those whose turn has not come, nor those inside of which others are open. */
function openNodes({ nodes, scopes }: RunDocument): [path: string, node: NodeDocument][] {
  const around = new Set(Object.values(scopes).map(({ node }) => node));
  return Object.entries(nodes).filter(([path, { status }]) => OPEN.has(status) && !around.has(path));
}

function waitOf(node: string, { status, waitsFor, child }: NodeDocument, now: number): Wait[] {
  if (status === 'unknown') return [{ node, text: 'for somebody who says whether it took effect' }];
  if (status === 'running' && child !== undefined) {
    return [{ node, text: `for ${child.executionId}`, executionId: child.executionId }];
  }
  if (waitsFor?.kind === 'event') return [{ node, text: waitingText(waitsFor, now) }];
  return waitsFor?.kind === 'gate' ? [{ node, text: gateText(waitsFor.gate) }] : [];
}

/** Neither a worker nor time, soon, moves it; what runs as an execution of its own is looked at there. */
function isIdle({ status, child, waitsFor }: NodeDocument, now: number): boolean {
  if (status === 'unknown') return true;
  if (status === 'running') return child !== undefined;
  if (waitsFor?.kind !== 'event') return false;
  const isFar = (at: string): boolean => Date.parse(at) > now + PARKS_AFTER_MS;
  const { deadline, events } = waitsFor;
  return (deadline === null || isFar(deadline)) && events.every((one) => one.kind !== 'time' || isFar(one.at));
}
