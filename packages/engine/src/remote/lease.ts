/**
 * Leases of remote attempts. The id of a lease is a bearer token with which the principal that claimed it reports on
 * the attempt. The id contains the attempt and the length of the lease, so that any process can serve the lease. The
 * journal and the store name a lease by a hash of the id, so their readers do not get the token.
 */
import { assert, type ExecutionId, NebulaError, type NodePath } from '@nebula/core';
import { isLeaseId, LEASE_PREFIX, type LeaseId, type NodeState, type OpenAttempt } from '@nebula/core/run';
import type { Digest, Task } from '@nebula/ports';

export interface ParsedLease {
  readonly leaseId: LeaseId;
  readonly executionId: ExecutionId;
  readonly attempt: number;
  readonly node: NodePath;
  /** The length that was claimed; undefined in ids of versions that did not record it. */
  readonly leaseMs: number | undefined;
}

/** `worker` is the name of the lease in the journal. */
export interface Lease extends ParsedLease, OpenAttempt {}

/** The holder of a lease: the worker by the id that it gave itself, and the principal that claimed the lease. */
export interface LeaseHolder {
  readonly worker: string;
  readonly principal: string;
}

/** `id` is random: the lease cannot be guessed, and two claims of the same attempt differ. */
export function newLease(
  id: string,
  { executionId, attempt, node }: Pick<Task, 'executionId' | 'attempt' | 'node'>,
  leaseMs: number,
  { worker, principal }: LeaseHolder,
  digest: Digest,
): Lease {
  // Ids have neither dots nor tildes, so `parseLease` finds the parts again.
  const leaseId = `${id}~${leaseMs}.${executionId}.${attempt}.${node.replaceAll('/', '.')}`;
  assert(isLeaseId(leaseId), `the id of a lease begins with ${LEASE_PREFIX}_`);
  const name = `${markOf(leaseId, principal, digest)}${worker}`;
  return { leaseId, executionId, attempt, node, leaseMs, worker: name };
}

export function parseLease(leaseId: string): ParsedLease | undefined {
  if (!isLeaseId(leaseId)) return undefined;
  const [id = '', executionId = '', attempt = '', ...path] = leaseId.split('.');
  const [, length] = id.split('~');
  if (!/^\d{1,9}$/.test(attempt) || path.length === 0) return undefined;
  const leaseMs = length !== undefined && /^[1-9]\d{0,9}$/.test(length) ? Number(length) : undefined;
  return { leaseId, executionId, attempt: Number(attempt), node: path.join('/'), leaseMs };
}

/** The lease as the journal names it, if the node runs under it and `principal` claimed it. */
export function openLease(
  lease: ParsedLease,
  principal: string,
  { phase }: NodeState,
  digest: Digest,
): Lease | undefined {
  if (phase.status !== 'running' || phase.attempt !== lease.attempt) return undefined;
  const open = { ...lease, worker: phase.worker };
  return isLeaseOf(open, principal, digest) ? open : undefined;
}

/** Returns whether `principal` claimed the lease. */
export function isLeaseOf({ leaseId, worker }: Lease, principal: string, digest: Digest): boolean {
  return worker.startsWith(markOf(leaseId, principal, digest));
}

/** The worker of a lease, from the name of the lease. */
export function holderOf({ worker }: OpenAttempt): string {
  return worker.slice(worker.indexOf(':') + 1);
}

function markOf(leaseId: LeaseId, principal: string, digest: Digest): string {
  return `${LEASE_PREFIX}_${digest(JSON.stringify([leaseId, principal])).slice(0, 32)}:`;
}

/** The execution of a lease, for access checks before the lease is looked up. */
export function executionOfLease(leaseId: string): ExecutionId | undefined {
  return parseLease(leaseId)?.executionId;
}

/** The message does not name the lease: errors are logged, and the id is a token. */
export function staleLease(): NebulaError {
  return new NebulaError('STALE_LEASE', 'The lease is no longer valid.', {
    hint: 'Its attempt has ended, timed out or been given to another worker: drop this task.',
  });
}
