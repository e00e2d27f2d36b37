/** Signing in, and what keeps strangers and their pages out. */

import { NebulaClient } from '@nebula/client';
import { ROUTES } from '@nebula/client/contract';
import { virtualClock } from '@nebula/drivers/memory';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { localApi } from '../src/local.ts';
import { type Booted, boot, TOKEN } from './support/boot.ts';
import { addProject, addUser, ask, type Headers, PASSWORD, signIn } from './support/users.ts';
import { echo } from './support/workflows.ts';

describe('signing in', () => {
  let booted: Booted;
  beforeAll(async () => {
    booted = await boot({ users: true });
    await addProject(booted, 'shop');
    await addUser(booted, 'root', { admin: true });
    await addUser(booted, 'ann', { roles: { shop: 'editor' } });
  });
  afterAll(() => booted.close());

  it('[SRV-20] the cookie of a session is for this server only, and for no script', async () => {
    const answer = await ask(booted, 'POST /api/v1/login', { body: { user: 'ann', password: PASSWORD } });
    const cookie = String(answer.headers['set-cookie']);
    for (const flag of ['HttpOnly', 'SameSite=Strict', 'Path=/', 'Max-Age=43200']) expect(cookie).toContain(flag);
    expect(cookie).not.toContain('Secure');
    const secure = await boot({ users: true, isSecure: true });
    await addUser(secure, 'ann');
    const over = await ask(secure, 'POST /api/v1/login', { body: { user: 'ann', password: PASSWORD } });
    expect(String(over.headers['set-cookie'])).toContain('; Secure');
    await secure.close();
    const headers = await signIn(booted, 'ann');
    const out = await ask(booted, 'POST /api/v1/logout', { headers });
    expect(String(out.headers['set-cookie'])).toMatch(/^nebula_session_80=; .*Max-Age=0/);
    expect((await ask(booted, 'GET /api/v1/me', { headers })).status).toBe(401);
  });

  it('[SRV-21] a session changes nothing without the token of its login', async () => {
    const { cookie, ...token } = await signIn(booted, 'ann');
    const body = { definition: echo('csrf'), project: 'shop' };
    const headers = { cookie } as Headers;
    for (const wrong of [{}, { 'x-csrf-token': 'guess' }]) {
      const answer = await ask(booted, 'POST /api/v1/workflows', { headers: { ...headers, ...wrong }, body });
      expect(answer.status).toBe(403);
      expect(answer.json.code).toBe('CSRF');
    }
    expect((await ask(booted, 'GET /api/v1/workflows', { headers })).status).toBe(200);
    expect((await ask(booted, 'POST /api/v1/workflows', { headers: { ...headers, ...token }, body })).status).toBe(201);
  });

  it('[SRV-21] a page that was loaded again finds the token with `getMe`, and may also sign in anew', async () => {
    const { cookie, 'x-csrf-token': token } = await signIn(booted, 'ann');
    const me = await ask(booted, 'GET /api/v1/me', { headers: { cookie } as Headers });
    expect(me.json.csrfToken).toBe(token);
    const body = { user: 'ann', password: PASSWORD };
    expect((await ask(booted, 'POST /api/v1/login', { headers: { cookie } as Headers, body })).status).toBe(200);
  });

  it('[SRV-22] no password, hash, session or secret half of a key is ever shown', async () => {
    const headers = await signIn(booted, 'root');
    const password = 'a password that is not shown';
    const texts = [
      await ask(booted, 'PUT /api/v1/users/eve', { headers, body: { password } }),
      await ask(booted, 'GET /api/v1/users', { headers }),
      await ask(booted, 'GET /api/v1/audit', { headers }),
      await ask(booted, 'GET /api/v1/me', { headers }),
      await ask(booted, 'POST /api/v1/login', { body: { user: 'eve', password } }),
      await ask(booted, 'POST /api/v1/login', { body: { user: 'eve', password: `${password}!` } }),
    ].map(({ text }) => text);
    const made = await ask(booted, 'POST /api/v1/keys', { headers, body: { name: 'k', roles: { shop: 'viewer' } } });
    const secret = String(made.json.token).split('_')[2] as string;
    expect(secret).toHaveLength(64);
    texts.push((await ask(booted, 'GET /api/v1/keys', { headers })).text);
    texts.push((await ask(booted, 'GET /api/v1/audit', { headers })).text);
    for (const text of texts) {
      expect(text).not.toContain(password);
      expect(text).not.toContain('argon2');
      expect(text).not.toContain(secret);
    }
    const kept = JSON.stringify([
      ...(await booted.parts.records.list('key', { limit: 100 })),
      ...(await booted.parts.records.list('session', { limit: 100 })),
      ...(await booted.parts.records.list('user', { limit: 100 })),
    ]);
    expect(kept).not.toContain(secret);
    expect(kept).not.toContain(password);
    expect(kept).not.toContain((headers['cookie'] as string).split('=')[1]);
  });

  it('[SRV-23] a new password, and disabling a user, end existing sessions; others continue', async () => {
    const root = await signIn(booted, 'root');
    await addUser(booted, 'fay');
    const before = await signIn(booted, 'fay');
    await ask(booted, 'PUT /api/v1/users/fay', { headers: root, body: { name: 'Fay' } });
    expect((await ask(booted, 'GET /api/v1/me', { headers: before })).status).toBe(200);
    const fresh = 'another long password';
    await ask(booted, 'PUT /api/v1/users/fay', { headers: root, body: { password: fresh } });
    expect((await ask(booted, 'GET /api/v1/me', { headers: before })).status).toBe(401);
    const after = await signIn(booted, 'fay', fresh);
    await ask(booted, 'PUT /api/v1/users/fay', { headers: root, body: { disabled: true } });
    expect((await ask(booted, 'POST /api/v1/login', { body: { user: 'fay', password: fresh } })).status).toBe(401);
    await ask(booted, 'PUT /api/v1/users/fay', { headers: root, body: { disabled: false } });
    expect((await ask(booted, 'GET /api/v1/me', { headers: after })).status).toBe(401);
    expect((await ask(booted, 'GET /api/v1/me', { headers: root })).status).toBe(200);
  });

  it('[SRV-23] administrators cannot lock themselves out', async () => {
    const headers = await signIn(booted, 'root');
    for (const body of [{ disabled: true }, { admin: false }]) {
      expect((await ask(booted, 'PUT /api/v1/users/root', { headers, body })).status).toBe(403);
    }
    expect((await ask(booted, 'DELETE /api/v1/users/root', { headers })).status).toBe(403);
  });

  it('[SRV-24] guessing is stopped, also when many guess at the same time; a right password counts nothing', async () => {
    await addUser(booted, 'target');
    const guess = (password: string) => ask(booted, 'POST /api/v1/login', { body: { user: 'target', password } });
    for (let round = 0; round < 12; round++) expect((await guess(PASSWORD)).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => guess(`guess number ${index}`)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(8);
    expect(statuses.filter((status) => status === 429)).toHaveLength(22);
    const refused = await guess(PASSWORD);
    expect([refused.json.code, refused.headers['retry-after']]).toEqual(['TOO_MANY_LOGINS', '900']);
    expect((await guess('x')).text).not.toContain('target');
  });

  it('[SRV-24] whether a name exists cannot be seen', async () => {
    const known = await ask(booted, 'POST /api/v1/login', { body: { user: 'ann', password: 'wrong' } });
    const unknown = await ask(booted, 'POST /api/v1/login', { body: { user: 'nobody', password: 'wrong' } });
    expect(known.text).toBe(unknown.text);
  });
});

describe('authentication', () => {
  let booted: Booted;
  afterEach(() => booted.close());
  const headers = { authorization: `Bearer ${TOKEN}` };

  it('[SRV-25] on a desktop the token authenticates the owner, and nothing else authenticates', async () => {
    booted = await boot();
    expect((await ask(booted, 'GET /api/v1/me', { headers })).json).toMatchObject({ user: 'owner', admin: true });
    for (const authorization of ['', 'Bearer', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, `Bearer ${TOKEN.slice(1)}`]) {
      const answer = await ask(booted, 'GET /api/v1/me', { headers: { authorization } });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toContain('Bearer');
    }
  });

  it('[SRV-26] pages of named origins may call, and no others', async () => {
    booted = await boot({ app: { origins: ['https://studio.example'] } });
    const asks = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
    const fine = await ask(booted, 'OPTIONS /api/v1/workflows', {
      headers: { origin: 'https://studio.example', ...asks },
    });
    expect(fine.status).toBe(204);
    expect(fine.headers['access-control-allow-origin']).toBe('https://studio.example');
    expect(fine.headers['vary']).toBe('origin');
    expect(fine.headers['access-control-allow-headers']).toContain('x-csrf-token');
    const get = await ask(booted, 'GET /api/v1/info', { headers: { origin: 'https://studio.example' } });
    expect(get.headers['access-control-allow-origin']).toBe('https://studio.example');
    for (const origin of ['https://evil.example', 'null', 'https://studio.example.evil.example']) {
      const other = await ask(booted, 'OPTIONS /api/v1/workflows', { headers: { origin, ...asks } });
      expect(other.status).toBe(405);
      expect(other.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  it('[SRV-27] with names given, the server answers under no other, so that no page can borrow its address', async () => {
    booted = await boot({ app: { hosts: ['127.0.0.1', 'localhost'] } });
    expect((await ask(booted, 'GET /health', { headers: { host: 'localhost:1' } })).status).toBe(200);
    for (const line of ['GET /health', 'GET /api/v1/info', 'POST /hooks/x', 'GET /api/v1/live', 'GET /nowhere']) {
      const answer = await ask(booted, line, { headers: { host: 'evil.example' } });
      expect(answer.status, line).toBe(403);
      expect(answer.headers['x-frame-options'], line).toBe('DENY');
    }
  });

  it('[SRV-28] health, readiness, the OpenAPI document and its page are for everybody', async () => {
    booted = await boot();
    expect((await ask(booted, 'GET /health')).json).toEqual({ status: 'ok' });
    expect((await ask(booted, 'GET /ready')).json).toMatchObject({ status: 'ready', troubles: {} });
    const document = await ask(booted, 'GET /api/v1/openapi.json');
    expect(document.json.openapi).toMatch(/^3\.1/);
    const operations = Object.values(document.json.paths as Record<string, Record<string, { operationId: string }>>);
    const ids = operations.flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
    expect(ids.toSorted()).toEqual(Object.keys(ROUTES).toSorted());
    const page = await ask(booted, 'GET /api/docs');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.text).toContain('registerWorkflow');
  });

  it('[SRV-29] changes and refusals are in the audit log; reads are not', async () => {
    booted = await boot();
    await ask(booted, 'POST /api/v1/workflows', { headers, body: { definition: echo() } });
    await ask(booted, 'POST /api/v1/workflows/echo/activate', { headers, body: { version: 9 } });
    await ask(booted, 'GET /api/v1/workflows', { headers });
    await ask(booted, 'POST /api/v1/workflows/validate', { headers, body: { definition: echo() } });
    await ask(booted, 'POST /api/v1/workflows', { body: { definition: echo() } });
    const { json } = await ask(booted, 'GET /api/v1/audit', { headers });
    const seen = json.items.map(({ operation, outcome, who }: Record<string, unknown>) => [operation, outcome, who]);
    expect(seen).toEqual([
      ['activateWorkflow', 404, 'owner'],
      ['registerWorkflow', 201, 'owner'],
    ]);
  });

  it('[SRV-440] records who signed in, whose password was guessed, and what was created', async () => {
    booted = await boot({ users: true });
    await addUser(booted, 'root', { admin: true });
    const login = (user: string, password: string) => ask(booted, 'POST /api/v1/login', { body: { user, password } });
    await login('root', 'not the password');
    await login('my secret pass word', PASSWORD);
    const root = await signIn(booted, 'root');
    await ask(booted, 'POST /api/v1/workflows', { headers: root, body: { definition: echo() } });
    const run = await ask(booted, 'POST /api/v1/executions', { headers: root, body: { workflowId: 'echo' } });
    const key = await ask(booted, 'POST /api/v1/keys', { headers: root, body: { name: 'ci', roles: {} } });
    await ask(booted, 'POST /api/v1/executions', { headers: root, body: { workflowId: 'none' } });
    const { json, text } = await ask(booted, 'GET /api/v1/audit', { headers: root });
    expect(text).not.toContain('my secret');
    const seen = json.items.map((one: Record<string, unknown>) => [one.operation, one.who, one.target, one.outcome]);
    expect(seen.slice(0, 7)).toEqual([
      ['startExecution', 'root', 'none', 404],
      ['createKey', 'root', key.json.keyId, 201],
      ['startExecution', 'root', run.json.executionId, 201],
      ['registerWorkflow', 'root', 'echo', 201],
      ['login', 'root', 'root', 200],
      ['login', 'nobody', null, 401],
      ['login', 'nobody', 'root', 401],
    ]);
  });

  it('[SRV-441] changes without HTTP are recorded; no-op changes are not', async () => {
    booted = await boot();
    const local = new NebulaClient(localApi(booted.parts, undefined, () => undefined).transport);
    await local.call('registerWorkflow', { body: { definition: echo() } });
    await local.call('registerWorkflow', { body: { definition: echo() } });
    await local.call('listWorkflows');
    await local.call('deactivateWorkflow', { params: { workflowId: 'echo' } });
    const direct = new NebulaClient(booted.server.direct);
    await direct.call('registerWorkflow', { body: { definition: echo() } });
    await direct.call('registerWorkflow', { body: { definition: echo() } });
    await direct.call('registerWorkflow', { body: { definition: echo('used'), activate: false } });
    const { json } = await ask(booted, 'GET /api/v1/audit', { headers });
    const seen = json.items.map((one: Record<string, unknown>) => [one.operation, one.who, one.target, one.details]);
    expect(seen).toEqual([
      ['registerWorkflow', 'owner', 'echo', { kind: 'token' }],
      ['deactivateWorkflow', 'owner', 'echo', { kind: 'token' }],
      ['registerWorkflow', 'owner', 'echo', { kind: 'token' }],
    ]);
  });

  it('[SRV-30] expired records are removed in time, a bounded number at once', async () => {
    const clock = virtualClock(1_000_000);
    booted = await boot({ clock });
    const { records } = booted.parts;
    const row = (id: string, expiresAt: number) => ({ kind: 'idempotency', id, body: '{}', expiresAt });
    await records.commit(Array.from({ length: 2_500 }, (_, index) => row(`old-${index}`, clock.now() + 10)));
    await records.commit([row('young', clock.now() + 10_000_000)]);
    const batches: number[] = [];
    const purge = records.purge.bind(records);
    records.purge = async (now, limit) => {
      const removed = await purge(now, limit);
      batches.push(removed);
      return removed;
    };
    await clock.advance(61_000);
    expect(batches).toEqual([1_000, 1_000, 500]);
    expect(await records.get('idempotency', 'young')).toBeDefined();
  });
});
