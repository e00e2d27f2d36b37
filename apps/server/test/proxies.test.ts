/** The client address that a proxy reports. */
import { afterEach, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from './support/boot.ts';
import { addUser, ask, PASSWORD } from './support/users.ts';

let booted: Booted | undefined;
afterEach(async () => {
  await booted?.close();
  booted = undefined;
});

const FORWARDED = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };

/** The cookie, and where the audit log says that it was asked from. */
async function signedIn(trustProxy: readonly string[]): Promise<{ cookie: string; ip: string }> {
  booted = await boot({ users: true, app: { trustProxy } });
  await addUser(booted, 'ann', { admin: true });
  const body = { user: 'ann', password: PASSWORD };
  const login = await ask(booted, 'POST /api/v1/login', { headers: FORWARDED, body });
  const cookie = String(login.headers['set-cookie']);
  const headers = { cookie: cookie.split(';')[0] as string, 'x-csrf-token': login.json.csrfToken, ...FORWARDED };
  await ask(booted, 'PUT /api/v1/projects/p', { headers, body: { name: 'P' } });
  const audit = await ask(booted, 'GET /api/v1/audit?limit=1', { headers });
  return { cookie, ip: audit.json.items[0].details.ip };
}

it('[SRV-344] a trusted proxy names the caller and its protocol', async () => {
  const { cookie, ip } = await signedIn(['10.0.0.0/8', 'loopback']);
  expect(ip).toBe('203.0.113.9');
  expect(cookie).toContain('; Secure');
});

it.each([[[]], [['10.0.0.0/8']]])('[SRV-344] other addresses are not trusted: %j', async (trustProxy) => {
  const { cookie, ip } = await signedIn(trustProxy);
  expect(ip).toBe('127.0.0.1');
  expect(cookie).not.toContain('Secure');
});

it('[SRV-344] a name that is forwarded is not the one under which the server is called', async () => {
  booted = await boot({ app: { trustProxy: ['loopback'], hosts: ['localhost'] } });
  const authorization = `Bearer ${TOKEN}`;
  const statusOf = async (host: string, forwarded: string): Promise<number> =>
    (await ask(booted as Booted, 'GET /api/v1/me', { headers: { authorization, host, 'x-forwarded-host': forwarded } }))
      .status;
  expect(await statusOf('evil.example.com', 'localhost')).toBe(403);
  expect(await statusOf('localhost:7777', 'evil.example.com')).toBe(200);
});

it('[SRV-24] failed logins from one address do not lock out others', async () => {
  booted = await boot({ users: true, app: { trustProxy: ['loopback'] } });
  await addUser(booted, 'ann');
  const login = (ip: string, password: string) =>
    ask(booted as Booted, 'POST /api/v1/login', {
      headers: { 'x-forwarded-for': ip },
      body: { user: 'ann', password },
    });
  for (let round = 0; round < 9; round++) await login('203.0.113.9', 'a guess');
  expect((await login('203.0.113.9', PASSWORD)).status).toBe(429);
  expect((await login('198.51.100.7', PASSWORD)).status).toBe(200);
});
