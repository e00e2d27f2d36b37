/** The executions that a run belongs to and that belong to it, for documents and for people. */
import type { NebulaClient } from '@nebula/client';
import type { RunDocument, RunStatus } from '@nebula/core';
import { findRun, timelineOf } from './runs.ts';

export interface LinkedChild {
  readonly node: string;
  readonly executionId: string;
  readonly workflowId: string;
  /** Null when it has been deleted, or was never there. */
  readonly status: RunStatus | null;
}

export interface Links {
  readonly parent: RunDocument['parent'];
  readonly children: readonly LinkedChild[];
}

/** More children are named without being looked up: a loop may have started thousands. */
const MAX_LOOKED_UP = 1_000;

/** Of each node the newest child, in the order in which they were asked for. */
export async function linksOf(api: NebulaClient, { executionId, parent }: RunDocument): Promise<Links> {
  const children = new Map<string, Omit<LinkedChild, 'status'>>();
  for (const { type, node, details } of await timelineOf(api, executionId)) {
    if (type !== 'ChildRequested' || node === null) continue;
    children.delete(node);
    children.set(node, {
      node,
      executionId: details.executionId,
      workflowId: details.workflowId ?? details.plan ?? '',
    });
  }
  const linked: LinkedChild[] = [];
  for (const [at, child] of [...children.values()].entries()) {
    const document = at < MAX_LOOKED_UP ? await findRun(api, child.executionId) : undefined;
    linked.push({ ...child, status: document?.status ?? null });
  }
  return { parent, children: linked };
}

/** The document of a run, with its links. */
export async function linkedDocument(api: NebulaClient, document: RunDocument): Promise<RunDocument & Partial<Links>> {
  return { ...document, ...present(await linksOf(api, document)) };
}

/** Those that there are. */
export function present({ parent, children }: Links): Partial<Links> {
  return { ...(parent !== null && { parent }), ...(children.length > 0 && { children }) };
}
