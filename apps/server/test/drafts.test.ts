/** Drafts of workflows: of one user, fenced by their revision, and not for ever. */
import { realClock } from '@nebula/drivers/real';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot } from './support/boot.ts';
import { addProject, addUser, ask, type Headers, signIn } from './support/users.ts';

const DAY_MS = 86_400_000;
let aheadMs = 0;
const clock = { ...realClock, now: () => realClock.now() + aheadMs };

let booted: Booted;
const headersOf: Record<string, Headers> = {};
beforeAll(async () => {
  booted = await boot({ users: true, clock });
  await addProject(booted, 'a');
  await addUser(booted, 'root', { admin: true });
  for (const name of ['ada', 'bob', 'many', 'gone']) await addUser(booted, name, { roles: { a: 'editor' } });
  await addUser(booted, 'viewer', { roles: { a: 'viewer' } });
  for (const name of ['root', 'ada', 'bob', 'many', 'gone', 'viewer']) headersOf[name] = await signIn(booted, name);
});
afterAll(() => booted.close());

const call = (user: string, line: string, body?: unknown, more: Headers = {}) => {
  const [method, route] = line.split(' ');
  const headers = { ...headersOf[user], ...more };
  return ask(booted, `${method} /api/v1/drafts${route}?project=a`, { headers, ...(body !== undefined && { body }) });
};

describe('drafts', () => {
  it('[SRV-1010] are saved for workflows that need not exist, and may be broken', async () => {
    const text = 'id: [half # \u{1f680}\n';
    const made = await call('ada', 'PUT /new-one', { text, baseVersion: null });
    expect([made.status, made.json]).toMatchObject([
      201,
      { workflowId: 'new-one', project: 'a', format: 'yaml', baseVersion: null, revision: expect.any(Number) },
    ]);
    const read = await call('ada', 'GET /new-one');
    expect(read.json).toEqual({ ...made.json, text });
    expect(read.headers['etag']).toBe(`"${made.json.revision}"`);
    expect((await call('ada', 'PUT /new-one', { text: 'id: x', baseVersion: 3, format: 'json' })).status).toBe(200);
    expect((await call('ada', 'GET /new-one')).json).toMatchObject({ text: 'id: x', baseVersion: 3, format: 'json' });
    expect((await call('ada', 'GET /')).json.items).toMatchObject([{ workflowId: 'new-one' }]);
    expect((await call('ada', 'GET /')).text).not.toContain('id: x');
    expect((await call('ada', 'DELETE /new-one')).status).toBe(204);
    expect((await call('ada', 'GET /new-one')).json.code).toBe('UNKNOWN_DRAFT');
    expect((await call('ada', 'DELETE /new-one')).json.code).toBe('UNKNOWN_DRAFT');
  });

  it('[SRV-1010] are seen by their own user alone, and written by editors', async () => {
    await call('ada', 'PUT /mine', { text: 'secret idea' });
    for (const other of ['bob', 'root']) {
      expect((await call(other, 'GET /mine')).status).toBe(404);
      expect((await call(other, 'GET /')).json.items).toEqual([]);
      expect((await call(other, 'DELETE /mine')).status).toBe(404);
    }
    for (const line of ['GET /mine', 'GET /', 'DELETE /mine']) expect((await call('viewer', line)).status).toBe(403);
    expect((await call('viewer', 'PUT /mine', { text: 'x' })).status).toBe(403);
    const named = await ask(booted, 'POST /api/v1/keys', {
      headers: headersOf['ada'] as Headers,
      body: { name: 'k', roles: { a: 'editor' } },
    });
    headersOf['key of ada'] = { authorization: `Bearer ${named.json.token}` };
    expect((await call('key of ada', 'GET /mine')).json.text).toBe('secret idea');
    expect((await ask(booted, 'GET /api/v1/drafts/mine', { headers: headersOf['ada'] as Headers })).status).toBe(404);
  });

  it('[SRV-1011] two tabs do not overwrite each other', async () => {
    const none = { 'if-match': '"0"' };
    const first = await call('ada', 'PUT /tabs', { text: '1' }, none);
    expect(first.status).toBe(201);
    expect((await call('ada', 'PUT /tabs', { text: 'other tab' }, none)).status).toBe(412);
    const seen = { 'if-match': `"${first.json.revision}"` };
    const second = await call('ada', 'PUT /tabs', { text: '2' }, seen);
    expect(second.status).toBe(200);
    expect((await call('ada', 'PUT /tabs', { text: 'late' }, seen)).status).toBe(412);
    expect((await call('ada', 'DELETE /tabs', undefined, seen)).status).toBe(412);
    expect((await call('ada', 'GET /tabs')).json).toMatchObject({ text: '2', revision: second.json.revision });
  });

  it('[SRV-1012] are limited in size and number', async () => {
    expect((await call('many', 'PUT /long', { text: 'x'.repeat(256 * 1024 + 1) })).status).toBe(400);
    for (let index = 0; index < 200; index++) {
      expect((await call('many', `PUT /d${index}`, { text: 'x' })).status).toBe(201);
    }
    const refused = await call('many', 'PUT /one-more', { text: 'x' });
    expect([refused.status, refused.json.code]).toEqual([413, 'TOO_LARGE']);
    expect((await call('many', 'PUT /d7', { text: 'y' })).status).toBe(200);
    const page = await ask(booted, 'GET /api/v1/drafts?project=a&limit=150', { headers: headersOf['many'] as Headers });
    expect(page.json.items).toHaveLength(150);
    const rest = await ask(booted, `GET /api/v1/drafts?project=a&limit=150&cursor=${page.json.next}`, {
      headers: headersOf['many'] as Headers,
    });
    expect([rest.json.items.length, rest.json.next]).toEqual([50, null]);
  });

  it('[SRV-1012] go with their user, and 30 days after they were saved', async () => {
    await call('gone', 'PUT /left', { text: 'x' });
    await ask(booted, 'DELETE /api/v1/users/gone', { headers: headersOf['root'] as Headers });
    await addUser(booted, 'gone', { roles: { a: 'editor' } });
    headersOf['gone'] = await signIn(booted, 'gone');
    expect((await call('gone', 'GET /')).json.items).toEqual([]);
    await call('bob', 'PUT /old', { text: 'x' });
    aheadMs = 20 * DAY_MS;
    headersOf['bob'] = await signIn(booted, 'bob');
    await call('bob', 'PUT /old', { text: 'y' });
    aheadMs = 49 * DAY_MS;
    headersOf['bob'] = await signIn(booted, 'bob');
    expect((await call('bob', 'GET /old')).json.text).toBe('y');
    aheadMs = 51 * DAY_MS;
    headersOf['bob'] = await signIn(booted, 'bob');
    expect((await call('bob', 'GET /old')).status).toBe(404);
  });
});
