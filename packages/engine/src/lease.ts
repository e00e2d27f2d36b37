/**
 * The id of a lease. It names the attempt and the length of the lease, so that any process can serve the lease, and a
 * restart changes neither.
 */
import type { OpenAttempt } from '@nebula/core';
import type { Task } from '@nebula/ports';

export interface Lease extends OpenAttempt {
  readonly executionId: string;
  /** As claimed; undefined in ids of versions that did not record it. */
  readonly leaseMs: number | undefined;
}

/** Names of leases begin so, and no name of an engine does. */
export const LEASE_PREFIX = 'lse';

/** `id` makes it one that nobody can guess, and tells two takers of the same attempt apart. */
export function leaseName(
  id: string,
  { executionId, attempt, node }: Pick<Task, 'executionId' | 'attempt' | 'node'>,
  leaseMs: number,
): string {
  // Ids have neither dots nor tildes, so what is between them is found again.
  return `${id}~${leaseMs}.${executionId}.${attempt}.${node.replaceAll('/', '.')}`;
}

export function parseLease(leaseId: string): Lease | undefined {
  const [id = '', executionId = '', attempt = '', ...path] = leaseId.split('.');
  const [name = '', length] = id.split('~');
  if (!name.startsWith(`${LEASE_PREFIX}_`) || !/^\d{1,9}$/.test(attempt) || path.length === 0) return undefined;
  const leaseMs = length !== undefined && /^[1-9]\d{0,9}$/.test(length) ? Number(length) : undefined;
  return { executionId, attempt: Number(attempt), node: path.join('/'), worker: leaseId, leaseMs };
}

/** For those who want to know whose business it is, before anything is looked at. */
export function executionOfLease(leaseId: string): string | undefined {
  return parseLease(leaseId)?.executionId;
}
