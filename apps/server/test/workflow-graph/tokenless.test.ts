/** Programs without a token: only where the server is told so, of one project, and for their own calls alone. */
import { afterEach, expect, it } from 'vitest';
import { type Booted, type BootOptions, boot, TOKEN } from '../support/boot.ts';
import { OriginClient, OriginWorker } from './origin-worker.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function opened(options: BootOptions = {}): Promise<Booted> {
  const booted = await boot(options);
  closing.push(() => booted.close());
  return booted;
}

const PATH = 'a-path-that-nobody-guesses-0123456789';
const CLAIM = { worker_id: 'w-1', labels: [], lease_ttl_secs: 30 };

async function status(url: string, body: unknown = CLAIM, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return response.status;
}

async function runs(booted: Booted, worker: OriginWorker): Promise<void> {
  closing.push(() => worker.stop());
  worker.start();
  const client = new OriginClient(() => booted.server.url, TOKEN);
  const { id } = await client.createWorkflow('name: t\non: push\njobs: { a: { run: echo hi } }');
  await client.runWorkflow(id);
  await expect.poll(async () => (await client.getStatus(id)).jobs[0]?.status).toBe('success');
  expect((await client.getJobLogs(id, 'a')).map(({ data }) => data)).toEqual(['hi\n']);
}

it('[SRV-565] a server that is not told so lets no worker in without a token', async () => {
  const { server } = await opened();
  expect(await status(`${server.url}/api/jobs/claim`)).toBe(401);
  expect(await status(`${server.url}/workflow-graph/${PATH}/api/jobs/claim`)).toBe(404);
});

it('[SRV-565] from loopback a worker of workflow-graph works unchanged', async () => {
  const booted = await opened({ tokenless: { project: 'default', loopback: true } });
  await runs(booted, new OriginWorker({ base: () => booted.server.url, workerId: 'w-1' }));
});

it('[SRV-565] below its path a worker of workflow-graph works unchanged, and below another one not at all', async () => {
  const booted = await opened({ tokenless: { project: 'default', path: PATH } });
  const base = () => `${booted.server.url}/workflow-graph/${PATH}`;
  await runs(booted, new OriginWorker({ base, workerId: 'w-1' }));
  expect(await status(`${booted.server.url}/workflow-graph/${PATH}x/api/jobs/claim`)).toBe(401);
  expect(await status(`${booted.server.url}/api/jobs/claim`)).toBe(401);
});

it('[SRV-566] a worker without a token does nothing but the work of its project', async () => {
  const booted = await opened({ tokenless: { project: 'ci', loopback: true, path: PATH } });
  const { url } = booted.server;
  const client = new OriginClient(() => url, TOKEN);
  const { id } = await client.createWorkflow('name: t\non: push\njobs: { a: { run: echo hi } }');
  await client.runWorkflow(id);
  for (const base of [url, `${url}/workflow-graph/${PATH}`]) {
    // The run is of another project.
    const worker = new OriginWorker({ base: () => base, workerId: 'w-1' });
    await expect.poll(async () => (await client.getStatus(id)).jobs[0]?.status).toBe('queued');
    expect(await worker.claim()).toBeNull();
  }
  for (const path of ['/api/workflows', `/api/workflows/${id}/run`, `/api/workflows/${id}/cancel`]) {
    expect(await status(`${url}${path}`, {})).toBe(401);
    expect(await status(`${url}/workflow-graph/${PATH}${path}`, {})).toBe(404);
  }
  expect((await fetch(`${url}/api/workers`)).status).toBe(401);
  expect((await fetch(`${url}/workflow-graph/${PATH}/api/workers`)).status).toBe(403);
  expect((await fetch(`${url}/api/v1/workers`)).status).toBe(401);
  expect(await status(`${url}/api/v1/workers/w-1/claim`, {})).toBe(401);
});

/** Every call of the client of workflow-graph. */
async function usesAll(client: OriginClient, worker: OriginWorker): Promise<string> {
  closing.push(() => worker.stop());
  worker.start();
  const { id } = await client.createWorkflow('name: t\non: push\njobs: { a: { run: echo hi }, b: { run: sleep 30 } }');
  expect((await client.listWorkflows('?limit=10')).map((one) => one.id)).toEqual([id]);
  expect(await client.streamLogs(id, 'a')).toEqual([]);
  await client.runWorkflow(id);
  await expect.poll(async () => (await client.getStatus(id)).jobs[0]?.status).toBe('success');
  expect((await client.streamLogs(id, 'a')).map(({ data }) => data)).toEqual(['hi\n']);
  expect((await client.getJobLogs(id, 'a')).map(({ data }) => data)).toEqual(['hi\n']);
  await expect.poll(async () => (await client.listWorkers())[0]?.current_job).toBe('b');
  await client.cancelWorkflow(id);
  await expect.poll(async () => (await client.getStatus(id)).jobs[1]?.status).toBe('cancelled');
  const again = await client.getStatus(id);
  expect((await client.createWorkflow(again)).id).not.toBe(id);
  return id;
}

it('[WFG-12] with `clients`, the whole client of workflow-graph needs no token: from loopback, or below the path', async () => {
  const tokenless = { project: 'ci', clients: true };
  for (const way of [{ loopback: true }, { path: PATH }]) {
    const booted = await opened({ tokenless: { ...tokenless, ...way } });
    await booted.client.call('putProject', { params: { projectId: 'ci' }, body: { name: 'CI' } });
    const base = () => `${booted.server.url}${'path' in way ? `/workflow-graph/${PATH}` : ''}`;
    const id = await usesAll(new OriginClient(base), new OriginWorker({ base, workerId: 'w-1' }));
    const { items } = await booted.client.call('listAudit', { query: { limit: 50 } });
    const acts = items.filter(({ who }) => who === 'workflow-graph client').map(({ operation }) => operation);
    expect(new Set(acts)).toEqual(new Set(['registerWorkflow', 'startExecution', 'cancelExecution']));
    expect((await booted.client.call('getWorkflow', { params: { workflowId: id } })).project).toBe('ci');
  }
});

it('[WFG-12] such a client is an editor of its project for these calls, and nothing else', async () => {
  const booted = await opened({ tokenless: { project: 'ci', loopback: true, path: PATH, clients: true } });
  const { url } = booted.server;
  await booted.client.call('putProject', { params: { projectId: 'ci' }, body: { name: 'CI' } });
  const owner = new OriginClient(() => url, TOKEN);
  const foreign = await owner.createWorkflow('name: t\non: push\njobs: { a: { run: echo hi } }');
  for (const base of [url, `${url}/workflow-graph/${PATH}`]) {
    const client = new OriginClient(() => base);
    expect(await client.listWorkflows()).toEqual([]);
    await expect(client.getStatus(foreign.id)).rejects.toThrow('404');
    await expect(client.runWorkflow(foreign.id)).rejects.toThrow('404');
    await expect(client.cancelWorkflow(foreign.id)).rejects.toThrow('404');
    const jobs = { jobs: [] };
    expect(await status(`${base}/api/workflows?project=default`, jobs)).toBeGreaterThanOrEqual(403);
    expect(await status(`${base}/api/workflows`, jobs, { origin: 'http://evil.example' })).toBe(
      base === url ? 401 : 201,
    );
  }
  for (const path of ['/api/v1/workflows', '/api/v1/executions', `/workflow-graph/${PATH}/api/v1/workflows`]) {
    expect((await fetch(`${url}${path}`)).status).toBeGreaterThanOrEqual(401);
  }
});

it('[SRV-567] loopback admits neither proxies nor pages of a browser nor a wrong token', async () => {
  const { server } = await opened({ tokenless: { project: 'default', loopback: true } });
  const claim = `${server.url}/api/jobs/claim`;
  expect(await status(claim)).toBe(200);
  for (const [name, value] of Object.entries({
    'x-forwarded-for': '203.0.113.7',
    forwarded: 'for=203.0.113.7',
    via: '1.1 proxy',
    'x-real-ip': '203.0.113.7',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'flows.example.com',
    'x-forwarded-anything': 'x',
    authorization: 'Bearer wrong',
    cookie: 'session=old',
    origin: 'http://127.0.0.1:1',
  })) {
    expect([name, await status(claim, CLAIM, { [name]: value })]).toEqual([
      name,
      expect.toSatisfy((code) => code >= 401),
    ]);
  }
});
