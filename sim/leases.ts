/**
 * Leases of remote workers: what an engine accepts is in the journal, once and for good; what it refuses was not open;
 * and when everything goes well none is lost.
 */
import { createHash } from 'node:crypto';
import type { Entry } from '@nebula/core';

/** What the journal calls a lease: its id is a bearer value, and stands nowhere. Nobody signs in here. */
export function leaseName(leaseId: string, worker: string): string {
  const hash = createHash('sha256').update(JSON.stringify([leaseId, '']));
  return `lse_${hash.digest('hex').slice(0, 32)}:${worker}`;
}

export function isLease(worker: unknown): worker is string {
  return typeof worker === 'string' && worker.startsWith('lse_');
}

/** What ends an attempt, in the journal. */
const ENDS: readonly Entry['type'][] = [
  'node.completed',
  'node.opened',
  'node.failed',
  'node.retrying',
  'node.returned',
  'node.unknown',
  'node.cancelled',
];

interface Open {
  readonly leaseId: string;
  /** Nothing goes wrong any more. */
  readonly isCalm: boolean;
}

export class Leases {
  private readonly complain: (what: string) => void;
  /** By run and node. */
  private readonly open = new Map<string, Open>();
  /** How the journal ended them. */
  private readonly ended = new Map<string, { readonly type: Entry['type']; readonly code: string | undefined }>();
  private readonly accepted = new Set<string>();

  constructor(complain: (what: string) => void) {
    this.complain = complain;
  }

  onFrame(executionId: string, entries: readonly Entry[], isCalm: boolean): void {
    for (const entry of entries) {
      if (!('node' in entry)) continue;
      const name = `${executionId} ${entry.node}`;
      if (entry.type === 'node.started' && isLease(entry.worker)) {
        this.open.set(name, { leaseId: entry.worker, isCalm });
        continue;
      }
      const open = this.open.get(name);
      if (open === undefined || !ENDS.includes(entry.type)) continue;
      const code = 'error' in entry ? entry.error?.code : undefined;
      this.open.delete(name);
      this.ended.set(open.leaseId, { type: entry.type, code });
      if (code === 'WORKER_LOST' && open.isCalm) this.complain(`${open.leaseId} is lost, and nothing went wrong`);
    }
  }

  /** An engine has taken what became of it. */
  onAccepted(leaseId: string, status: string): void {
    const { type, code } = this.ended.get(leaseId) ?? {};
    if (type === undefined) return this.complain(`${leaseId} is accepted, and its attempt is open`);
    if (this.accepted.has(leaseId)) this.complain(`${leaseId} is accepted twice`);
    this.accepted.add(leaseId);
    // A graph that is none is the worker's failure.
    const isKept = ['node.completed', 'node.opened'].includes(type) || status !== 'completed' || code === 'BAD_GRAPH';
    if (!isKept || code === 'WORKER_LOST')
      this.complain(`${leaseId} is accepted as ${status}, and was ${type} ${code}`);
  }

  /** An engine does not want to hear of it. */
  onRefused(leaseId: string): void {
    for (const open of this.open.values()) {
      if (open.leaseId === leaseId) this.complain(`${leaseId} is refused, and its attempt is open`);
    }
  }
}
