/** Where an unfinished run stands: whether somebody has to move it, and what it waits for. */
import { PARKS_AFTER_MS, type RunDocument } from '@nebula/core';
import type { Desk } from '@nebula/engine';
import type { NodeProgress } from './live/node-progress.ts';
import { RunProgress } from './live/progress.ts';
import { gateText } from './views/gate-words.ts';
import { waitingText } from './views/wait-words.ts';

export interface Standing {
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

/** Executions may be nested; a picture of a list need not look at all of them. */
const MAX_DEPTH = 32;

export async function standingOf(desk: Desk, executionId: string, now: number): Promise<Standing | undefined> {
  return await lookAt(desk, executionId, now, 0);
}

async function lookAt(desk: Desk, executionId: string, now: number, depth: number): Promise<Standing | undefined> {
  const document = await desk.document(executionId);
  if (document === undefined || document.finishedAt !== null) return undefined;
  const nodes = openNodes(await progressOf(desk, document));
  const waits = nodes.flatMap((node) => waitOf(node, now));
  if (document.status === 'paused') return { parked: true, waits };
  const children = nodes.flatMap(({ child, status }) => (child !== null && status === 'running' ? [child] : []));
  const isStill = document.status !== 'pending' && nodes.length > 0 && nodes.every((node) => stands(node, now));
  if (!isStill || depth >= MAX_DEPTH) return { parked: false, waits };
  for (const child of children) {
    if ((await lookAt(desk, child.executionId, now, depth + 1))?.parked !== true) return { parked: false, waits };
  }
  return { parked: true, waits };
}

async function progressOf(desk: Desk, document: RunDocument): Promise<RunProgress> {
  const progress = new RunProgress(document.executionId, '', []);
  progress.sync(document);
  progress.recall(await desk.timeline(document.executionId));
  return progress;
}

/** At any depth, without those whose turn has not come. */
function openNodes(run: RunProgress): NodeProgress[] {
  const open: NodeProgress[] = [];
  const visit = (nodes: readonly NodeProgress[]): void => {
    for (const node of nodes) {
      const scopes = [...(node.body?.scopes.values() ?? [])];
      if (OPEN.has(node.status) && scopes.length === 0) open.push(node);
      for (const scope of scopes) visit(scope.nodes);
    }
  };
  visit([...run.nodes, ...(run.undo?.nodes ?? [])]);
  return open;
}

const OPEN: ReadonlySet<string> = new Set(['queued', 'running', 'waiting', 'unknown']);

function waitOf({ path, status, waiting, gate, child }: NodeProgress, now: number): Wait[] {
  if (status === 'unknown') return [{ node: path, text: 'for somebody who says whether it took effect' }];
  if (status === 'running' && child !== null) {
    return [{ node: path, text: `for ${child.executionId}`, executionId: child.executionId }];
  }
  if (waiting !== null) return [{ node: path, text: waitingText(waiting, now) }];
  return gate === null ? [] : [{ node: path, text: gateText(gate) }];
}

/** Neither a worker nor time, soon, moves it; what runs as an execution of its own is looked at there. */
function stands(node: NodeProgress, now: number): boolean {
  const { status, child, body, waiting } = node;
  if (status === 'queued') return false;
  if (status === 'waiting') {
    if (waiting === null) return false;
    const isFar = (at: number): boolean => at > now + PARKS_AFTER_MS;
    const { deadline, waits } = waiting;
    return (deadline === null || isFar(deadline)) && waits.every((wait) => wait.kind !== 'time' || isFar(wait.at));
  }
  if (status !== 'running' || child !== null) return true;
  if (body === null || body.until !== null) return false;
  return [...body.scopes.values()].every((scope) => scope.nodes.every((inner) => stands(inner, now)));
}
