/** Shared keys: over all runs, never more nodes with the same key run than its limit allows. */
import type { Entry } from '@nebula/core';
import type { PermitRow } from '@nebula/ports';
import type { Legality } from './legality.ts';

interface Claim {
  readonly key: string;
  readonly limit: number;
}

export class Permits {
  private readonly complain: (what: string) => void;
  private readonly journals: ReadonlyMap<string, Legality>;
  /** The grant that each node needs, by run and node. */
  private readonly claims = new Map<string, Claim>();
  /** Nodes that have begun and may have ended since, by key. */
  private readonly begun = new Map<string, Map<string, { readonly executionId: string; readonly node: string }>>();

  private readonly rows: (key: string) => readonly PermitRow[];

  constructor(
    complain: (what: string) => void,
    journals: ReadonlyMap<string, Legality>,
    rows: (key: string) => readonly PermitRow[],
  ) {
    this.complain = complain;
    this.rows = rows;
    this.journals = journals;
  }

  /** Called after the journal was checked. */
  onFrame(executionId: string, entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.type === 'node.gated' && entry.gate.kind === 'concurrency')
        this.claims.set(`${executionId} ${entry.node}`, entry.gate);
      if (entry.type === 'node.started') this.begin(executionId, entry.node);
      if (entry.type === 'node.retrying') this.mustBeFree(executionId, entry.node);
    }
  }

  /** Between attempts a node has no permit, and is not in line for one. */
  private mustBeFree(executionId: string, node: string): void {
    const claim = this.claims.get(`${executionId} ${node}`);
    const isWaiting = this.journals.get(executionId)?.nodes.get(node)?.status === 'waiting';
    if (claim === undefined || !isWaiting) return;
    const isThere = this.rows(claim.key).some((row) => row.executionId === executionId && row.node === node);
    if (isThere) this.complain(`${executionId} ${node} is between attempts, and has the permit ${claim.key}`);
  }

  private begin(executionId: string, node: string): void {
    const name = `${executionId} ${node}`;
    const claim = this.claims.get(name);
    if (claim === undefined) return;
    const { key, limit } = claim;
    const holders = this.begun.get(key) ?? new Map();
    this.begun.set(key, holders.set(name, { executionId, node }));
    for (const [other, holder] of holders) if (!this.runs(holder)) holders.delete(other);
    if (holders.size > limit) this.complain(`${[...holders.keys()]} run with the key ${key}, which allows ${limit}`);
  }

  private runs({ executionId, node }: { readonly executionId: string; readonly node: string }): boolean {
    return this.journals.get(executionId)?.nodes.get(node)?.status === 'running';
  }
}
