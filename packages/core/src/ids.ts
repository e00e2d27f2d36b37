/**
 * Ids that cannot be used for one another. They are strings at run time.
 *
 * A plain string is accepted where an `ExecutionId`, a `NodePath` or a `WorkflowId` is expected: HTTP, tables and users
 * have plain strings, and the lookup of the run, node or workflow is the check. A `LeaseId` is a bearer token, and only
 * `isLeaseId` makes one of a string.
 */
declare const kind: unique symbol;

/** An execution: `exe_…`. */
export type ExecutionId = string & { readonly [kind]?: 'execution' };

/** A node of a run, with the iterations that it is in: `items/3/pack`. */
export type NodePath = string & { readonly [kind]?: 'node' };

export type WorkflowId = string & { readonly [kind]?: 'workflow' };

/** A lease of a remote attempt: `lse_…`. */
export type LeaseId = string & { readonly [kind]: 'lease' };

/** Ids and names of leases begin so; names of engines do not. */
export const LEASE_PREFIX = 'lse';

export function isLeaseId(text: string): text is LeaseId {
  return text.startsWith(`${LEASE_PREFIX}_`);
}
