/**
 * The grants of nodes, by the definition: an attempt of a node with `concurrency` or `rateLimit` starts only after the
 * node has asked for both, since it was last retried or reopened. A node keeps its grants while its outcome is unknown.
 */
import type { Entry } from '@nebula/core';
import type { Keys } from './model/graph.ts';

const KINDS = [
  ['concurrency', 'concurrency'],
  ['rateLimit', 'rate'],
] as const;

export interface GrantsParts {
  readonly complain: (complaint: string) => void;
  readonly keysOf: (path: string) => Keys | undefined;
}

export class Grants {
  private readonly parts: GrantsParts;
  /** The kinds of grants that nodes have asked for. */
  private readonly asked = new Map<string, Set<string>>();

  constructor(parts: GrantsParts) {
    this.parts = parts;
  }

  entry(entry: Entry): void {
    switch (entry.type) {
      case 'node.gated':
        this.asked.set(entry.node, (this.asked.get(entry.node) ?? new Set()).add(entry.gate.kind));
        return;
      case 'node.started':
        return this.starts(entry.node);
      case 'node.retrying':
        return this.forget(entry.node);
      case 'run.reopened':
        for (const node of entry.nodes) this.forget(node);
        return;
      default:
    }
  }

  private starts(node: string): void {
    const keys = this.parts.keysOf(node);
    for (const [key, kind] of KINDS) {
      if (keys?.[key] !== undefined && this.asked.get(node)?.has(kind) !== true)
        this.parts.complain(`${node} starts, and has not asked for its ${key}`);
    }
  }

  /** The node, and everything inside, needs new grants. */
  private forget(node: string): void {
    for (const path of this.asked.keys()) if (path === node || path.startsWith(`${node}/`)) this.asked.delete(path);
  }
}
