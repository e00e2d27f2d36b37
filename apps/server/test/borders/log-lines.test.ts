/** Log lines come from workers, and workers from anywhere: no line may hold up the server. */
import { afterEach, describe, expect, it } from 'vitest';
import { type Booted, boot, sqliteKeeping, TOKEN } from '../support/boot.ts';
import { ask } from '../support/users.ts';
import { echo, remote } from '../support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const UNREADABLE = ['2016-12-31T23:59:60Z', '2026-02-30T00:00:00Z', '2026-01-01T25:00:00Z', '+275760-09-13T00:00:00Z'];

async function leased(on: 'memory' | 'sqlite'): Promise<{ booted: Booted; leaseId: string }> {
  const sqlite = on === 'sqlite' ? await sqliteKeeping() : undefined;
  if (sqlite !== undefined) closing.push(() => sqlite.remove());
  const booted = await boot(sqlite === undefined ? {} : { keeping: sqlite.keeping });
  closing.push(() => booted.close());
  const { client, parts } = booted;
  await parts.secrets.set('press', 'a secret of the press');
  await client.call('registerWorker', {
    body: { workerId: 'w', labels: ['far'], actions: [{ id: 'far.work', effect: 'idempotent' }] },
  });
  for (const definition of [remote(), echo()]) await client.call('registerWorkflow', { body: { definition } });
  await client.call('startExecution', { body: { workflowId: 'remote' } });
  const { work } = await client.call('claimWork', { params: { workerId: 'w' }, body: { wait: '10s' } });
  return { booted, leaseId: work[0]?.leaseId as string };
}

async function completes({ client }: Booted): Promise<void> {
  const { executionId } = await client.call('startExecution', { body: { workflowId: 'echo', input: { a: 1 } } });
  const result = await client.call('getResult', { params: { executionId }, query: { wait: '10s' } });
  expect(result.status).toBe('completed');
}

describe.each(['memory', 'sqlite'] as const)('log lines of workers, on %s', (on) => {
  it('[SRV-480] a line at a time that no date can hold is refused, and none of its request is stored', async () => {
    const { booted, leaseId } = await leased(on);
    for (const at of UNREADABLE) {
      const body = { lines: [{ message: 'before it' }, { message: 'unreadable', at }] };
      const answer = await ask(booted, `POST /api/v1/leases/${leaseId}/logs`, { headers, body });
      expect([at, answer.status, answer.json?.code]).toEqual([at, 400, 'BODY_INVALID']);
    }
    for (const timestamp_ms of [1e300, -1e300, -1, 8.64e15]) {
      const body = { chunks: [{ data: 'x', timestamp_ms }] };
      const answer = await ask(booted, `POST /api/jobs/${leaseId}/logs`, { headers, body });
      expect([timestamp_ms, answer.status]).toEqual([timestamp_ms, 400]);
    }
    await booted.parts.logs.flush();
    const [run] = (await booted.client.call('listExecutions', { query: { workflowId: 'remote' } })).items;
    const { items } = await booted.client.call('listLogs', { params: { executionId: run?.executionId as string } });
    expect(items).toEqual([]);
    await completes(booted);
  });

  it('[SRV-481] lines that the store can never write stop no start', async () => {
    const { booted } = await leased(on);
    const { logs } = booted.parts;
    const line = { executionId: 'exe_x', node: 'n', attempt: 1, at: 1, level: 'info', message: 'm' } as const;
    for (const poison of [{ at: Number.NaN }, { attempt: {} }, { executionId: null }, { node: [] }]) {
      logs.append({ ...line, ...(poison as object) });
      await completes(booted);
    }
    await logs.flush();
    expect(booted.troubles).toEqual([]);
  });
});

it('[SRV-482] more lines than one request may bring are refused, and a full request lets others in between', async () => {
  const { booted, leaseId } = await leased('memory');
  const line = { message: 'y'.repeat(1_000), fields: { some: 'fields' } };
  const send = (count: number) =>
    ask(booted, `POST /api/v1/leases/${leaseId}/logs`, { headers, body: { lines: Array(count).fill(line) } });
  expect(await send(1_001)).toMatchObject({ status: 400, json: { errors: [{ pointer: '/lines' }] } });
  let turns = 0;
  const sending = send(1_000).finally(() => {
    turns = -turns;
  });
  while (turns >= 0) {
    turns++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await sending).status).toBe(200);
  expect(-turns).toBeGreaterThan(10);
});

it('[SRV-642] chunks of a worker of workflow-graph are kept, however many, while others write', async () => {
  const { keeping, remove } = await sqliteKeeping();
  closing.push(remove);
  const booted = await boot({ keeping });
  closing.push(() => booted.close());
  await booted.client.call('registerWorkflow', { body: { definition: echo() } });
  const posted = await ask(booted, 'POST /api/workflows', { headers, body: { name: 'ci', jobs: { a: { run: 'x' } } } });
  const { id } = posted.json;
  await ask(booted, `POST /api/workflows/${id}/run`, { headers, body: {} });
  const claimed = await ask(booted, 'POST /api/jobs/claim', { headers, body: { worker_id: 'w', labels: [] } });
  const count = 25_000;
  const chunks = Array.from({ length: count }, (_, sequence) => ({ data: `line ${sequence}`, sequence }));
  let isSent = false;
  const path = `POST /api/jobs/${claimed.json.lease.lease_id}/logs`;
  const sending = ask(booted, path, { headers, body: { chunks } }).finally(() => {
    isSent = true;
  });
  let others = 0;
  for (; !isSent; others++) await completes(booted);
  expect((await sending).status).toBe(200);
  expect(others).toBeGreaterThan(1);
  const { json } = await ask(booted, `GET /api/workflows/${id}/jobs/a/logs`, { headers });
  expect(json.map(({ sequence }: { sequence: number }) => sequence)).toEqual(chunks.map(({ sequence }) => sequence));
});
