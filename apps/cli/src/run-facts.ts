/** What only the journal of a run tells: whose it is, and whose parent it is. */
import { isJsonObject, type JsonObject, type NodeDocument, type RunDocument } from '@nebula/core';
import type { Desk, JournalFrame } from '@nebula/engine';

export interface ChildFact {
  readonly node: string;
  readonly executionId: string;
  readonly workflowId: string;
}

export interface RunFacts {
  readonly parent: { readonly executionId: string; readonly node: string } | null;
  /** Of each node the newest, in the order in which they were asked for. */
  readonly children: readonly ChildFact[];
}

export function factsOf(frames: readonly JournalFrame[]): RunFacts {
  let parent: RunFacts['parent'] = null;
  const children = new Map<string, ChildFact>();
  for (const entry of frames.flatMap(({ entries }) => entries)) {
    if (!isJsonObject(entry)) continue;
    if (entry.type === 'run.started') parent = parentOf(entry);
    if (entry.type !== 'child.requested') continue;
    const node = String(entry.node);
    children.delete(node);
    children.set(node, { node, executionId: String(entry.executionId), workflowId: String(entry.workflowId) });
  }
  return { parent, children: [...children.values()] };
}

function parentOf({ parent }: JsonObject): RunFacts['parent'] {
  if (!isJsonObject(parent) || typeof parent.executionId !== 'string') return null;
  return { executionId: parent.executionId, node: String(parent.node) };
}

/** Executions that run for nodes of this one and have not ended, as far as its journal knows. */
export async function openChildren(desk: Desk, document: RunDocument): Promise<ChildFact[]> {
  if (document.finishedAt !== null) return [];
  const { children } = factsOf(await desk.journal(document.executionId));
  return children.filter(({ node }) => memberOf(document.nodes, node)?.status === 'running');
}

/** The run itself, and all that runs for it, at any depth. */
export async function familyOf(desk: Desk, executionId: string): Promise<string[]> {
  const family = new Set<string>();
  const queue = [executionId];
  for (let one = queue.pop(); one !== undefined; one = queue.pop()) {
    if (family.has(one)) continue;
    family.add(one);
    const document = await desk.document(one);
    if (document !== undefined) queue.push(...(await openChildren(desk, document)).map((child) => child.executionId));
  }
  return [...family];
}

function memberOf(nodes: RunDocument['nodes'], path: string): NodeDocument | undefined {
  return Object.hasOwn(nodes, path) ? nodes[path] : undefined;
}
