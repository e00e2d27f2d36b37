import type { Action } from '@nebula/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Booted, boot } from './support/boot.ts';

let booted: Booted;
let urls: string[];
const tell: Action = {
  id: 'tell',
  version: '1',
  effect: 'idempotent',
  run: async (_, input) => {
    const { to, call } = input as { to: string; call?: boolean };
    urls.push(to);
    return call ? (await post(to, { early: true })).status : null;
  },
};

const post = (url: string, body: unknown, type = 'application/json') =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

beforeEach(async () => {
  urls = [];
  booted = await boot({ actions: [tell] });
  const nodes = {
    send: { action: 'tell@1', with: { to: '{{ $nodes.reply.callbackUrl }}', call: '{{ $input.call }}' } },
    reply: { needs: ['send'], wait: { callback: true } },
  };
  const definition = { id: 'w', nodes, output: '{{ $reply.payload }}' };
  await booted.client.call('registerWorkflow', { body: { definition } });
});
afterEach(() => booted.close());

const start = async (call = false) => {
  const { executionId } = await booted.client.call('startExecution', { body: { workflowId: 'w', input: { call } } });
  await vi.waitFor(() => expect(urls).toHaveLength(1));
  return executionId;
};
const ended = (executionId: string) =>
  booted.client.call('getResult', { params: { executionId }, query: { wait: '10s' } });

it('[SRV-320] an unreadable payload is refused, and the address stays valid', async () => {
  const executionId = await start();
  const url = urls[0] as string;
  for (const raw of ['{"a":', `${'['.repeat(5_000)}${']'.repeat(5_000)}`]) {
    const answer = await post(url, raw);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
  }
  for (const token of ['%00', '.', 'a.b.c', 'x'.repeat(4_000)]) {
    expect((await post(`${booted.server.url}/callbacks/${token}`, {})).status, token).toBe(404);
  }
  expect((await post(url, { at: 'last' })).status).toBe(202);
  expect((await post(`${url}.more`, {})).status).toBe(404);
  expect((await ended(executionId)).output).toEqual({ at: 'last' });
  expect(booted.troubles).toEqual([]);
});

it('[SRV-320] an address takes one call, and no other address does', async () => {
  const executionId = await start();
  const url = urls[0] as string;
  const last = url.at(-1) === 'A' ? 'B' : 'A';
  expect((await post(`${url.slice(0, -1)}${last}`, {})).status).toBe(404);
  expect((await post(`${booted.server.url}/callbacks/x.y`, {})).status).toBe(404);
  const answers = await Promise.all([1, 2, 3].map((n) => post(url, { n })));
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
  const winner = answers.findIndex(({ status }) => status === 202) + 1;
  expect(await ended(executionId)).toMatchObject({ status: 'completed', output: { n: winner } });
  const late = await post(url, {});
  expect([late.status, await late.json()]).toMatchObject([409, { code: 'CALLBACK_USED' }]);
});

it('[SRV-320] a call that comes before the node waits counts', async () => {
  const executionId = await start(true);
  expect(await ended(executionId)).toMatchObject({ status: 'completed', output: { early: true } });
});

it('[SRV-320] forms and texts are accepted unchanged', async () => {
  const executionId = await start();
  await post(urls[0] as string, 'a=1&a=2', 'application/x-www-form-urlencoded');
  expect(await ended(executionId)).toMatchObject({ output: { a: ['1', '2'] } });
});

it('[SRV-321] a call that was recorded but not passed on is passed on with the next call', async () => {
  const executionId = await start();
  const url = urls[0] as string;
  const { records, digest } = booted.parts;
  const id = digest(url.slice(url.lastIndexOf('/') + 1));
  await records.commit([{ kind: 'callback', id, body: '{"payload":"recorded"}' }]);
  expect((await post(url, 'again', 'text/plain')).status).toBe(409);
  expect(await ended(executionId)).toMatchObject({ output: 'recorded' });
});

it('[SRV-322] a node that begins as something new has another address', async () => {
  const executionId = await start();
  await post(urls[0] as string, 1);
  await ended(executionId);
  await booted.client.call('replayExecution', { params: { executionId }, body: { node: 'send' } });
  await vi.waitFor(() => expect(urls).toHaveLength(2));
  expect((await post(urls[0] as string, 2)).status).toBe(409);
  expect((await post(urls[1] as string, 3)).status).toBe(202);
  expect(await ended(executionId)).toMatchObject({ output: 3 });
});
