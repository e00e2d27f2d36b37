/** Sockets that keep a server waiting, on a real port. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { virtualClock } from '@nebula/drivers/memory';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BodyMemory, GatheredBody } from '../../src/http/body-memory.ts';
import { type Booted, type BootOptions, boot, TOKEN } from '../support/boot.ts';
import { type Raw, raw as rawSocket, startHead } from '../support/sockets.ts';
import { addUser, ask, signIn } from '../support/users.ts';
import { echo } from '../support/workflows.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Limits = NonNullable<NonNullable<BootOptions['app']>['limits']>;

async function booted(limits: Limits, more: BootOptions = {}): Promise<Booted> {
  const server = await boot({ app: { limits }, ...more });
  closing.push(() => server.close());
  return server;
}

async function raw(server: Booted, text?: string): Promise<Raw> {
  const opened = await rawSocket(server, text);
  closing.push(async () => opened.socket.destroy());
  return opened;
}

const open = (server: Booted) => new Promise<number>((done) => server.server.connections((count) => done(count)));
const JSON_ONLY = { 'content-type': 'application/json' };
const POST = { method: 'POST', headers: { ...JSON_ONLY, authorization: `Bearer ${TOKEN}` } };
const start = (length: number, token = TOKEN): string => startHead(length, token);

describe('slow callers', () => {
  it('[SRV-486] a connection that carries many bodies keeps no listener of those that have come', async () => {
    const server = await booted({});
    const warnings: string[] = [];
    const warned = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', warned);
    closing.push(async () => process.off('warning', warned));
    const { socket } = await raw(server);
    for (let request = 0; request < 15; request++) {
      socket.write(start(2));
      await setTimeout(5);
      socket.write('{}');
      await once(socket, 'data');
    }
    expect(warnings).toEqual([]);
  });

  it.each([
    ['that says nothing', ''],
    ['with half a head', 'GET /health HTTP/1.1\r\nhost: loc'],
    ['with half a body', `${start(1_000)}{"workflowId":`],
  ])('[SRV-486] a socket %s is destroyed in time, though its caller keeps it open', async (_, text) => {
    const server = await booted({ headMs: 300, silentBodyMs: 300 });
    const { over } = await raw(server, text);
    await over;
    await expect.poll(() => open(server)).toBe(0);
  });

  it('[SRV-486] a body that comes byte by byte is cut off when the whole request is late', async () => {
    const server = await booted({ headMs: 200, silentBodyMs: 5_000, requestMs: 400 });
    const { socket, over } = await raw(server, start(100_000));
    const timer = setInterval(() => socket.write('x'), 20);
    closing.push(async () => clearInterval(timer));
    expect(await over).toMatch(/^(HTTP\/1.1 408 |$)/);
    await expect.poll(() => open(server)).toBe(0);
  });

  it('[SRV-486] a caller who waits for an answer is not late', async () => {
    const server = await booted({ headMs: 200, silentBodyMs: 100 });
    await server.client.call('registerWorkflow', {
      body: { definition: { id: 'slow', nodes: { a: { wait: { for: '600ms' } } } } },
    });
    const { executionId } = await server.client.call('startExecution', { body: { workflowId: 'slow' } });
    const { status } = await server.client.call('getResult', { params: { executionId }, query: { wait: '10s' } });
    expect(status).toBe('completed');
  });
});

describe('bodies', () => {
  it('[SRV-487] an unauthenticated caller is refused before its body is read', async () => {
    const server = await booted({});
    const began = `${start(1_000_000, 'wrong')}{`;
    expect(await (await raw(server, began)).over).toMatch(/^HTTP\/1.1 401 /);
    for (const path of ['/hooks/nowhere', '/callbacks/guess.proof', '/api/workflows', '/api/jobs/x/logs']) {
      const { over } = await raw(
        server,
        `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n{`,
      );
      expect([path, (await over).slice(0, 12)]).toEqual([path, expect.stringMatching(/^HTTP\/1.1 40[14]$/)]);
    }
  });

  it.each([
    ['is too large', 413, TOKEN],
    ['comes from nobody', 401, 'wrong'],
  ])('[SRV-671] the sender of a body that %s receives the refusal', async (_, status, token) => {
    const server = await booted({});
    // In a process of its own: the sender continues to write while the server answers.
    const sender = `const statuses = {};
      for (let times = 0; times < 20; times++) {
        const status = await fetch('${server.server.url}/api/v1/workflows/validate', {
          method: 'POST',
          headers: { authorization: 'Bearer ${token}', 'content-type': 'application/json' },
          body: 'x'.repeat(6_000_000),
        }).then((answer) => answer.text().then(() => answer.status), (error) => String(error.cause));
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
      console.log(JSON.stringify(statuses));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', sender]);
    expect(JSON.parse(stdout)).toEqual({ [status]: 20 });
  });

  it('[SRV-488] a body that was refused no longer counts, though its connection is still open', async () => {
    const server = await booted({ maxBodyBytesInFlight: 5_000_000, lingerMs: 60_000 });
    for (let times = 0; times < 4; times++) {
      const refused = await raw(server, `${start(100_000_000)}{`);
      expect((await refused.over).slice(0, 12)).toBe('HTTP/1.1 413');
    }
    expect(await open(server)).toBe(4);
    await server.client.call('registerWorkflow', { body: { definition: echo() } });
    const body = { workflowId: 'echo', input: { text: 'x'.repeat(2_000_000) } };
    const { status } = await ask(server, 'POST /api/v1/executions', {
      headers: { authorization: `Bearer ${TOKEN}` },
      body,
    });
    expect(status).toBe(201);
  });

  it('[SRV-488] bodies in flight share one budget', async () => {
    const server = await booted({ maxBodyBytesInFlight: 5_000_000 });
    await server.client.call('registerWorkflow', { body: { definition: echo() } });
    const half = 'x'.repeat(1_300_000);
    const open = await Promise.all([1, 2, 3].map(() => raw(server, start(2_000_000) + half)));
    // Two fit; which of them is the third depends on the order in which their parts arrive.
    expect((await Promise.race(open.map(({ over }) => over))).slice(0, 12)).toBe('HTTP/1.1 503');
    for (const { socket } of open) socket.destroy();
    const body = { workflowId: 'echo', input: { text: 'x'.repeat(2_000_000) } };
    const begun = () => fetch(`${server.server.url}/api/v1/executions`, { ...POST, body: JSON.stringify(body) });
    await expect.poll(async () => (await begun()).status).toBe(201);
  });

  it('[SRV-488] a body counts until it is parsed', async () => {
    const clock = virtualClock(1_000_000);
    const server = await booted({ maxBodyBytesInFlight: 5_000_000 }, { clock });
    const body = JSON.stringify({ workflowId: 'echo', input: { text: 'x'.repeat(2_000_000) } });
    const begun = async (): Promise<number> =>
      (await fetch(`${server.server.url}/api/v1/executions`, { ...POST, body })).status;
    // The clock stands still, so the large body that comes first is not parsed yet, and another one is too much.
    const statuses: number[] = [];
    const asked = Array.from({ length: 2 }, () => begun().then((status) => statuses.push(status)));
    await expect.poll(() => statuses).toEqual([503]);
    const all = Promise.all(asked).then(() => true);
    while (!(await Promise.race([all, setTimeout(1, false)]))) await clock.runSoon();
    expect(statuses).toEqual([503, 404]);
  });

  it('[SRV-722] the declared length of a body reserves nothing', async () => {
    const server = await booted({ maxBodyBytesInFlight: 5_000_000 });
    await server.client.call('registerWorkflow', { body: { definition: echo() } });
    for (let times = 0; times < 20; times++) await raw(server, start(4_000_000));
    await raw(server, start(4_000_000).replace(/content-length.*/, 'transfer-encoding: chunked'));
    const body = { workflowId: 'echo', input: { text: 'x'.repeat(2_000_000) } };
    const { status } = await fetch(`${server.server.url}/api/v1/executions`, { ...POST, body: JSON.stringify(body) });
    expect(status).toBe(201);
  });

  it('[SRV-723] a caller who holds all that it may leaves room to others, and to its own small bodies', async () => {
    const server = await booted({ maxBodyBytesInFlight: 4_000_000 });
    const definition = { ...echo(), triggers: [{ webhook: { path: '/open', method: 'POST' } }] };
    await server.client.call('registerWorkflow', { body: { definition } });
    const head = `POST /hooks/open HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: `;
    const most = 'x'.repeat(2_000_000);
    const taken = vi.spyOn(BodyMemory.prototype, 'take');
    closing.push(async () => taken.mockRestore());
    const held = await raw(server, `${head}4000000\r\n\r\n${most}`);
    const arrived = (): number => taken.mock.calls.reduce((sum, [, bytes]) => sum + bytes, 0);
    await expect.poll(arrived, { timeout: 10_000 }).toBeGreaterThan(1_900_000);
    const hook = async (bytes: number) => {
      const body = JSON.stringify({ text: 'x'.repeat(bytes) });
      return (await fetch(`${server.server.url}/hooks/open`, { ...POST, headers: JSON_ONLY, body })).status;
    };
    expect(await hook(300_000)).toBe(503);
    expect(await Promise.race([held.over, Promise.resolve('held')])).toBe('held');
    expect(await hook(60_000)).toBe(202);
    const body = JSON.stringify({ workflowId: 'echo', input: { text: 'x'.repeat(1_000_000) } });
    expect((await fetch(`${server.server.url}/api/v1/executions`, { ...POST, body })).status).toBe(201);
  });

  it('[SRV-723] no number of callers leaves nothing to the next one', () => {
    const memory = new BodyMemory(64);
    const most = (caller: string) => {
      let bytes = 0;
      while (memory.take(caller, 1)) bytes++;
      return bytes;
    };
    expect(['a', 'b', 'c', 'a', 'd'].map(most)).toEqual([32, 16, 8, 0, 4]);
    memory.release('a', 32);
    expect(most('e')).toBe(18);
  });

  it('[SRV-724] a body that comes in many pieces is handed on as one buffer', async () => {
    const pieces = Array.from('{"text":"piece by piece"}'.repeat(1_000), (text) => Buffer.from(text));
    const room = { memory: new BodyMemory(10), caller: 'a', freeBytes: 30_000, maxBytes: 100_000 };
    const chunks = await new GatheredBody(Readable.from(pieces), room).toArray();
    expect(chunks.map(String)).toEqual([pieces.join('')]);
    const large = new GatheredBody(Readable.from(pieces), { ...room, maxBytes: 20_000 });
    await expect(large.toArray()).rejects.toMatchObject({ code: 'TOO_LARGE' });
  });

  it('[SRV-489] a JSON body has a limited number of values, and a login few bytes', async () => {
    const server = await booted({});
    const headers = { authorization: `Bearer ${TOKEN}` };
    const many = `{"workflowId":"x","input":[${'1,'.repeat(200_001)}1]}`;
    expect((await ask(server, 'POST /api/v1/executions', { headers, raw: many })).status).toBe(413);
    const login = { user: 'ada', password: 'x'.repeat(20_000) };
    expect((await ask(server, 'POST /api/v1/login', { body: login })).status).toBe(413);
  });
});

describe('connections', () => {
  it('[SRV-490] more connections of one address than it may have are destroyed; others are served when these go', async () => {
    const server = await booted({ maxConnectionsPerAddress: 5 });
    const sockets = await Promise.all(Array.from({ length: 5 }, () => raw(server)));
    expect(await (await raw(server, 'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n')).over).toBe('');
    for (const { socket } of sockets) socket.destroy();
    await expect
      .poll(() =>
        fetch(`${server.server.url}/health`).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
  });

  it('[SRV-490] a server has a limited number of connections', async () => {
    const server = await booted({ maxConnections: 5 });
    await Promise.all(Array.from({ length: 5 }, () => raw(server)));
    expect(await (await raw(server, 'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n')).over).toBe('');
  });
});

describe('callers', () => {
  it('[SRV-491] two Host headers are refused', async () => {
    const server = await booted({});
    const { over } = await raw(
      server,
      'GET /health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n',
    );
    expect(await over).toMatch(/^HTTP\/1.1 400 /);
  });

  it('[SRV-492] a key with something behind it is no key', async () => {
    const server = await booted({}, { users: true });
    await addUser(server, 'ada', { roles: { default: 'owner' } });
    const { json } = await ask(server, 'POST /api/v1/keys', {
      headers: await signIn(server, 'ada'),
      body: { name: 'k', roles: { default: 'viewer' } },
    });
    const me = async (token: string) =>
      (await ask(server, 'GET /api/v1/me', { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await me(json.token)).toBe(200);
    for (const suffix of ['_', '_x', 'x', '0']) expect([suffix, await me(json.token + suffix)]).toEqual([suffix, 401]);
  });

  it('[SRV-493] pages of other sites start nothing by webhooks without a signature', async () => {
    const server = await booted({}, { app: { origins: ['https://app.example'] } });
    const definition = { ...echo('hooked'), triggers: [{ webhook: { path: '/x', method: 'POST' } }] };
    await server.client.call('registerWorkflow', { body: { definition } });
    const call = async (headers: Record<string, string>) =>
      (await ask(server, 'POST /hooks/x', { raw: 'hello', headers: { 'content-type': 'text/plain', ...headers } }))
        .status;
    expect(await call({ origin: 'https://evil.example' })).toBe(403);
    expect(await call({ origin: 'null' })).toBe(403);
    expect(await call({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await call({ origin: 'http://localhost:8080', host: 'localhost:8080', 'sec-fetch-site': 'same-site' })).toBe(
      403,
    );
    expect(await call({})).toBe(202);
    expect(await call({ origin: 'https://app.example', 'sec-fetch-site': 'cross-site' })).toBe(202);
    expect(
      await call({ origin: 'http://localhost:8080', host: 'localhost:8080', 'sec-fetch-site': 'same-origin' }),
    ).toBe(202);
  });
});
