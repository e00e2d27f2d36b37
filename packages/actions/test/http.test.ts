import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip, gzipSync } from 'node:zlib';
import type { Effect, Json } from '@nebula/core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { httpRequest } from '../src/index.ts';
import { openProject, type Project } from './running.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let project: Project;
let server: Server;
let origin: string;
let seen: Seen[];
let handle: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ method: request.method, url: request.url, headers: request.headers, body });
    handle(request, response);
  };
  server = createServer((request, response) => void receive(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  seen = [];
  handle = answer(200, 'ok', { 'content-type': 'text/plain' });
  project = await openProject();
});
afterEach(() => project.close());

const answer =
  (status: number, body: string | Uint8Array, headers: Record<string, string | string[]> = {}) =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, headers).end(body);
const output = (input: Record<string, Json>) =>
  project.output(httpRequest, { url: `${origin}/x`, ...input }) as Promise<Record<string, Json>>;
const error = (input: Record<string, Json>) => project.error(httpRequest, { url: `${origin}/x`, ...input });

test('[ACT-9] a request is sent as it is written', async () => {
  const query = { a: 'ä&b', n: 3, on: true, none: null, list: ['x', 'y'] };
  await output({
    method: 'POST',
    url: `${origin}/p?q=1`,
    query,
    headers: { 'X-N': 7, 'x-none': null },
    body: { n: [1] },
  });
  expect(seen[0]).toMatchObject({
    method: 'POST',
    url: '/p?q=1&a=%C3%A4%26b&n=3&on=true&list=x&list=y',
    body: '{"n":[1]}',
    headers: { 'x-n': '7', 'content-type': 'application/json' },
  });
  expect(seen[0]?.headers['x-none']).toBeUndefined();
  await output({ method: 'PUT', body: '<a/>', headers: { 'Content-Type': 'application/xml' } });
  expect(seen[1]).toMatchObject({ body: '<a/>', headers: { 'content-type': 'application/xml' } });
  await output({ method: 'PUT', body: 'text' });
  expect(seen[2]?.headers['content-type']).toMatch(/^text\/plain/);
  await output({ method: 'PATCH', body: [1], headers: { 'content-type': 'application/merge-patch+json' } });
  expect(seen[3]).toMatchObject({ body: '[1]', headers: { 'content-type': 'application/merge-patch+json' } });
});

test('[ACT-9] the output is the whole response', async () => {
  handle = answer(201, '{"id":1}', { 'content-type': 'application/json', 'X-Id': '7', 'set-cookie': ['a=1', 'b=2'] });
  expect(await output({})).toEqual({
    status: 201,
    statusText: 'Created',
    headers: expect.objectContaining({ 'x-id': '7', 'set-cookie': ['a=1', 'b=2'] }),
    body: { id: 1 },
    durationMs: expect.any(Number),
  });
  expect(await output({ method: 'HEAD' })).toMatchObject({ status: 201, body: null });
});

test.each<[string | undefined, string | Uint8Array, string, Json]>([
  ['application/json; charset=utf-8', '{"a":1}', 'auto', { a: 1 }],
  ['application/problem+json', '[1]', 'auto', [1]],
  ['application/json', 'no json', 'auto', 'no json'],
  ['text/html', '<p>', 'auto', '<p>'],
  ['text/plain; charset=iso-8859-1', new Uint8Array([0xe4]), 'auto', 'ä'],
  ['text/plain; charset=nonsense', 'x', 'auto', 'x'],
  ['image/png', new Uint8Array([0, 255]), 'auto', 'AP8='],
  [undefined, 'plain', 'auto', 'plain'],
  [undefined, new Uint8Array([0, 255]), 'auto', 'AP8='],
  ['text/plain', '', 'auto', null],
  ['text/plain', '', 'text', ''],
  ['text/plain', '{"a":1}', 'json', { a: 1 }],
  ['application/json', '{"a":1}', 'text', '{"a":1}'],
  ['application/json', '1', 'base64', 'MQ=='],
])('[ACT-10] %s %j read as %s', async (type, body, parse, expected) => {
  handle = answer(200, body, type === undefined ? {} : { 'content-type': type });
  expect((await output({ parse })).body).toEqual(expected);
});

test('[ACT-10] a response that must be JSON and is not fails', async () => {
  handle = answer(200, '<html>', { 'content-type': 'application/json' });
  expect(await error({ parse: 'json' })).toMatchObject({ code: 'RESPONSE_NOT_JSON', kind: 'USER' });
});

test.each([
  [404, {}, 'HTTP_404', 'USER'],
  [400, {}, 'HTTP_400', 'USER'],
  [429, {}, 'HTTP_429', 'SYSTEM'],
  [500, {}, 'HTTP_500', 'SYSTEM'],
  [503, { method: 'POST' }, 'HTTP_503', 'SYSTEM'],
  [504, {}, 'HTTP_504', 'SYSTEM'],
  [404, { systemStatus: '404,5xx' }, 'HTTP_404', 'SYSTEM'],
  [500, { systemStatus: 'none' }, 'HTTP_500', 'USER'],
  [204, { raiseOnStatus: '200-299' }, 'HTTP_204', 'USER'],
])('[ACT-11] %i with %j is %s, kind %s', async (status, options, code, kind) => {
  handle = answer(status, '');
  expect(await error(options)).toMatchObject({ code, kind });
});

test('[ACT-11] statuses that are no errors, and lists that are none', async () => {
  handle = answer(404, 'none', { 'content-type': 'text/plain' });
  expect(await output({ raiseOnStatus: 'none' })).toMatchObject({ status: 404, body: 'none' });
  expect(await output({ raiseOnStatus: '5xx, 401' })).toMatchObject({ status: 404 });
  expect((await error({ raiseOnStatus: '4xx;5xx' })).code).toBe('INPUT_INVALID');
  expect((await error({ systemStatus: 'all' })).message).toContain('500-599');
});

test('[ACT-11] the details help to continue', async () => {
  handle = answer(503, `busy${'x'.repeat(10_000)}`, { 'retry-after': '7' });
  const { message, details } = await error({ url: `${origin}/orders?token=secret` });
  expect(details).toMatchObject({
    status: 503,
    statusText: 'Service Unavailable',
    retryAfter: '7',
    retryAfterMs: 7_000,
  });
  expect((details as { body: string }).body).toHaveLength(2_000);
  expect(message).toBe(
    `GET ${origin}/orders responded with 503 Service Unavailable; its body begins with: busy${'x'.repeat(196)}`,
  );
  handle = answer(404, '{\n  "error": "no such order"\n}', { 'content-type': 'application/json' });
  expect((await error({})).message).toMatch(/responded with 404 Not Found: \{\n {2}"error": "no such order"\n\}$/);
  handle = answer(500, ' \n ');
  expect((await error({})).message).toMatch(/responded with 500 Internal Server Error$/);
  handle = answer(429, '', { 'retry-after': new Date(project.clock.now() + 60_000).toUTCString() });
  const dated = (await error({})).details as { retryAfterMs: number };
  expect(dated.retryAfterMs).toBeGreaterThan(50_000);
  expect(dated.retryAfterMs).toBeLessThanOrEqual(60_000);
});

test.each<[Record<string, Json>, Effect]>([
  [{}, 'pure'],
  [{ method: 'HEAD' }, 'pure'],
  [{ method: 'OPTIONS' }, 'pure'],
  [{ method: 'PUT' }, 'idempotent'],
  [{ method: 'DELETE' }, 'idempotent'],
  [{ method: 'POST' }, 'once'],
  [{ method: 'PATCH' }, 'once'],
  [{ method: 'POST', idempotencyKey: true }, 'idempotent'],
  [{ method: 'POST', headers: { 'Idempotency-Key': 'k' } }, 'idempotent'],
  [{ method: 'POST', headers: { 'Idempotency-Key': '' } }, 'once'],
  [{ method: 3 }, 'once'],
  [{ method: 'POST', headers: null }, 'once'],
])('[ACT-12] the effect of %j is %s', (input, effect) => {
  expect((httpRequest.effect as (input: Json) => Effect)({ url: origin, ...input })).toBe(effect);
});

test('[ACT-12] the key of the node is sent when asked for, and an own one goes first', async () => {
  await output({ method: 'POST', idempotencyKey: true });
  await output({ method: 'POST', idempotencyKey: true, headers: { 'idempotency-key': 'own' } });
  await output({ method: 'POST' });
  expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['exe_1:node:1', 'own', undefined]);
});

test('[ACT-13] a POST whose answer is lost is not repeated without asking', async () => {
  handle = (request) => void request.socket.destroy();
  const lost = { code: 'HTTP_OUTCOME_UNKNOWN', kind: 'USER', details: { outcome: 'unknown' } };
  expect(await error({ method: 'POST' })).toMatchObject(lost);
  expect((await error({ method: 'POST' })).message).toContain('idempotencyKey: true');
  handle = (_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy());
  };
  expect(await error({ method: 'POST' })).toMatchObject(lost);
  for (const status of [502, 504]) {
    handle = answer(status, '');
    expect(await error({ method: 'POST' })).toMatchObject({ code: `HTTP_${status}`, kind: 'USER' });
    expect((await error({ method: 'POST', idempotencyKey: true })).kind).toBe('SYSTEM');
  }
});

test('[ACT-13] a retryable failure has the kind SYSTEM', async () => {
  handle = (request) => void request.socket.destroy();
  for (const input of [{ method: 'GET' }, { method: 'PUT' }, { method: 'POST', idempotencyKey: true }]) {
    expect((await error(input)).kind).toBe('SYSTEM');
  }
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, 'close');
  expect(await error({ method: 'POST', url: `http://127.0.0.1:${port}/` })).toMatchObject({
    code: 'ECONNREFUSED',
    kind: 'SYSTEM',
  });
  expect(await error({ method: 'POST', url: 'http://no-such-host.invalid/' })).toMatchObject({ kind: 'SYSTEM' });
});

test('[ACT-14] a body is read up to the limit, and not further', async () => {
  handle = answer(200, 'x'.repeat(1_000), { 'content-type': 'text/plain' });
  expect((await output({ maxBytes: 1_000 })).body).toHaveLength(1_000);
  expect(await error({ maxBytes: 999 })).toMatchObject({ code: 'RESPONSE_TOO_LARGE', kind: 'USER' });
  let sent = 0;
  handle = (_, response) => {
    const more = () => {
      while (!response.destroyed && sent < 500_000_000 && response.write(Buffer.alloc(65_536))) sent += 65_536;
    };
    response.on('drain', more);
    more();
  };
  expect((await error({ maxBytes: '64KiB' })).code).toBe('RESPONSE_TOO_LARGE');
  expect(sent).toBeLessThan(50_000_000);
});

test('[ACT-14] a small body that unpacks to a huge one is stopped', async () => {
  const bomb = gzipSync(Buffer.alloc(200_000_000));
  expect(bomb.length).toBeLessThan(300_000);
  handle = answer(200, bomb, { 'content-encoding': 'gzip', 'content-type': 'text/plain' });
  const before = process.memoryUsage().rss;
  expect((await error({ maxBytes: '1MB' })).code).toBe('RESPONSE_TOO_LARGE');
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  handle = (_, response) => {
    response.writeHead(500, { 'content-encoding': 'gzip' });
    const gzip = createGzip();
    gzip.pipe(response);
    gzip.end(Buffer.alloc(50_000_000));
  };
  expect(await error({})).toMatchObject({ code: 'HTTP_500' });
});

test('[ACT-15] the timeout covers the headers and the body', async () => {
  handle = () => {};
  expect(await error({ timeout: '50ms' })).toMatchObject({ code: 'HTTP_TIMEOUT', kind: 'SYSTEM' });
  handle = (_, response) => void response.writeHead(200).write('first');
  expect(await error({ timeout: 50 })).toMatchObject({ code: 'HTTP_TIMEOUT', kind: 'SYSTEM' });
  expect(await error({ timeout: 50, method: 'POST' })).toMatchObject({
    code: 'HTTP_TIMEOUT',
    kind: 'USER',
    details: { outcome: 'unknown' },
  });
  expect((await error({ timeout: 'soon' })).code).toBe('INPUT_INVALID');
});

test.each(['before the headers', 'in the body'])('[ACT-15] an abort ends a request %s', async (when) => {
  for (const method of ['GET', 'POST']) {
    const stopper = new AbortController();
    handle = (_, response) => {
      if (when === 'in the body') response.writeHead(200).write('first', () => stopper.abort());
      else stopper.abort();
    };
    const pending = project.run(httpRequest, { url: origin, method }, { signal: stopper.signal });
    expect(await pending).toMatchObject({ status: 'aborted', error: { code: 'ABORTED' } });
  }
});

test.each<[Record<string, Json>]>([
  [{ headers: { 'x-a': 'b\r\nx-injected: yes' } }],
  [{ headers: { 'x-a\r\nx-injected': 'yes' } }],
  [{ headers: { 'x-a': 'b\0' } }],
  [{ headers: { 'x-a': '日本' } }],
  [{ headers: { '': 'x' } }],
  [{ body: 'x' }],
  [{ url: '/relative' }],
  [{ url: 'not a url' }],
  [{ method: 'get' }],
  [{ query: { nested: { a: 1 } } }],
  [{ maxBytes: 'much' }],
])('[ACT-16] %j is refused before anything is sent', async (input) => {
  expect(await error(input)).toMatchObject({ code: 'INPUT_INVALID', kind: 'USER' });
  expect(seen).toEqual([]);
});

test('[ACT-16] a line break in a query or path stays data', async () => {
  await output({ url: `${origin}/a\r\nb`, query: { q: 'x\r\nHost: evil' } });
  expect(seen[0]?.url).toBe('/ab?q=x%0D%0AHost%3A+evil');
});

test('[ACT-17] a redirect does not leave the granted hosts', async () => {
  handle = (request, response) => {
    if (request.url === '/x') response.writeHead(302, { location: 'http://localhost:9/' }).end();
    else response.end('home');
  };
  const granted = { network: ['127.0.0.1'] };
  const outcome = await project.error(httpRequest, { url: `${origin}/x` }, { granted });
  expect(outcome).toMatchObject({ code: 'CAPABILITY_DENIED', details: { wanted: 'localhost:9' } });
  expect(await output({ followRedirects: false })).toMatchObject({
    status: 302,
    headers: { location: 'http://localhost:9/' },
  });
  handle = (request, response) => {
    if (request.url === '/x') response.writeHead(302, { location: '/home' }).end();
    else response.end('home');
  };
  expect(await output({})).toMatchObject({ status: 200, body: 'home' });
});

const SECRETS: Readonly<Record<string, string>> = {
  key: 'sk_live_äöü_1',
  token: 'sk_live_1',
  login: 'ada:s3cret pass',
  account: '{"username":"ada","password":"s3cret pass","token":"tok-en-1"}',
  lines: 'first line\nsecond line',
};
const credential = async (alias: string) => SECRETS[alias] ?? '';
const basic = `Basic ${Buffer.from('ada:s3cret pass').toString('base64')}`;

test.each([
  [{ type: 'bearer', credential: 'token' }, 'authorization', 'Bearer sk_live_1'],
  [{ type: 'bearer', credential: 'account', field: 'token' }, 'authorization', 'Bearer tok-en-1'],
  [{ type: 'basic', credential: 'login' }, 'authorization', basic],
  [{ type: 'basic', credential: 'account' }, 'authorization', basic],
  [{ type: 'basic', username: 'ada', credential: 'account', field: 'password' }, 'authorization', basic],
  [{ type: 'header', name: 'X-Api-Key', credential: 'token' }, 'x-api-key', 'sk_live_1'],
])('[ACT-23] %j', async (auth, header, value) => {
  handle = (request, response) => void response.end(`you sent ${request.headers[header]}`);
  const given = await project.output(httpRequest, { url: `${origin}/x`, auth }, { credential });
  expect(seen[0]?.headers[header]).toBe(value);
  expect(JSON.stringify(given)).not.toMatch(/sk_live|tok-en|s3cret|YWRhOnMz/);
  expect(JSON.stringify(given)).toContain('[redacted]');
});

test('[ACT-23] a credential in the query is in no error', async () => {
  handle = (request, response) => void response.writeHead(403).end(`no ${request.url}`);
  const auth = { type: 'query', name: 'api_key', credential: 'key' };
  const refused = await project.error(httpRequest, { url: `${origin}/x?a=1`, auth }, { credential });
  expect(seen[0]?.url).toBe(`/x?a=1&api_key=${encodeURIComponent('sk_live_äöü_1')}`);
  expect(refused).toMatchObject({ code: 'HTTP_403', details: { body: 'no /x?a=1&api_key=[redacted]' } });
});

test.each([
  [{ type: 'bearer', credential: 'account', field: 'nope' }, 'CREDENTIAL_INVALID'],
  [{ type: 'bearer', credential: 'token', field: 'nope' }, 'CREDENTIAL_INVALID'],
  [{ type: 'basic', credential: 'token' }, 'CREDENTIAL_INVALID'],
  [{ type: 'header', name: 'x-key', credential: 'lines' }, 'CREDENTIAL_INVALID'],
  [{ type: 'header', credential: 'token' }, 'INPUT_INVALID'],
  [{ type: 'query', credential: 'token' }, 'INPUT_INVALID'],
  [{ type: 'bearer' }, 'INPUT_INVALID'],
  [{ type: 'digest', credential: 'token' }, 'INPUT_INVALID'],
])('[ACT-23] %j is %s, and nothing is sent', async (auth, code) => {
  expect(await project.error(httpRequest, { url: `${origin}/x`, auth }, { credential })).toMatchObject({ code });
  expect(seen).toEqual([]);
});
