/** Network access of the host API against servers that want more than the action was granted. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import type { ActionContext, Json } from '@nebula/core';
import { errorOf, makeAction, makeInvocation, type OpenSandbox } from '@nebula/ports/conformance';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createInProcessSandbox } from '../../src/sandbox-inprocess/index.ts';
import { openSandbox } from './opened.ts';

/** Any host, and this machine: a wildcard alone does not reach it. */
const HERE = ['*', '127.0.0.0/8', '[::1]', 'localhost'];

interface Seen {
  readonly method: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let port: number;
let handle: (request: IncomingMessage, response: ServerResponse) => void;
let seen: Seen[];
let host: OpenSandbox;

beforeAll(async () => {
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ method: request.method, headers: request.headers, body });
    handle(request, response);
  };
  server = createServer((request, response) => void receive(request, response));
  server.listen(0);
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  seen = [];
  handle = (_, response) => response.end('ok');
  host = await openSandbox();
});
afterEach(() => host.close());

const redirect = (status: number, location: string) => (request: IncomingMessage, response: ServerResponse) => {
  if (request.url === '/start') response.writeHead(status, { location }).end('moved');
  else response.end('arrived');
};

async function fetching(
  init: RequestInit | undefined,
  granted: readonly string[],
  url = `http://127.0.0.1:${port}/start`,
) {
  const body = async (ctx: ActionContext): Promise<Json> => (await ctx.fetch(url, init)).text();
  return host.sandbox.run(
    makeInvocation(makeAction(body, { capabilities: ['network'] }), { granted: { network: granted } }),
  );
}

test('[SBX-23] a redirect to a host that is not granted is not followed, and nothing is sent to it', async () => {
  handle = redirect(307, `http://localhost:${port}/elsewhere`);
  const init = { method: 'POST', body: 'secret' };
  expect(errorOf(await fetching(init, ['127.0.0.1'])).code).toBe('CAPABILITY_DENIED');
  expect(seen).toHaveLength(1);
});

test.each(['file:///etc/passwd', 'data:text/plain,x', 'ftp://127.0.0.1/', 'javascript:1'])(
  '[SBX-23] a redirect to %s is not followed',
  async (location) => {
    handle = redirect(302, location);
    expect(errorOf(await fetching({}, HERE)).code).toBe('CAPABILITY_DENIED');
  },
);

test('[SBX-23] a redirect to another port is not followed when a port is granted', async () => {
  handle = redirect(302, 'http://127.0.0.1:1/');
  expect(errorOf(await fetching({}, [`127.0.0.1:${port}`]))).toMatchObject({
    code: 'CAPABILITY_DENIED',
    details: { wanted: '127.0.0.1:1' },
  });
});

test('[SBX-23] credentials do not follow to another origin', async () => {
  handle = redirect(307, `http://localhost:${port}/elsewhere`);
  const headers = { authorization: 'Bearer x', cookie: 'a=b', 'x-other': 'kept' };
  expect(await fetching({ method: 'PUT', headers, body: 'b' }, HERE)).toMatchObject({ output: 'arrived' });
  expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer x' });
  expect(seen[1]).toMatchObject({ method: 'PUT', body: 'b', headers: { 'x-other': 'kept' } });
  expect(seen[1]?.headers.authorization).toBeUndefined();
  expect(seen[1]?.headers.cookie).toBeUndefined();
});

test.each([
  [301, 'POST', 'GET', ''],
  [302, 'POST', 'GET', ''],
  [302, 'PUT', 'PUT', 'body'],
  [303, 'PUT', 'GET', ''],
  [307, 'POST', 'POST', 'body'],
  [308, 'POST', 'POST', 'body'],
])('[SBX-23] %i turns %s into %s', async (status, method, next, body) => {
  handle = redirect(status, '/next');
  const headers = { 'content-type': 'text/plain', authorization: 'kept' };
  expect(await fetching({ method, body: 'body', headers }, ['127.0.0.1'])).toMatchObject({ output: 'arrived' });
  expect(seen[1]).toMatchObject({ method: next, body, headers: { authorization: 'kept' } });
  expect(seen[1]?.headers['content-type']).toBe(body === '' ? undefined : 'text/plain');
});

test('[SBX-23] redirects end at the limit, and as the request says', async () => {
  handle = (_, response) => response.writeHead(302, { location: '/start' }).end();
  expect(errorOf(await fetching({}, HERE)).code).toBe('TOO_MANY_REDIRECTS');
  expect(seen).toHaveLength(21);
  handle = redirect(302, '/next');
  expect(await fetching({ redirect: 'manual' }, HERE)).toMatchObject({ output: 'moved' });
  expect(errorOf(await fetching({ redirect: 'error' }, HERE)).code).toBe('FETCH_FAILED');
});

test('[SBX-22] a Host header does not select another site, whatever fetch the host provides', async () => {
  const init = { headers: { host: 'internal.example', 'x-kept': 'yes' } };
  expect(await fetching(init, ['127.0.0.1'])).toMatchObject({ status: 'completed' });
  expect(seen[0]?.headers.host).toBe(`127.0.0.1:${port}`);

  const asked: [string, RequestInit | undefined][] = [];
  const own = createInProcessSandbox({
    projectDir: host.projectDir,
    fetch: async (target, request) => {
      asked.push([String(target), request]);
      return new Response('own');
    },
  });
  const body = async (ctx: ActionContext) => (await ctx.fetch('http://127.0.0.1/', init)).text();
  const action = makeAction(body, { capabilities: ['network'] });
  expect(await own.run(makeInvocation(action, { granted: { network: HERE } }))).toMatchObject({ output: 'own' });
  expect(asked[0]?.[0]).toBe('http://127.0.0.1/');
  expect([...new Headers(asked[0]?.[1]?.headers)]).toEqual([['x-kept', 'yes']]);
});

test('[SBX-38] the place of the attempt in a trace is sent along, unless the action sends another', async () => {
  const [own, other] = ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '00-1-2-00'];
  for (const init of [undefined, { headers: { Traceparent: other } }]) {
    const body = async (ctx: ActionContext) => (await ctx.fetch(`http://127.0.0.1:${port}/`, init)).text();
    const action = makeAction(body, { capabilities: ['network'] });
    await host.sandbox.run(makeInvocation(action, { granted: { network: HERE }, traceparent: own }));
  }
  await fetching(undefined, ['127.0.0.1']);
  expect(seen.map(({ headers }) => headers['traceparent'])).toEqual([own, other, undefined]);
});

test('[SBX-22] a dispatcher cannot lead the request elsewhere', async () => {
  let used = false;
  const dispatcher = { dispatch: () => (used = true) };
  expect(await fetching({ dispatcher } as unknown as RequestInit, ['127.0.0.1'])).toMatchObject({ output: 'ok' });
  expect(used).toBe(false);
});

test('[SBX-14] an abort ends a response that does not end', async () => {
  const stopper = new AbortController();
  handle = (_, response) => void response.write('first', () => stopper.abort());
  const body = async (ctx: ActionContext) => (await ctx.fetch(`http://127.0.0.1:${port}/`)).text();
  const granted = { network: HERE };
  const pending = host.sandbox.run(
    makeInvocation(makeAction(body, { capabilities: ['network'] }), { granted, signal: stopper.signal }),
  );
  expect(await pending).toMatchObject({ status: 'aborted', error: { code: 'ABORTED' } });
});

test('[SBX-13] a closed port is a SYSTEM error', async () => {
  const empty = createServer().listen(0, '127.0.0.1');
  await once(empty, 'listening');
  const { port: free } = empty.address() as AddressInfo;
  empty.close();
  await once(empty, 'close');
  expect(errorOf(await fetching({}, HERE, `http://127.0.0.1:${free}/`))).toMatchObject({
    code: 'ECONNREFUSED',
    kind: 'SYSTEM',
  });
});

test('[SBX-13] a connection that is cut off may have done its work', async () => {
  handle = (request) => void request.socket.destroy();
  expect(errorOf(await fetching({ method: 'POST', body: 'x' }, HERE))).toMatchObject({
    kind: 'SYSTEM',
    details: { outcome: 'unknown' },
  });
});

test('[SBX-41] a wildcard does not reach this machine, by address or by name', async () => {
  for (const name of ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '127.1', '2130706433', '[::ffff:7f00:1]']) {
    const error = errorOf(await fetching({}, ['*'], `http://${name}:${port}/start`));
    expect(error).toMatchObject({ code: 'CAPABILITY_DENIED', kind: 'USER' });
  }
  expect(seen).toEqual([]);
});

/** Containers and most machines list their own name as a local address. */
const OWN_NAME = hostname();
const isLocalName = await lookup(OWN_NAME).then(
  ({ address }) => ['127.0.0.1', '127.0.1.1'].includes(address),
  () => false,
);

// Without such a name there is nothing here that leads to a private address.
test.skipIf(!isLocalName)('[SBX-41] a name that is granted does not reach this machine', async () => {
  const url = `http://${OWN_NAME}:${port}/start`;
  for (const granted of [['*'], [OWN_NAME]]) {
    expect(errorOf(await fetching({}, granted, url))).toMatchObject({
      code: 'CAPABILITY_DENIED',
      message: expect.stringMatching(/resolves to 127\.0\.[01]\.1, which is not a public address.*127\.0/),
    });
  }
  expect(seen).toEqual([]);
  expect(await fetching({}, [OWN_NAME, '127.0.0.0/8'], url)).toMatchObject({ output: 'ok' });
  expect(errorOf(await fetching({}, [OWN_NAME, '10.0.0.0/99'], url))).toMatchObject({ code: 'CAPABILITY_INVALID' });
  // The connection that another attempt may use is not lent to one that may not.
  expect(errorOf(await fetching({}, ['*'], url)).code).toBe('CAPABILITY_DENIED');
});
