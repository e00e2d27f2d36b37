/** Each key of the configuration that says how a server works: what it changes. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { createClient } from '@nebula/client';
import { afterEach, describe, expect, test } from 'vitest';
import { projectFolder, startNebula } from './support/nebula-process.ts';
import { Served, say } from './support/served.ts';

let served: Served | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

const called = (port: number) => ({
  id: 'called',
  config: { capabilities: { network: [`127.0.0.1:${port}`] } },
  nodes: {
    reply: { wait: { callback: true } },
    tell: {
      action: 'http.request@1',
      with: { method: 'POST', url: `http://127.0.0.1:${port}/`, body: '{{ $nodes.reply.callbackUrl }}' },
    },
  },
});

async function open(config: string, more: Record<string, string> = {}): Promise<Served> {
  served = await Served.open({ 'nebula.config.yaml': config, ...more });
  return served;
}

const clientOf = ({ cwd, url }: Served) =>
  createClient({ url, token: readFileSync(path.join(cwd, '.nebula/token'), 'utf8').trim(), retries: 0 });

/** The callback URL as another service gets it. */
async function callbackUrl(server: Served): Promise<string> {
  const got = Promise.withResolvers<string>();
  const service = createServer((request, response) => {
    response.end();
    text(request).then(got.resolve, got.reject);
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const client = clientOf(server);
  const definition = called((service.address() as AddressInfo).port);
  await client.call('registerWorkflow', { body: { definition } });
  await client.call('startExecution', { body: { workflowId: 'called' } });
  return await got.promise.finally(() => service.close());
}

describe('the configuration of a server', () => {
  test('[SRV-343] addresses for calls begin where it listens, and can be called', async () => {
    const server = await open('server: {}\n');
    const url = await callbackUrl(server);
    expect(url.startsWith(`${server.url}/callbacks/`)).toBe(true);
    expect((await fetch(url, { method: 'POST', body: 'here' })).status).toBe(202);
    expect((await fetch(url, { method: 'POST' })).status).toBe(409);
  });

  test('[SRV-343] addresses for calls begin with server.url', async () => {
    const server = await open('server: { url: "https://flows.example.com/" }\n');
    expect(await callbackUrl(server)).toMatch(/^https:\/\/flows\.example\.com\/callbacks\/[\w-]+\.[\w-]+$/);
  });

  test('[SRV-344] server.trustProxy names the trusted proxies', async () => {
    const calledFrom = async (config: string): Promise<unknown> => {
      const server = await open(config);
      const client = clientOf(server);
      const token = readFileSync(path.join(server.cwd, '.nebula/token'), 'utf8').trim();
      await fetch(`${server.url}/api/v1/projects/p`, {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'x-forwarded-for': '203.0.113.9',
        },
        body: '{"name":"P"}',
      });
      const { items } = await client.call('listAudit', { query: { limit: 1 } });
      await server.close();
      served = undefined;
      return (items as unknown as { details: { ip: string } }[])[0]?.details.ip;
    };
    expect(await calledFrom('server: { trustProxy: [loopback] }\n')).toBe('203.0.113.9');
    expect(await calledFrom('server: {}\n')).toBe('127.0.0.1');
    for (const proxy of ['proxy.example.com', '999.1.1.1', '10.0.0.0/99']) {
      const cwd = projectFolder({ 'nebula.config.yaml': `server: { port: 0, trustProxy: ["${proxy}"] }\n` });
      expect((await say(cwd, ['serve'])).err, proxy).toMatch(/^error CONFIG_INVALID: .*trustProxy/);
    }
  });

  test('[SRV-345] server.metrics sets who may read the metrics', async () => {
    expect((await fetch(`${(await open('server: { metrics: public }\n')).url}/metrics`)).status).toBe(200);
    await served?.close();
    expect((await fetch(`${(await open('server: {}\n')).url}/metrics`)).status).toBe(401);
  });

  test('[SRV-565] server.workflowGraph says which workers need no token', async () => {
    const claim = async ({ url }: Served) => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ worker_id: 'w', labels: [] });
      return (await fetch(`${url}/api/jobs/claim`, { method: 'POST', headers, body })).status;
    };
    expect(await claim(await open('server: { workflowGraph: { project: default, loopback: true } }\n'))).toBe(200);
    await served?.close();
    expect(await claim(await open('server: {}\n'))).toBe(401);
    for (const wrong of [
      '{ loopback: true }',
      '{ project: p, path: short }',
      '{ project: p }',
      '{ project: p, any: 1 }',
      '{ project: p, loopback: true, clients: 1 }',
    ]) {
      const cwd = projectFolder({ 'nebula.config.yaml': `server: { port: 0, workflowGraph: ${wrong} }\n` });
      expect((await say(cwd, ['serve'])).err, wrong).toMatch(/^error CONFIG_INVALID: [\s\S]*workflowGraph/);
    }
  });

  test('[WFG-13] loopback of server.workflowGraph is refused where other machines reach the server', async () => {
    const admits = 'workflowGraph: { project: default, loopback: true }';
    for (const [key, more] of [
      ['url', 'url: "https://flows.example.com"'],
      ['trustProxy', 'trustProxy: [loopback]'],
      ['hosts', 'hosts: [localhost, flows.example.com]'],
      ['host', 'host: 0.0.0.0'],
    ] as const) {
      const cwd = projectFolder({ 'nebula.config.yaml': `server: { port: 0, ${admits}, ${more} }\n` });
      expect((await say(cwd, ['serve'])).err, key).toMatch(
        new RegExp(`^error CONFIG_INVALID: .*loopback does not go with server\\.${key}:`),
      );
    }
    const cwd = projectFolder({ 'nebula.config.yaml': `server: { port: 0, ${admits} }\n` });
    expect((await say(cwd, ['serve', '--host', '0.0.0.0'])).err).toMatch(/^error CONFIG_INVALID: .*server\.host:/);
    const plain = await open(
      `server: { ${admits}, url: "http://localhost:80", hosts: [localhost], host: 127.0.0.1 }\n`,
    );
    expect(plain.url).toContain('127.0.0.1');
  });

  test('[SRV-347] labels are those of the process', async () => {
    const flow = 'id: far\nnodes: { a: { action: core.set@1, labels: [gpu], with: { value: 1 } } }\n';
    const server = await open('labels: [gpu, eu]\n', { 'far.yaml': flow });
    const client = clientOf(server);
    const definition = { id: 'far', nodes: { a: { action: 'core.set@1', labels: ['gpu'], with: { value: 1 } } } };
    await client.call('registerWorkflow', { body: { definition } });
    const run = client.call('startExecution', { body: { workflowId: 'far' }, query: { wait: '20s' } });
    expect(await run).toMatchObject({ status: 'completed' });
    expect(
      (await say(projectFolder({ 'nebula.config.yaml': 'labels: [gpu]\n', 'far.yaml': flow }), ['run', 'far.yaml']))
        .code,
    ).toBe(0);
  });

  test('[SRV-347] and of a worker, unless its command says others', async () => {
    const server = await open('server: {}\n');
    const env = { NEBULA_TOKEN: readFileSync(path.join(server.cwd, '.nebula/token'), 'utf8').trim() };
    const cwd = projectFolder({ 'nebula.config.yaml': 'labels: [gpu, eu]\n' });
    const labels: unknown[] = [];
    for (const more of [[], ['--labels', 'far']]) {
      const worker = startNebula(['worker', '--id', 'w', '--server', server.url, ...more], { cwd, env });
      await worker.until('waits for work');
      labels.push((await clientOf(server).call('listWorkers')).items[0]?.labels);
      worker.child.kill('SIGTERM');
      await worker.ended;
    }
    expect(labels).toEqual([['gpu', 'eu'], ['far']]);
  });

  test('[CLI-360] a worker in the folder of a server reaches its token by no grant', async () => {
    const server = await open('server: {}\n', { 'a.txt': 'a note' });
    const client = clientOf(server);
    const read = (path: string) => ({ action: 'file.read@1', labels: ['far'], with: { path }, onError: 'ignore' });
    const nodes = { token: read('.nebula/token'), config: read('nebula.config.yaml'), note: read('a.txt') };
    const definition = { id: 'far', config: { capabilities: { files: { read: ['*'] } } }, nodes };
    await client.call('registerWorkflow', { body: { definition } });
    const worker = startNebula(['worker', '--labels', 'far', '--server', server.url], { cwd: server.cwd });
    await worker.until('waits for work');
    const { executionId } = await client.call('startExecution', {
      body: { workflowId: 'far' },
      query: { wait: '20s' },
    });
    const { nodes: ran } = await client.call('getExecution', { params: { executionId } });
    expect(ran).toMatchObject({
      token: { error: { code: 'CAPABILITY_DENIED' } },
      config: { error: { code: 'CAPABILITY_DENIED' } },
      note: { output: { content: 'a note' } },
    });
    worker.child.kill('SIGTERM');
    await worker.ended;
  });

  test('[SRV-347] maxActiveRuns rejects further starts', async () => {
    const client = clientOf(await open('maxActiveRuns: 1\n'));
    const definition = { id: 'nap', nodes: { a: { action: 'core.sleep@1', with: { duration: '30s' } } } };
    await client.call('registerWorkflow', { body: { definition } });
    const start = () => client.call('startExecution', { body: { workflowId: 'nap' } });
    await start();
    await expect(start()).rejects.toMatchObject({ code: 'BUSY' });
  });

  test('[SRV-348] announced actions of workers are known on the folder', async () => {
    const server = await open('server: {}\n');
    const client = clientOf(server);
    await client.call('registerWorker', { body: { workerId: 'w', actions: [{ id: 'far.shout' }] } });
    await client.call('registerWorkflow', {
      body: { definition: { id: 'far', nodes: { a: { action: 'far.shout@1' } } } },
    });
    const { executionId } = await client.call('startExecution', { body: { workflowId: 'far' } });
    const { cwd } = server;
    await server.close();
    served = undefined;
    const shown = await say(cwd, ['executions', 'show', executionId, '--json']);
    expect([shown.code, JSON.parse(shown.out)]).toEqual([
      0,
      expect.objectContaining({ executionId, status: 'running' }),
    ]);
  });
});

/** Hands out a secret, and later fails with it. */
const LEAKING = {
  'nebula.config.ts': `
    import { defineAction, defineConfig } from '@nebula/sdk';
    let secret = '';
    const leak = defineAction({ id: 'my.leak', version: '1', effect: 'pure', run: async (ctx) => {
      secret = await ctx.credential('key');
      return 1;
    } });
    export default defineConfig({ actions: [leak], drivers: { secrets: () => ({
      get: async () => 'sk_live_4eC39HqLyj',
      list: async () => { throw new Error('cannot open with ' + secret); },
    }) } });
  `,
  'workflows/leak.yaml': 'id: leak\nnodes: { a: { action: my.leak@1, credentials: { key: stripe } } }\n',
};

async function leak(cwd: string): Promise<void> {
  const { url } = JSON.parse(readFileSync(path.join(cwd, '.nebula/server.json'), 'utf8')) as { url: string };
  const client = createClient({ url, token: readFileSync(path.join(cwd, '.nebula/token'), 'utf8').trim(), retries: 0 });
  const definition = { id: 'leak', nodes: { a: { action: 'my.leak@1', credentials: { key: 'stripe' } } } };
  await client.call('registerWorkflow', { body: { definition } });
  const run = client.call('startExecution', { body: { workflowId: 'leak' }, query: { wait: '20s' } });
  expect(await run).toMatchObject({ status: 'completed' });
  await expect(client.call('listSecrets')).rejects.toMatchObject({ status: 500 });
}

describe('the output of a server', { timeout: 60_000 }, () => {
  test('[SRV-346, CLI-270] has no secret that was handed out, and every trouble once', async () => {
    const cwd = projectFolder(LEAKING);
    const server = startNebula(['serve', '--port', '0', '--json'], { cwd });
    await server.until('"server.started"');
    await leak(cwd);
    server.child.kill('SIGTERM');
    const { stdout, stderr } = await server.ended;
    const refusals = stdout.split('\n').filter((line) => line.includes('cannot open with'));
    expect(refusals.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        event: 'trouble',
        level: 'error',
        what: 'a request failed',
        code: 'INTERNAL',
        message: 'cannot open with [redacted]',
        path: '/api/v1/secrets',
        stack: expect.stringContaining('nebula.config.ts'),
      }),
    ]);
    expect(stdout + stderr).not.toContain('sk_live');
  });

  test('[SRV-346] nor has its log', async () => {
    served = await Served.open(LEAKING);
    await leak(served.cwd);
    expect(served.troubles).toEqual([expect.stringContaining('cannot open with [redacted]')]);
    expect(served.troubles.join('')).not.toContain('sk_live');
  });
});
