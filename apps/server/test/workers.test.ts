/** Remote workers, over HTTP. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { ApiError } from '@nebula/client';
import type { Action, Json } from '@nebula/core';
import { ActionError, defineAction } from '@nebula/sdk';
import { createWorker, type Worker, type WorkerOptions } from '@nebula/worker';
import { afterEach, describe, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from './support/boot.ts';
import { hasPython } from './support/python.ts';
import { addProject } from './support/users.ts';

const TEXT = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } } as const;
const SHOUT = { id: 'text.shout', version: '1', effect: 'pure', input: TEXT, output: TEXT } as const;

const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function booted(options: Parameters<typeof boot>[0] = {}): Promise<Booted> {
  const server = await boot(options);
  closing.push(() => server.close());
  return server;
}

async function announce({ client }: Booted, workerId = 'w1', more: Record<string, unknown> = {}): Promise<void> {
  await client.call('registerWorker', { body: { workerId, labels: ['far'], actions: [SHOUT], ...more } });
}

async function begin({ client }: Booted, nodes: Json, input: Json = {}): Promise<string> {
  const definition = { id: 'shouting', nodes } as unknown as Record<string, unknown>;
  await client.call('registerWorkflow', { body: { definition } });
  const { executionId } = await client.start('shouting', { input });
  return executionId;
}

const claim = async ({ client }: Booted, workerId = 'w1', body = {}) =>
  (await client.call('claimWork', { params: { workerId }, body: { wait: '2s', ...body } })).work;

const shout = (more: Record<string, Json> = {}): Json => ({ action: 'text.shout@1', with: { text: 'hey' }, ...more });

it('[SRV-644] a worker of another release works with the accepted actions, and reports the others', async () => {
  const server = await booted();
  const shouting = defineAction({ ...SHOUT, run: (_ctx, { text }) => ({ text: `${text}!` }) });
  const newer: Action = { id: 'http.request', version: '1.99', effect: 'pure', run: () => 'taken over' };
  const refused: unknown[] = [];
  const worker = createWorker({
    server: server.server.url,
    token: TOKEN,
    actions: [newer, shouting as Action],
    labels: ['far'],
    onEvent: (event) => event.type === 'refused' && refused.push(event.action),
  });
  const running = worker.run();
  closing.push(async () => {
    await worker.stop();
    await running;
  });
  await expect.poll(() => refused, { timeout: 20_000 }).toEqual(['http.request@1.99']);
  const executionId = await begin(server, { a: shout({ labels: ['far'] }) });
  const result = await server.client.call('getResult', { params: { executionId }, query: { wait: '10s' } });
  expect(result.status).toBe('completed');
});

describe('the protocol', () => {
  it('[WRK-1] announce, claim, extend, log, complete', async () => {
    const server = await booted();
    const { client } = server;
    await announce(server);
    expect(await client.call('getAction', { params: { actionId: 'text.shout' } })).toMatchObject({ runs: 'worker' });
    const executionId = await begin(server, { a: shout({ labels: ['far'] }) });
    const [work] = await claim(server);
    if (work === undefined) throw new Error('there was no work');
    expect(work).toMatchObject({ action: 'text.shout@1', input: { text: 'hey' }, executionId, node: 'a', attempt: 1 });
    expect(await client.call('listWorkers')).toMatchObject({
      items: [{ workerId: 'w1', status: 'live', running: 1, actions: ['text.shout@1'] }],
    });
    const params = { leaseId: work.leaseId };
    expect(await client.call('extendLease', { params, body: { progress: 0.5, lease: '1m' } })).toMatchObject({
      cancel: null,
    });
    await client.call('logLease', { params, body: { lines: [{ message: 'loud', at: '2026-01-01T00:00:00.000Z' }] } });
    await client.call('completeLease', { params, body: { output: { text: 'HEY' } } });
    expect(await client.run(executionId).result()).toMatchObject({ output: { a: { text: 'HEY' } } });
    const { items } = await client.call('listLogs', { params: { executionId }, query: {} });
    expect(items).toMatchObject([{ message: 'loud', node: 'a', at: '2026-01-01T00:00:00.000Z' }]);
  });

  it('[SRV-341] work says where in the trace it stands', async () => {
    const server = await booted();
    const { client } = server;
    await announce(server);
    await client.call('registerWorkflow', { body: { definition: { id: 'traced', nodes: { a: shout() } } as never } });
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', traceparent: CALLER };
    const url = `${server.server.url}/api/v1/executions`;
    await fetch(url, { method: 'POST', headers, body: '{"workflowId":"traced"}' });
    expect((await claim(server))[0]?.traceparent).toBe(CALLER);
    await begin(server, { a: shout() });
    expect((await claim(server))[0]?.traceparent).toBeUndefined();
  });

  it('[WRK-2] every request with a stale lease is refused with 409', async () => {
    const server = await booted();
    const { client } = server;
    await announce(server);
    await begin(server, { a: shout() });
    const [work] = await claim(server);
    const params = { leaseId: work?.leaseId ?? '' };
    await client.call('completeLease', { params, body: { output: { text: 'x' } } });
    const message = 'x';
    const calls = [
      client.call('completeLease', { params, body: {} }),
      client.call('failLease', { params, body: { message } }),
      client.call('extendLease', { params, body: {} }),
      client.call('logLease', { params, body: { lines: [{ message }] } }),
      client.call('revealCredential', { params: { ...params, alias: 'api' } }),
      client.call('completeLease', { params: { leaseId: 'nonsense' }, body: {} }),
      client.call('completeLease', { params: { leaseId: 'lse_x.exe_gone.1.a' }, body: {} }),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ status: 409, code: 'STALE_LEASE' });
  });

  it('[WRK-3] a claim waits for tasks, and hands none to a worker that has disconnected', async () => {
    const server = await booted();
    const { client } = server;
    await announce(server);
    const waiting = claim(server, 'w1', { wait: '30s' });
    const gone = new AbortController();
    const left = client.call('claimWork', {
      params: { workerId: 'w1' },
      body: { wait: '30s' },
      waitMs: 30_000,
      signal: gone.signal,
    });
    const executionId = await begin(server, { a: shout() });
    const [work] = await waiting;
    gone.abort();
    await expect(left).rejects.toThrow();
    const params = { leaseId: work?.leaseId ?? '' };
    await client.call('failLease', { params, body: { message: 'not me', outcome: 'returned' } });
    const [again] = await claim(server);
    expect(again).toMatchObject({ executionId, attempt: 2 });
    expect(await claim(server, 'w1', { wait: '0s' })).toEqual([]);
  });

  it('[WRK-4] labels and actions select the worker; an unknown worker gets nothing', async () => {
    const server = await booted();
    await announce(server);
    await announce(server, 'w2', { labels: ['far', 'gpu'] });
    await announce(server, 'w3', { actions: [{ id: 'other' }] });
    await begin(server, { a: shout({ labels: ['gpu'] }) });
    const now = { wait: '0s' };
    expect(await claim(server, 'w1', now)).toEqual([]);
    expect(await claim(server, 'w3', now)).toEqual([]);
    expect(await claim(server, 'w2', { ...now, actions: ['other'] })).toEqual([]);
    await expect(claim(server, 'w9', now)).rejects.toMatchObject({ status: 404, code: 'UNKNOWN_WORKER' });
    expect(await claim(server, 'w2', { ...now, actions: ['text.shout'] })).toHaveLength(1);
    await server.client.call('deleteWorker', { params: { workerId: 'w2' } });
    await expect(claim(server, 'w2', now)).rejects.toMatchObject({ status: 404 });
  });

  it('[SRV-781] a worker gets work of its project only, even if its principal may work in others', async () => {
    const server = await booted();
    const { client } = server;
    await addProject(server, 'sales');
    await announce(server);
    await announce(server, 'w2', { project: 'sales' });
    const definition = { id: 'selling', nodes: { a: shout() } } as unknown as Record<string, unknown>;
    await client.call('registerWorkflow', { body: { definition, project: 'sales' } });
    const { executionId } = await client.start('selling');
    expect(await claim(server, 'w1', { wait: '0s' })).toEqual([]);
    expect(await claim(server, 'w2')).toMatchObject([{ executionId }]);
  });

  it('[WRK-5] a cancelled attempt learns the reason', async () => {
    const server = await booted();
    const { client } = server;
    await announce(server);
    const executionId = await begin(server, { a: shout() });
    const [work] = await claim(server);
    await client.call('cancelExecution', { params: { executionId }, body: { reason: 'not wanted' } });
    const params = { leaseId: work?.leaseId ?? '' };
    await expect.poll(async () => (await client.call('extendLease', { params, body: {} })).cancel).toBe('not wanted');
  });

  it('[WRK-6] a secret is revealed for an alias of the node, and is redacted in all reports', async () => {
    const server = await booted();
    const { client, parts } = server;
    await parts.secrets.set('stripe', 'sk_live_4eC39HqLyj');
    await announce(server);
    const executionId = await begin(server, { a: shout({ credentials: { api: 'stripe' } }) });
    const [work] = await claim(server);
    expect(work?.credentials).toEqual(['api']);
    const params = { leaseId: work?.leaseId ?? '' };
    const reveal = (alias: string) => client.call('revealCredential', { params: { ...params, alias } });
    expect(await reveal('api')).toEqual({ value: 'sk_live_4eC39HqLyj' });
    await expect(reveal('stripe')).rejects.toMatchObject({ status: 422, code: 'CREDENTIAL_NOT_NAMED' });
    await client.call('completeLease', { params, body: { output: { text: 'sk_live_4eC39HqLyj' } } });
    expect(await client.run(executionId).result()).toMatchObject({ output: { a: { text: '[redacted]' } } });
  });

  it('[WRK-7] an invalid report is refused', async () => {
    const server = await booted();
    const bad = { id: 'bad', input: { type: 'no such type' } };
    await expect(announce(server, 'w1', { actions: [bad] })).rejects.toMatchObject({ code: 'ACTION_SCHEMA_INVALID' });
    await announce(server);
    await expect(claim(server, 'w1', { lease: 'soon' })).rejects.toMatchObject({ status: 400, code: 'BODY_INVALID' });
  });
});

/** Ready, and stopped with the test. */
async function working(
  server: Booted,
  options: Partial<WorkerOptions> & Pick<WorkerOptions, 'actions'>,
): Promise<Worker> {
  const ready = Promise.withResolvers<void>();
  const worker = createWorker({
    server: server.server.url,
    token: TOKEN,
    ...options,
    onEvent: (event) => {
      if (event.type === 'ready') ready.resolve();
      options.onEvent?.(event);
    },
  });
  worker.run().catch(ready.reject);
  closing.push(() => worker.stop({ graceMs: 0 }));
  await ready.promise;
  return worker;
}

const remoteAction = (id: string, run: Action['run'], effect: 'pure' | 'once' = 'pure'): Action =>
  defineAction({ id, version: '1', effect, run }) as Action;

describe('@nebula/worker', () => {
  it('[SRV-341] requests of its actions continue the trace', async () => {
    const server = await booted();
    const heard: unknown[] = [];
    const other = createServer((request, response) => {
      heard.push(request.headers['traceparent']);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    closing.push(async () => other.close());
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    const network = ['127.0.0.1'];
    const run: Action['run'] = async (ctx) => (await ctx.fetch(url)).status;
    await working(server, {
      actions: [
        defineAction({ id: 'far.fetch', version: '1', effect: 'pure', capabilities: ['network'], run }) as Action,
      ],
    });
    const definition = { id: 'far', config: { capabilities: { network } }, nodes: { a: { action: 'far.fetch@1' } } };
    await server.client.call('registerWorkflow', { body: { definition } });
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', traceparent: CALLER };
    const starting = `${server.server.url}/api/v1/executions?wait=10s`;
    const answer = await fetch(starting, { method: 'POST', headers, body: '{"workflowId":"far"}' });
    expect(await answer.json()).toMatchObject({ status: 'completed', output: { a: 200 } });
    expect(heard).toEqual([CALLER]);
  });

  it('[WRK-10] runs actions of its own process', async () => {
    const server = await booted();
    const shouting = remoteAction('far.shout', async (ctx, input) => {
      ctx.log.info('shouting');
      ctx.progress(0.5, 'half');
      return { text: (input as { text: string }).text.toUpperCase(), key: ctx.idempotencyKey };
    });
    const failing = remoteAction('far.fail', () => {
      throw new ActionError('no', { code: 'NO_WAY', details: { why: 'so' } });
    });
    await working(server, { actions: [shouting, failing] });
    const executionId = await begin(server, {
      a: { action: 'far.shout', with: { text: 'hey' } },
      b: { action: 'far.fail', needs: ['a'] },
    });
    const result = await server.client.run(executionId).result();
    expect(result).toMatchObject({ status: 'failed', error: { code: 'NO_WAY', node: 'b', details: { why: 'so' } } });
    const { items } = await server.client.call('listLogs', { params: { executionId }, query: {} });
    expect(items[0]).toMatchObject({ message: 'shouting', node: 'a' });
  });

  it('[WRK-11] a hundred runs, two workers, everything once', async () => {
    const server = await booted();
    const ran: string[] = [];
    const actions = [
      remoteAction('far.count', (ctx) => {
        ran.push(`${ctx.executionId}/${ctx.node}`);
        return null;
      }),
    ];
    await working(server, { actions, concurrency: 3 });
    await working(server, { actions, concurrency: 7 });
    const node = { action: 'far.count@1' };
    await begin(server, { a: node, b: { ...node, needs: ['a'] } });
    const ids = await Promise.all(
      Array.from({ length: 99 }, async () => (await server.client.start('shouting')).executionId),
    );
    for (const id of ids) expect(await server.client.run(id).result()).toMatchObject({ status: 'completed' });
    expect(new Set(ran).size).toBe(ran.length);
    expect(ran).toHaveLength(200);
  });

  it('[WRK-12] cancelling the run aborts the action', async () => {
    const server = await booted();
    const aborted = Promise.withResolvers<string>();
    const begun = Promise.withResolvers<void>();
    const hanging = remoteAction('far.hang', (ctx) => {
      begun.resolve();
      return new Promise((_, reject) => {
        ctx.signal.addEventListener('abort', () => {
          aborted.resolve(String((ctx.signal.reason as Error).message));
          reject(ctx.signal.reason);
        });
      });
    });
    await working(server, { actions: [hanging], leaseMs: 1_000 });
    const executionId = await begin(server, { a: { action: 'far.hang' } });
    await begun.promise;
    await server.client.call('cancelExecution', { params: { executionId }, body: { reason: 'enough' } });
    expect(await aborted.promise).toBe('enough');
    expect(await server.client.run(executionId).result()).toMatchObject({ status: 'cancelled' });
  });

  it('[WRK-13] a stopping worker hands back repeatable attempts, and finishes the others', async () => {
    const server = await booted();
    const seen: string[] = [];
    const stopping = Promise.withResolvers<void>();
    const act = (id: string, effect: 'pure' | 'once') =>
      remoteAction(
        id,
        (ctx) =>
          new Promise((resolve, reject) => {
            seen.push(ctx.node);
            if (seen.filter((node) => node === ctx.node).length > 1) return resolve('second');
            ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
            if (effect === 'once') void stopping.promise.then(() => resolve('first'));
          }),
        effect,
      );
    const actions = [act('far.pure', 'pure'), act('far.once', 'once')];
    const first = await working(server, { actions });
    const executionId = await begin(server, { a: { action: 'far.pure' }, b: { action: 'far.once' } });
    await expect.poll(() => seen.length).toBe(2);
    const stopped = first.stop({ graceMs: 60_000 });
    stopping.resolve();
    await stopped;
    await working(server, { actions });
    expect(await server.client.run(executionId).result()).toMatchObject({ output: { a: 'second', b: 'first' } });
    expect(seen.filter((node) => node === 'b')).toHaveLength(1);
  });

  it('[WRK-14] a server that does not know the worker is distinguished from one that does not know its token', async () => {
    const server = await booted();
    const worker = await working(server, { actions: [remoteAction('far.x', () => 1)] });
    await server.client.call('deleteWorker', { params: { workerId: worker.workerId } });
    const executionId = await begin(server, { a: { action: 'far.x' } });
    expect(await server.client.run(executionId).result()).toMatchObject({ status: 'completed' });
    const stranger = createWorker({
      server: server.server.url,
      token: 'wrong',
      actions: [remoteAction('far.x', () => 1)],
    });
    await expect(stranger.run()).rejects.toThrow(ApiError);
  });
});

describe('a worker in Python', () => {
  // Needs python3 on the machine.
  it.skipIf(!hasPython())('[WRK-20] runs the workflow of its example', async () => {
    const server = await booted();
    const folder = path.join(import.meta.dirname, '../../../examples/workers/python');
    const child = spawn('python3', [path.join(folder, 'text_worker.py')], {
      env: { ...process.env, NEBULA_SERVER: server.server.url, NEBULA_TOKEN: TOKEN },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    closing.push(async () => {
      child.kill('SIGKILL');
      await once(child, 'close');
    });
    await expect.poll(async () => (await server.client.call('listWorkers')).items.length, { timeout: 10_000 }).toBe(1);
    const source = await readFile(path.join(folder, 'words.yaml'), 'utf8');
    await server.client.call('registerWorkflow', { body: { source } });
    const run = await server.client.start('words', { input: { text: 'to be or not' } });
    expect(await run.result()).toMatchObject({ status: 'completed', output: { text: 'TO BE OR NOT', words: 4 } });
    const empty = await server.client.start('words', { input: { text: '' } });
    expect(await empty.result()).toMatchObject({ status: 'failed', error: { code: 'NO_WORDS' } });
  });
});
