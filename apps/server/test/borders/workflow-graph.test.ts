/** The endpoints of workflow-graph are as careful as our own. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { realClock } from '@nebula/drivers/real';
import type { Clock } from '@nebula/ports';
import fastify from 'fastify';
import { afterEach, expect, it } from 'vitest';
import { compatRoutes } from '../../src/compat/routes.ts';
import { refuse } from '../../src/http/app.ts';
import { NOBODY } from '../../src/identity/principal.ts';
import { Launcher } from '../../src/launcher.ts';
import { Feed } from '../../src/live/feed.ts';
import { Followers } from '../../src/live/followers.ts';
import { Registry } from '../../src/workers/registry.ts';
import { type Booted, boot, TOKEN } from '../support/boot.ts';
import { addProject, addUser, ask, type Headers, signIn } from '../support/users.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const YAML = 'name: build\njobs:\n  one:\n    run: echo one\n';

async function claimed(
  booted: Booted,
  headers: Headers,
  worker: Headers = headers,
): Promise<{ id: string; lease: string; run: string }> {
  const posted = await ask(booted, 'POST /api/workflows', {
    raw: YAML,
    headers: { ...headers, 'content-type': 'application/yaml' },
  });
  expect([posted.status, posted.text]).toEqual([201, expect.anything()]);
  const { id } = posted.json;
  const { json } = await ask(booted, `POST /api/workflows/${id}/run`, { headers, body: {} });
  let claim: { lease: { lease_id: string } } | null = null;
  await expect
    .poll(async () => {
      claim = (await ask(booted, 'POST /api/jobs/claim', { headers: worker, body: { worker_id: 'w1', labels: [] } }))
        .json;
      return claim;
    })
    .not.toBeNull();
  return { id, run: json.run_id, lease: (claim as unknown as { lease: { lease_id: string } }).lease.lease_id };
}

it('[SRV-483] bodies and queries that do not fit are refused with their place, never with a 5xx', async () => {
  const booted = await boot();
  closing.push(() => booted.close());
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { id, lease } = await claimed(booted, headers);
  const bodies: readonly (readonly [string, unknown])[] = [
    ...[null, 1, 'x', [], true].map((chunk) => [`/jobs/${lease}/logs`, { chunks: [chunk] }] as const),
    [`/jobs/${lease}/logs`, { chunks: null }],
    [`/jobs/${lease}/logs`, { chunks: [{ data: 1 }] }],
    [`/jobs/${lease}/logs`, { chunks: [{ data: 'x', stream: {} }] }],
    [`/jobs/${lease}/logs`, { chunks: [{ data: 'x', sequence: 'first' }] }],
    [`/jobs/${lease}/logs`, { chunks: [{ data: 'x', timestamp_ms: 'now' }] }],
    [`/jobs/${lease}/logs`, [1]],
    [`/jobs/${lease}/complete`, [1]],
    [`/jobs/${lease}/fail`, 'x'],
    ['/jobs/claim', { worker_id: 'w', lease_ttl_secs: 1e300 }],
    ['/jobs/claim', { worker_id: 'w', labels: [''] }],
    ['/jobs/claim', { worker_id: 'w', labels: Array(51).fill('a') }],
    ['/workers/register', { worker_id: 'x'.repeat(201) }],
    ['/workers/register', [1]],
  ];
  for (const [path, body] of bodies) {
    const { status, json } = await ask(booted, `POST /api${path}`, { headers, body });
    expect([path, body, status, json?.code]).toEqual([path, body, 400, 'BODY_INVALID']);
  }
  const twice = ['run=a&run=b'];
  for (const path of [`/workflows/${id}/status`, `/workflows/${id}/jobs/one/logs`, `/jobs/${id}/one/cancelled`]) {
    for (const query of twice) {
      const { status, json } = await ask(booted, `GET /api${path}?${query}`, { headers });
      expect([path, status, json?.code]).toEqual([path, 400, 'QUERY_INVALID']);
    }
  }
  for (const query of ['limit=a', 'limit=-1', 'limit=1&limit=2', 'offset=1e9', 'status=a&status=b']) {
    const { status } = await ask(booted, `GET /api/workflows?${query}`, { headers });
    expect([query, status]).toEqual([query, 400]);
  }
  expect((await ask(booted, `POST /api/jobs/${lease}/complete`, { headers, body: {} })).status).toBe(200);
});

it('[SRV-484] a key that may only extend leases neither ends one nor logs under it', async () => {
  const booted = await boot({ users: true });
  closing.push(() => booted.close());
  await addUser(booted, 'ada', { roles: { default: 'owner' } });
  const session = await signIn(booted, 'ada');
  const made = await ask(booted, 'POST /api/v1/keys', {
    headers: session,
    body: { name: 'beat', roles: { default: 'operator' }, scopes: ['claimWork', 'extendLease'] },
  });
  const headers = { authorization: `Bearer ${made.json.token}` };
  const { lease } = await claimed(booted, session, headers);
  const call = async (path: string, body: unknown) =>
    (await ask(booted, `POST /api/jobs/${lease}/${path}`, { headers, body })).status;
  expect(await call('heartbeat', {})).toBe(200);
  expect(await call('logs', { chunks: [] })).toBe(403);
  expect(await call('fail', { error: 'x' })).toBe(403);
  expect(await call('complete', {})).toBe(403);
});

it('[SRV-780] a viewer reads, and neither starts nor cancels; a list has the projects of its caller', async () => {
  const booted = await boot({ users: true });
  closing.push(() => booted.close());
  await addUser(booted, 'ada', { roles: { default: 'owner' } });
  await addUser(booted, 'vic', { roles: { default: 'viewer' } });
  await addProject(booted, 'sales');
  await addUser(booted, 'sam', { roles: { sales: 'owner' } });
  const [owner, viewer, stranger] = [
    await signIn(booted, 'ada'),
    await signIn(booted, 'vic'),
    await signIn(booted, 'sam'),
  ];
  const { id, run } = await claimed(booted, owner);
  const call = async (headers: Headers, route: string) => (await ask(booted, route, { headers, body: {} })).status;
  expect((await ask(booted, `GET /api/workflows/${id}/status`, { headers: viewer })).status).toBe(200);
  expect(await call(viewer, `POST /api/workflows/${id}/run`)).toBe(403);
  expect(await call(viewer, `POST /api/workflows/${id}/cancel`)).toBe(403);
  expect(await call(stranger, `POST /api/workflows/${id}/run`)).toBe(404);
  const { items } = (await ask(booted, 'GET /api/v1/executions', { headers: owner })).json;
  expect(items.map(({ executionId }: { executionId: string }) => executionId)).toEqual([run]);
  expect(items[0].status).toBe('running');
  const listed = async (headers: Headers) =>
    (await ask(booted, 'GET /api/workflows', { headers })).json.map((one: { id: string }) => one.id);
  expect([await listed(viewer), await listed(stranger)]).toEqual([[id], []]);
  expect(await call(owner, `POST /api/workflows/${id}/cancel`)).toBe(202);
});

it('[SRV-485] the stream of a log ends when the key that asked for it is revoked', async () => {
  // Rights are checked every half a minute.
  const clock: Clock = {
    ...realClock,
    timer: (ms, callback, options) => realClock.timer(ms === 30_000 ? 20 : ms, callback, options),
  };
  const booted = await boot({ users: true, clock });
  closing.push(() => booted.close());
  await addUser(booted, 'ada', { roles: { default: 'owner' } });
  const session = await signIn(booted, 'ada');
  const { id } = await claimed(booted, session);
  const { json: key } = await ask(booted, 'POST /api/v1/keys', {
    headers: session,
    body: { name: 'reader', roles: { default: 'viewer' } },
  });
  const request = get(`${booted.server.url}/api/workflows/${id}/jobs/one/logs/stream`, {
    headers: { authorization: `Bearer ${key.token}` },
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  response.resume();
  const ended = once(response, 'end');
  expect((await ask(booted, `DELETE /api/v1/keys/${key.keyId}`, { headers: session })).status).toBe(204);
  await ended;
});

/** The endpoints beside those of the server: with a limit of streams, and a count of the looks at runs. */
async function endpoints(booted: Booted, maxFollowers: number): Promise<{ url: string; looks: () => number }> {
  let looks = 0;
  const { executions } = booted.parts;
  const parts = {
    ...booted.parts,
    executions: {
      ...executions,
      document: (id: string, at?: number) => {
        looks++;
        return executions.document(id, at);
      },
      bareDocument: (id: string, at?: number) => {
        looks++;
        return executions.bareDocument(id, at);
      },
    },
  };
  const feed = new Feed({ ...parts, onTrouble: () => undefined });
  const app = fastify({ forceCloseConnections: true });
  app.setErrorHandler((error, _, reply) => refuse(reply, error));
  compatRoutes(app, {
    parts,
    feed,
    followers: new Followers({ maxFollowers, maxFollowersPerCaller: maxFollowers }),
    launcher: new Launcher(parts),
    registry: new Registry(parts),
    authenticate: async () => ({ ...NOBODY, kind: 'user', name: 'ada', isAdmin: true }),
    audit: async () => undefined,
    onRequest: () => undefined,
  });
  await feed.open();
  closing.push(async () => {
    feed.close();
    await app.close();
  });
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), looks: () => looks };
}

async function stream(url: string, id: string): Promise<IncomingMessage> {
  const [response] = (await once(get(`${url}/api/workflows/${id}/jobs/one/logs/stream`), 'response')) as [
    IncomingMessage,
  ];
  return response.resume();
}

it('[SRV-720] log streams of workflow-graph count as followers until they end', async () => {
  const booted = await boot();
  closing.push(() => booted.close());
  const { id } = await claimed(booted, { authorization: `Bearer ${TOKEN}` });
  const { url } = await endpoints(booted, 2);
  const [first] = await Promise.all([stream(url, id), stream(url, id)]);
  expect((await stream(url, id)).statusCode).toBe(429);
  first.destroy();
  await expect.poll(async () => (await stream(url, id)).statusCode).toBe(200);
});

it('[SRV-721] all log streams of a run share one look at it, and end with their job', async () => {
  const booted = await boot();
  closing.push(() => booted.close());
  const headers = { authorization: `Bearer ${TOKEN}` };
  const { id, lease } = await claimed(booted, headers);
  const { url, looks } = await endpoints(booted, 100);
  const streams = await Promise.all(Array.from({ length: 30 }, () => stream(url, id)));
  const ended = Promise.all(streams.map((one) => once(one, 'end')));
  expect((await ask(booted, `POST /api/jobs/${lease}/complete`, { headers, body: {} })).status).toBe(200);
  await ended;
  expect(looks()).toBe(1);
  // A stream of a job that has ended is closed, too.
  await once(await stream(url, id), 'end');
});

it('[SRV-458] a run that workflow-graph starts has its caller as principal', async () => {
  const booted = await boot({ users: true });
  closing.push(() => booted.close());
  await addUser(booted, 'ada', { roles: { default: 'owner' } });
  const { run } = await claimed(booted, await signIn(booted, 'ada'));
  const [{ entries: [started] = [] } = {}] = await booted.parts.executions.journal(run);
  expect(started).toMatchObject({ type: 'run.started', authority: { principal: 'ada' } });
});
