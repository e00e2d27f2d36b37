/**
 * Leases of attempts that workers outside run. The id of a lease is a bearer value: whoever has it, and is the one who
 * claimed it, may speak for the attempt. It names the attempt and the length of the lease, so that any process can serve
 * the lease. The journal and the store know a lease by another name, made of a hash: reading them gives nobody a lease.
 */
import { NebulaError, type NodeState, type OpenAttempt } from '@nebula/core';
import type { Digest, Task } from '@nebula/ports';

export interface LeaseId {
  readonly leaseId: string;
  readonly executionId: string;
  readonly attempt: number;
  readonly node: string;
  /** As claimed; undefined in ids of versions that did not record it. */
  readonly leaseMs: number | undefined;
}

/** `worker` is the name of the lease in the journal. */
export interface Lease extends LeaseId, OpenAttempt {}

/** The holder of a lease: the worker by the id that it gave itself, and the principal that claimed the lease. */
export interface LeaseHolder {
  readonly worker: string;
  readonly principal: string;
}

/** Names of leases begin so, and no name of an engine does. */
export const LEASE_PREFIX = 'lse';

/** `id` makes it one that nobody can guess, and tells two takers of the same attempt apart. */
export function newLease(
  id: string,
  { executionId, attempt, node }: Pick<Task, 'executionId' | 'attempt' | 'node'>,
  leaseMs: number,
  { worker, principal }: LeaseHolder,
  digest: Digest,
): Lease {
  // Ids have neither dots nor tildes, so what is between them is found again.
  const leaseId = `${id}~${leaseMs}.${executionId}.${attempt}.${node.replaceAll('/', '.')}`;
  const name = `${markOf(leaseId, principal, digest)}${worker}`;
  return { leaseId, executionId, attempt, node, leaseMs, worker: name };
}

export function parseLease(leaseId: string): LeaseId | undefined {
  const [id = '', executionId = '', attempt = '', ...path] = leaseId.split('.');
  const [name = '', length] = id.split('~');
  if (!name.startsWith(`${LEASE_PREFIX}_`) || !/^\d{1,9}$/.test(attempt) || path.length === 0) return undefined;
  const leaseMs = length !== undefined && /^[1-9]\d{0,9}$/.test(length) ? Number(length) : undefined;
  return { leaseId, executionId, attempt: Number(attempt), node: path.join('/'), leaseMs };
}

/** The lease as the journal names it, if the node runs under it, and `principal` is who claimed it. */
export function openLease(lease: LeaseId, principal: string, { phase }: NodeState, digest: Digest): Lease | undefined {
  if (phase.status !== 'running' || phase.attempt !== lease.attempt) return undefined;
  const open = { ...lease, worker: phase.worker };
  return isHeldBy(open, principal, digest) ? open : undefined;
}

/** Whether `principal` claimed the lease. */
export function isHeldBy({ leaseId, worker }: Lease, principal: string, digest: Digest): boolean {
  return worker.startsWith(markOf(leaseId, principal, digest));
}

/** The worker of a lease, from the name of the lease. */
export function holderOf({ worker }: OpenAttempt): string {
  return worker.slice(worker.indexOf(':') + 1);
}

function markOf(leaseId: string, principal: string, digest: Digest): string {
  return `${LEASE_PREFIX}_${digest(JSON.stringify([leaseId, principal])).slice(0, 32)}:`;
}

/** For those who want to know whose business it is, before anything is looked at. */
export function executionOfLease(leaseId: string): string | undefined {
  return parseLease(leaseId)?.executionId;
}

/** Not by its id: errors are logged, and an id is enough to speak for the attempt. */
export function staleLease(): NebulaError {
  return new NebulaError('STALE_LEASE', 'The lease is not good any more.', {
    hint: 'Its attempt has ended, timed out or been given to somebody else: drop this work.',
  });
}
