/**
 * Leases of remote workers: an accepted outcome is in the journal, once; a refused lease was not open; and without
 * faults no lease is lost.
 */
import { createHash } from 'node:crypto';
import type { Entry } from '@nebula/core';

/** The name of a lease in the journal: its id is a bearer token and is not stored. There are no principals here. */
export function leaseName(leaseId: string, worker: string): string {
  const hash = createHash('sha256').update(JSON.stringify([leaseId, '']));
  return `lse_${hash.digest('hex').slice(0, 32)}:${worker}`;
}

export function isLease(worker: unknown): worker is string {
  return typeof worker === 'string' && worker.startsWith('lse_');
}

/** Entries that end an attempt. */
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
  /** No fault strikes any more. */
  readonly isCalm: boolean;
}

export class Leases {
  private readonly complain: (what: string) => void;
  /** Open leases by run and node. */
  private readonly open = new Map<string, Open>();
  /** How the journal ended each lease. */
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

  /** An engine has accepted the outcome. */
  onAccepted(leaseId: string, status: string): void {
    const { type, code } = this.ended.get(leaseId) ?? {};
    if (type === undefined) return this.complain(`${leaseId} is accepted, and its attempt is open`);
    if (this.accepted.has(leaseId)) this.complain(`${leaseId} is accepted twice`);
    this.accepted.add(leaseId);
    // An invalid graph counts as a failure of the worker.
    const isKept = ['node.completed', 'node.opened'].includes(type) || status !== 'completed' || code === 'BAD_GRAPH';
    if (!isKept || code === 'WORKER_LOST')
      this.complain(`${leaseId} is accepted as ${status}, and was ${type} ${code}`);
  }

  /** An engine has refused the report. */
  onRefused(leaseId: string): void {
    for (const open of this.open.values()) {
      if (open.leaseId === leaseId) this.complain(`${leaseId} is refused, and its attempt is open`);
    }
  }
}
