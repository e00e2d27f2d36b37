/** Finds nodes that hold a concurrency key while a node inside them waits for the same key. */

import { bodyOf, type NodeDefinition, type WorkflowDefinition } from '../definition/model.ts';
import type { GraphRecord } from '../plan/context.ts';
import { type GraphPlan, innerGraph, type NodePlan } from '../plan/plan.ts';
import { canonicalJson, isJsonObject, type Json } from '../value.ts';
import { constantOf } from './constant.ts';
import { nodePath, type Verification } from './verification.ts';

/** Describes a node that waits for a key that an enclosing node holds. */
type Waiter = string | undefined;

export function checkDeadlocks(verification: Verification, record: GraphRecord): void {
  for (const node of record.plan.nodes) {
    const key = keyOf(node);
    if (key === undefined) continue;
    const found = new Search(verification.find, key).below(node, 1);
    if (found === undefined) continue;
    verification.problems.warning({
      code: 'SELF_DEADLOCK',
      message: `deadlock: '${node.id}' holds the key '${key}' while ${found} inside it waits for the same key`,
      hint: 'use another key inside, or remove one of the two',
      path: [...nodePath(record, node), 'concurrency', 'key'],
    });
  }
}

/** The key, if it is the same in every run. */
function keyOf({ concurrency }: NodePlan): string | undefined {
  const key = constantOf(concurrency?.key);
  return key === undefined ? undefined : textOf(key);
}

function textOf(key: Json): string {
  return typeof key === 'string' ? key : canonicalJson(key);
}

/** Searches the inside of a node: bodies and inlined workflows in their compiled form, children as written. */
class Search {
  private readonly find: Verification['find'];
  private readonly key: string;
  /** Visited workflows by id and version; a workflow that starts itself is visited once. */
  private readonly seen = new Set<string>();

  constructor(find: Verification['find'], key: string) {
    this.find = find;
    this.key = key;
  }

  /** `held` is the number of permits of the key that enclosing nodes hold. */
  below({ work }: NodePlan, held: number): Waiter {
    if (work.kind === 'child' && work.workflowId !== undefined) {
      return this.inWorkflow(this.find(work.workflowId, work.version), held);
    }
    const inner = innerGraph(work);
    return inner && this.inGraph(inner, held);
  }

  private inGraph({ nodes }: GraphPlan, held: number): Waiter {
    return first(nodes, (node) => {
      if (!node.enabled) return undefined;
      const asks = keyOf(node) === this.key;
      if (asks && (node.concurrency?.limit ?? 1) <= held) return `'${node.id}'`;
      return this.below(node, asks ? held + 1 : held);
    });
  }

  private inWorkflow(workflow: WorkflowDefinition | undefined, held: number): Waiter {
    const name = `${workflow?.id} ${workflow?.version}`;
    if (workflow === undefined || this.seen.has(name)) return undefined;
    this.seen.add(name);
    const found = this.inNodes(workflow.nodes ?? {}, held);
    return found && `${found} of the workflow '${workflow.id}'`;
  }

  private inNodes(nodes: Readonly<Record<string, NodeDefinition>>, held: number): Waiter {
    return first(Object.entries(nodes), ([id, node]) => {
      if (node.enabled === false) return undefined;
      const { key, limit = 1 } = node.concurrency ?? {};
      const asks = key !== undefined && !hasExpression(key) && textOf(key) === this.key;
      if (asks && typeof limit === 'number' && limit <= held) return `'${id}'`;
      const inside = asks ? held + 1 : held;
      const { workflow } = node;
      const body = bodyOf(node);
      if (workflow?.id !== undefined) return this.inWorkflow(this.find(workflow.id, workflow.version), inside);
      return body && this.inNodes(body.nodes ?? {}, inside);
    });
  }
}

function hasExpression(value: Json): boolean {
  if (typeof value === 'string') return value.includes('{{');
  if (Array.isArray(value)) return value.some(hasExpression);
  return isJsonObject(value) && Object.values(value).some(hasExpression);
}

function first<T>(all: readonly T[], search: (one: T) => Waiter): Waiter {
  for (const one of all) {
    const found = search(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
