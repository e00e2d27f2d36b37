import { auditOf, OPERATIONS, type Operation, type OperationId, REPEATABLE, ROUTES } from '@nebula/client/contract';
import { describe, expect, it } from 'vitest';

describe('the table', () => {
  const ids = Object.keys(ROUTES) as OperationId[];

  it('[CLT-1] has every operation once, each with a route of its own', () => {
    expect(Object.keys(OPERATIONS).toSorted()).toEqual(ids.toSorted());
    const shapes = ids.map((id) => ROUTES[id].replaceAll(/:\w+/g, ':'));
    expect(new Set(shapes).size).toBe(ids.length);
  });

  it.each(ids)('[CLT-1] %s fits its route', (id) => {
    const operation: Operation = OPERATIONS[id];
    const named = [...ROUTES[id].matchAll(/:(\w+)/g)].map(([, name]) => name);
    expect(Object.keys(operation.params?.properties ?? {}).toSorted()).toEqual(named.toSorted());
    expect(Object.keys(operation.answers).length).toBeGreaterThan(0);
    for (const status of Object.keys(operation.answers)) expect(Number(status)).toBeLessThan(300);
    expect(operation.isIdempotent ?? false).toBe(REPEATABLE.has(id));
    if (operation.isIdempotent) expect(ROUTES[id]).toMatch(/^POST /);
    if (operation.stream === 'events') expect(ROUTES[id]).toMatch(/^GET /);
    if (/^(GET|DELETE) /.test(ROUTES[id])) expect(operation.body).toBeUndefined();
    // Unknown members are refused, not ignored.
    if (operation.query !== undefined)
      expect((operation.query as { additionalProperties?: boolean }).additionalProperties).toBe(false);
  });

  it('[CLT-12] says which operations are audited', () => {
    const audited = (how: string) => ids.filter((id) => auditOf(id) === how && !ROUTES[id].startsWith('GET '));
    expect(ids.filter((id) => ROUTES[id].startsWith('GET ') && auditOf(id) !== 'never')).toEqual([]);
    const checks = [
      'validateWorkflow',
      'compareWorkflow',
      'putDraft',
      'deleteDraft',
      'rehearseWorkflow',
      'claimWork',
      'beatWorker',
      'extendLease',
      'logLease',
      'completeLease',
      'failLease',
    ];
    expect(audited('never')).toEqual(checks);
    expect(audited('server')).toContain('startExecution');
    expect(audited('server').every((id) => /^\w+ \/(executions|signals|tests)/.test(ROUTES[id]))).toBe(true);
    expect(audited('always')).toEqual(
      expect.arrayContaining(['registerWorkflow', 'putSecret', 'revealCredential', 'registerWorker', 'login']),
    );
  });
});
