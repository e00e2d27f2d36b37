/** What only the journal of a run tells: whose it is, whose parent it is, and what could be undone. */
import { isJsonObject, type Json, type JsonObject, type NodeDocument, type RunDocument } from '@nebula/core';
import type { Desk, JournalFrame } from '@nebula/engine';
import { errorOf } from './live/event-details.ts';

export interface ChildFact {
  readonly node: string;
  readonly executionId: string;
  readonly workflowId: string;
}

export interface UndoFact {
  readonly node: string;
  /** The parameters, as they were when the node completed; undefined when they are kept elsewhere or cannot be had. */
  readonly with: Json | undefined;
  readonly problem: string | null;
}

export interface RunFacts {
  readonly parent: { readonly executionId: string; readonly node: string } | null;
  /** Of each node the newest, in the order in which they were asked for. */
  readonly children: readonly ChildFact[];
  /** What would be undone if the run failed now, in that order. */
  readonly toUndo: readonly UndoFact[];
  /** Paths of what has been undone since the run was last begun. */
  readonly undone: readonly string[];
}

const UNDO = '~undo/';

export function factsOf(frames: readonly JournalFrame[]): RunFacts {
  const fold = new Fold();
  for (const { entries } of frames) for (const entry of entries) if (isJsonObject(entry)) fold.add(entry);
  return {
    parent: fold.parent,
    children: [...fold.children.values()],
    toUndo: [...fold.toUndo.values()].reverse(),
    undone: fold.undone,
  };
}

class Fold {
  parent: RunFacts['parent'] = null;
  readonly children = new Map<string, ChildFact>();
  /** By path, in the order of finishing. */
  readonly toUndo = new Map<string, UndoFact>();
  undone: string[] = [];

  add(entry: JsonObject): void {
    switch (entry.type) {
      case 'run.started':
        this.parent = parentOf(entry);
        break;
      case 'child.requested':
        this.#child(entry);
        break;
      case 'node.completed':
        this.#completed(String(entry.node), entry);
        break;
      case 'run.reopened':
        this.undone = [];
        for (const path of Array.isArray(entry.renewed) ? entry.renewed.map(String) : []) this.#forget(path);
        break;
      default:
        break;
    }
  }

  #child({ node, executionId, workflowId }: JsonObject): void {
    const path = String(node);
    this.children.delete(path);
    this.children.set(path, { node: path, executionId: String(executionId), workflowId: String(workflowId) });
  }

  #completed(path: string, entry: JsonObject): void {
    const cut = path.indexOf(UNDO);
    if (cut >= 0) {
      const original = path.slice(cut + UNDO.length).replaceAll(':', '/');
      this.toUndo.delete(original);
      this.undone.push(original);
    } else if (entry.undo !== undefined || entry.undoError !== undefined) {
      this.toUndo.delete(path);
      const held = isJsonObject(entry.undo) ? entry.undo.value : undefined;
      this.toUndo.set(path, {
        node: path,
        with: held,
        problem: errorOf({ error: entry.undoError ?? null })?.message ?? null,
      });
    }
  }

  /** What begins as something new has nothing to undo yet. */
  #forget(path: string): void {
    for (const known of [...this.toUndo.keys()]) {
      if (known === path || known.startsWith(`${path}/`)) this.toUndo.delete(known);
    }
  }
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
