/** Attacks with a lease, or a worker, of another caller. */

type Requests = readonly (readonly [line: string, body: unknown])[];

/** By every route that takes a lease. */
export const leaseRequests = (lease: string): Requests => [
  [`POST /api/v1/leases/${lease}/credentials/key`, undefined],
  [`POST /api/v1/leases/${lease}/heartbeat`, {}],
  [`POST /api/v1/leases/${lease}/logs`, { lines: [{ message: 'forged' }] }],
  [`POST /api/v1/leases/${lease}/complete`, { output: 'forged' }],
  [`POST /api/v1/leases/${lease}/fail`, { message: 'forged' }],
  [`POST /api/jobs/${lease}/heartbeat`, {}],
  [`POST /api/jobs/${lease}/logs`, { chunks: [{ data: 'forged' }] }],
  [`POST /api/jobs/${lease}/complete`, { outputs: { forged: '1' } }],
  [`POST /api/jobs/${lease}/fail`, { error: 'forged' }],
];

/** The lease itself, and what somebody might guess from it. */
export const forgedLeases = (lease: string): readonly string[] => [
  lease,
  lease.replace(/^[^.]+/, 'lse_0'),
  lease.replace(/^[^.]+\./, ''),
];
