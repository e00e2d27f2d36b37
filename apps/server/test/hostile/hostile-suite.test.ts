/** The hostile suite: every request is refused in our words, and the server continues as if nothing had happened. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from '../support/boot.ts';
import { ask } from '../support/users.ts';
import { echo, remote } from '../support/workflows.ts';
import { EXPONENTIAL, type HostileCase, hostileCases } from './cases.ts';

let booted: Booted;
let leaseId = '';
beforeAll(async () => {
  booted = await boot();
  const { client } = booted;
  await client.call('registerWorker', {
    body: { workerId: 'far', labels: ['far'], actions: [{ id: 'far.work', effect: 'idempotent' }] },
  });
  const hooked = { ...echo('hooked'), triggers: [{ webhook: { path: '/hostile', method: 'POST' } }] };
  for (const definition of [remote(), echo(), hooked]) await client.call('registerWorkflow', { body: { definition } });
  await client.call('startExecution', { body: { workflowId: 'remote' } });
  const { work } = await client.call('claimWork', { params: { workerId: 'far' }, body: { wait: '10s', lease: '10m' } });
  leaseId = work[0]?.leaseId as string;
});
afterAll(() => booted.close());

async function goesOn(): Promise<void> {
  expect((await ask(booted, 'GET /health')).status).toBe(200);
  const { executionId } = await booted.client.call('startExecution', { body: { workflowId: 'echo', input: { a: 1 } } });
  const { status } = await booted.client.call('getResult', { params: { executionId }, query: { wait: '10s' } });
  expect(status).toBe('completed');
}

async function refuse({ line, body, raw, headers = {}, refused, isNobody }: HostileCase): Promise<string | undefined> {
  const token = isNobody ? {} : { authorization: `Bearer ${TOKEN}` };
  const { status, text } = await ask(booted, line, {
    headers: { ...token, ...headers },
    ...(body !== undefined && { body }),
    ...(raw !== undefined && { raw }),
  });
  const isRefused = refused?.includes(status) ?? (status >= 400 && status < 500);
  return isRefused ? undefined : `${status} ${text.slice(0, 300)}`;
}

const all = (): readonly HostileCase[] => hostileCases({ leaseId });
/** The names do not depend on the lease. */
const threats = [...new Set(hostileCases({ leaseId: 'x' }).map(({ threat }) => threat))];

describe('the hostile suite', () => {
  it('[SRV-501] has at least 250 requests', () => {
    expect(all().length + EXPONENTIAL.length).toBeGreaterThanOrEqual(250);
  });

  it.each(threats)(
    '[SRV-501] %s: each request is refused, and the server continues',
    { timeout: 60_000 },
    async (threat) => {
      const failures: string[] = [];
      for (const one of all().filter((each) => each.threat === threat)) {
        const problem = await refuse(one);
        if (problem !== undefined) failures.push(`${one.name}: ${problem}`);
        if ((await ask(booted, 'GET /health')).status !== 200) failures.push(`${one.name}: no health`);
      }
      expect(failures).toEqual([]);
      await goesOn();
    },
  );

  it.each(EXPONENTIAL)('[SRV-501] a run of $id is refused for its input', async ({ id, input, value }) => {
    const definition = { id, input, nodes: { a: { action: 'core.noop' } } };
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect((await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition } })).status).toBe(201);
    const started = await ask(booted, 'POST /api/v1/executions', { headers, body: { workflowId: id, input: value } });
    expect([started.status, started.json?.code]).toEqual([422, 'INPUT_INVALID']);
    await goesOn();
  });
});
