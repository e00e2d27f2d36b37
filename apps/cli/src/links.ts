/** The executions that a run belongs to and that belong to it, for documents and for people. */
import type { RunDocument, RunStatus } from '@nebula/core';
import type { Desk } from '@nebula/engine';
import { type ChildFact, factsOf, type RunFacts } from './run-facts.ts';

export interface LinkedChild extends ChildFact {
  /** Null when it has been deleted, or was never there. */
  readonly status: RunStatus | null;
}

export interface Links {
  readonly parent: RunFacts['parent'];
  readonly children: readonly LinkedChild[];
}

/** More children are named without being looked up: a loop may have started thousands. */
const MAX_LOOKED_UP = 1_000;

export async function linksOf(desk: Desk, executionId: string): Promise<Links> {
  const { parent, children } = factsOf(await desk.journal(executionId));
  const linked: LinkedChild[] = [];
  for (const [at, child] of children.entries()) {
    const document = at < MAX_LOOKED_UP ? await desk.document(child.executionId) : undefined;
    linked.push({ ...child, status: document?.status ?? null });
  }
  return { parent, children: linked };
}

/** The document of a run, with its links. */
export async function linkedDocument(desk: Desk, document: RunDocument): Promise<RunDocument & Partial<Links>> {
  return { ...document, ...present(await linksOf(desk, document.executionId)) };
}

/** Those that there are. */
export function present({ parent, children }: Links): Partial<Links> {
  return { ...(parent !== null && { parent }), ...(children.length > 0 && { children }) };
}
