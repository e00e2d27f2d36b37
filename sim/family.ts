/** Child executions: each is started once, and its output is what its node gets. */
import type { Entry } from '@nebula/core';
import { NULL_VALUE, type StoredValue } from '@nebula/core/run';
import type { Legality } from './legality.ts';
import { isSame } from './same.ts';

interface Child {
  readonly parent: string;
  readonly node: string;
  /** The output of each completion. */
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

  /** A node with a child execution has completed. */
  onResult(executionId: string, path: string, { output }: Extract<Entry, { type: 'node.completed' }>): void {
    const childId = this.journals.get(executionId)?.nodes.get(path)?.child ?? '';
    const { outputs = [] } = this.children.get(childId) ?? {};
    const isIts = outputs.some((one) => isSame(one ?? NULL_VALUE, output ?? NULL_VALUE));
    if (!isIts) this.complain(`${executionId} ${path} has another output than ${childId}`);
  }

  /** The node that each child runs for, by id. */
  nodes(): ReadonlyMap<string, string> {
    return new Map(Array.from(this.children, ([executionId, { node }]) => [executionId, node]));
  }

  /** The parent has ended or given up the child: the child must end by itself. */
  isLeft(executionId: string): boolean {
    const child = this.children.get(executionId);
    if (child === undefined) return false;
    const parent = this.journals.get(child.parent);
    const node = parent?.nodes.get(child.node);
    return parent === undefined || parent.isFinished || node?.status !== 'child' || node.child !== executionId;
  }

  /** A retry of the parent continues the child that last ran for the node; any other request has a new id. */
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
