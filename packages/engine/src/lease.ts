/** The name of a lease: it says of which attempt it is, so that any process can take what is told of it. */
import type { OpenAttempt } from '@nebula/core';
import type { Task } from '@nebula/ports';

export interface Lease extends OpenAttempt {
  readonly executionId: string;
}

/** Names of leases begin so, and no name of an engine does. */
export const LEASE_PREFIX = 'lse';

/** `id` makes it one that nobody can guess, and tells two takers of the same attempt apart. */
export function leaseName(id: string, { executionId, attempt, node }: Pick<Task, 'executionId' | 'attempt' | 'node'>) {
  // Ids have no dots, so what is between them is found again.
  return `${id}.${executionId}.${attempt}.${node.replaceAll('/', '.')}`;
}

export function parseLease(leaseId: string): Lease | undefined {
  const [id = '', executionId = '', attempt = '', ...path] = leaseId.split('.');
  if (!id.startsWith(`${LEASE_PREFIX}_`) || !/^\d{1,9}$/.test(attempt) || path.length === 0) return undefined;
  return { executionId, attempt: Number(attempt), node: path.join('/'), worker: leaseId };
}

/** For those who want to know whose business it is, before anything is looked at. */
export function executionOfLease(leaseId: string): string | undefined {
  return parseLease(leaseId)?.executionId;
}
