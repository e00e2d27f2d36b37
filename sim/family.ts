/** Executions that run for a node of another one: each is started once, and what it gave is what its node gets. */
import { type Entry, NULL_VALUE, type StoredValue } from '@nebula/core';
import type { Legality } from './legality.ts';
import { isSame } from './same.ts';

interface Child {
  readonly parent: string;
  readonly node: string;
  /** Of each time that it completed. */
  readonly outputs: (StoredValue | undefined)[];
}

export class Family {
  private readonly complain: (what: string) => void;
  private readonly journals: ReadonlyMap<string, Legality>;
  private readonly children = new Map<string, Child>();

  constructor(complain: (what: string) => void, journals: ReadonlyMap<string, Legality>) {
    this.complain = complain;
    this.journals = journals;
  }

  onFrame(executionId: string, entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.type === 'child.requested') this.request(executionId, entry);
      if (entry.type === 'run.started' && entry.parent !== undefined) {
        const child = this.children.get(executionId);
        const { executionId: parent, node } = entry.parent;
        if (child?.parent !== parent || child.node !== node) this.complain(`${executionId} runs for nobody`);
      }
      if (entry.type === 'run.finished' && entry.status === 'completed')
        this.children.get(executionId)?.outputs.push(entry.output);
    }
  }

  /** A node has completed for which another execution ran. */
  onResult(executionId: string, path: string, { output }: Extract<Entry, { type: 'node.completed' }>): void {
    const childId = this.journals.get(executionId)?.nodes.get(path)?.child ?? '';
    const { outputs = [] } = this.children.get(childId) ?? {};
    const isIts = outputs.some((one) => isSame(one ?? NULL_VALUE, output ?? NULL_VALUE));
    if (!isIts) this.complain(`${executionId} ${path} has another output than ${childId}`);
  }

  /** By id, the node that each runs for. */
  nodes(): ReadonlyMap<string, string> {
    return new Map(Array.from(this.children, ([executionId, { node }]) => [executionId, node]));
  }

  /** Its parent has ended, or wants nothing of it any more: it must end by itself. */
  isLeft(executionId: string): boolean {
    const child = this.children.get(executionId);
    if (child === undefined) return false;
    const parent = this.journals.get(child.parent);
    const node = parent?.nodes.get(child.node);
    return parent === undefined || parent.isFinished || node?.status !== 'child' || node.child !== executionId;
  }

  /** A retry of the parent goes on with the one that ran last for the node; any other is new. */
  private request(
    parent: string,
    { node, executionId, again = false }: Extract<Entry, { type: 'child.requested' }>,
  ): void {
    const known = this.children.get(executionId);
    if (again) {
      const last = this.journals.get(parent)?.nodes.get(node)?.child;
      if (last !== executionId || known?.parent !== parent) this.complain(`${parent} goes on with ${executionId}`);
      return;
    }
    if (known !== undefined) this.complain(`${executionId} is asked for twice`);
    this.children.set(executionId, { parent, node, outputs: [] });
  }
}
