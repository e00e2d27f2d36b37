import { realClock } from '@nebula/drivers/real';
import { afterEach, describe, expect, it } from 'vitest';
import { type Booted, boot, memoryKeeping, TOKEN } from './support/boot.ts';

let booted: Booted | undefined;

afterEach(async () => {
  await booted?.close();
  booted = undefined;
});

interface Session {
  readonly status: number;
  readonly cookie: string;
  readonly csrfToken: string;
}

async function askToSignIn(url: string, code: string, headers: Readonly<Record<string, string>>): Promise<Response> {
  return await fetch(`${url}/api/v1/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ code }),
  });
}

async function signIn({ server }: Booted, code: string): Promise<Session> {
  const response = await askToSignIn(server.url, code, {});
  const { csrfToken = '' } = (await response.json()) as { readonly csrfToken?: string };
  const cookie = response.headers.get('set-cookie') ?? '';
  return { status: response.status, cookie: cookie.slice(0, cookie.indexOf(';')), csrfToken };
}

const codeOf = async ({ client }: Booted): Promise<string> => (await client.call('createSignInCode', {})).code;

async function me({ server }: Booted, headers: Record<string, string>): Promise<unknown> {
  return await (await fetch(`${server.url}/api/v1/me`, { headers })).json();
}

describe('a browser at a desktop server', () => {
  it('[SRV-915] signs in with a code of the owner, and is the owner', async () => {
    booted = await boot();
    const { status, cookie, csrfToken } = await signIn(booted, await codeOf(booted));
    expect(status).toBe(200);
    expect(cookie).toMatch(new RegExp(`^nebula_session_${new URL(booted.server.url).port}=`));
    expect(await me(booted, { cookie })).toMatchObject({ user: 'owner', kind: 'token', admin: true, csrfToken });
  });

  it('[SRV-915] needs the token of its session for changes', async () => {
    booted = await boot();
    const { cookie, csrfToken } = await signIn(booted, await codeOf(booted));
    const change = (headers: Record<string, string>) =>
      fetch(`${booted?.server.url}/api/v1/sign-in-codes`, { method: 'POST', headers: { cookie, ...headers } });
    expect((await change({})).status).toBe(403);
    expect((await change({ 'x-csrf-token': csrfToken })).status).toBe(201);
  });

  it('[SRV-916] a code works once, also for two browsers at once', async () => {
    booted = await boot();
    const code = await codeOf(booted);
    const both = await Promise.all([signIn(booted, code), signIn(booted, code)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect((await signIn(booted, 'guessed')).status).toBe(401);
  });

  it('[SRV-916] only the owner creates codes', async () => {
    booted = await boot();
    const response = await fetch(`${booted.server.url}/api/v1/sign-in-codes`, { method: 'POST' });
    expect(response.status).toBe(401);
  });

  it('[SRV-917] is signed out by logout, and by another token of the server', async () => {
    const keeping = memoryKeeping();
    booted = await boot({ keeping });
    const first = await signIn(booted, await codeOf(booted));
    const second = await signIn(booted, await codeOf(booted));
    await fetch(`${booted.server.url}/api/v1/logout`, {
      method: 'POST',
      headers: { cookie: first.cookie, 'x-csrf-token': first.csrfToken },
    });
    expect(await me(booted, { cookie: first.cookie })).toMatchObject({ code: 'NOT_SIGNED_IN' });
    expect(await me(booted, { cookie: second.cookie })).toMatchObject({ user: 'owner' });
    const { port } = new URL(booted.server.url);
    await booted.close();
    booted = await boot({ keeping, port: Number(port), token: `${TOKEN}-another` });
    expect(await me(booted, { cookie: second.cookie })).toMatchObject({ code: 'NOT_SIGNED_IN' });
  });

  it('[SRV-918] a server with users has no codes', async () => {
    booted = await boot({ users: true });
    expect((await signIn(booted, 'guessed')).status).toBe(409);
  });

  it('[SRV-916] a code expires', async () => {
    const start = Date.now();
    let nowMs = start;
    const clock = { ...realClock, now: () => nowMs };
    booted = await boot({ clock, keeping: memoryKeeping(clock) });
    const code = await codeOf(booted);
    nowMs = start + 10 * 60_000 + 1;
    expect((await signIn(booted, code)).status).toBe(401);
  });

  it('[SRV-1166] is not signed in by a page of another origin', async () => {
    booted = await boot({ app: { origins: ['https://ours.example'] } });
    const { url } = booted.server;
    const statusFor = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await askToSignIn(url, await codeOf(booted as Booted), headers)).status;
    expect(await statusFor({ origin: 'https://evil.example' })).toBe(403);
    expect(await statusFor({ origin: 'http://127.0.0.1:1' })).toBe(403);
    expect(await statusFor({ origin: 'null' })).toBe(403);
    expect(await statusFor({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await statusFor({ 'sec-fetch-site': 'same-site', origin: url })).toBe(403);
    expect(await statusFor({ 'sec-fetch-site': 'same-origin', origin: url })).toBe(200);
    expect(await statusFor({ 'sec-fetch-site': 'cross-site', origin: 'https://ours.example' })).toBe(200);
    expect(await statusFor({ origin: url })).toBe(200);
  });

  it('[SRV-1167] wrong codes are audited and limited; a right one is accepted nevertheless', async () => {
    booted = await boot();
    const code = await codeOf(booted);
    const statuses: number[] = [];
    for (let tried = 0; tried < 10; tried++) statuses.push((await signIn(booted, `guess ${tried}`)).status);
    expect(statuses).toEqual([...Array<number>(8).fill(401), 429, 429]);
    expect((await signIn(booted, code)).status).toBe(200);
    const { items } = await booted.client.call('listAudit', {});
    const entries = items.filter(({ operation }) => operation === 'signIn');
    expect(entries).toHaveLength(9);
    expect(entries[0]).toMatchObject({ who: 'owner', outcome: 200, details: { kind: 'token' } });
    expect(entries[1]).toMatchObject({ who: 'nobody', outcome: 401 });
    expect(JSON.stringify(items)).not.toContain(code);
  });

  it('[SRV-1168] stays signed in over a restart, under the name of the host that it used', async () => {
    const keeping = memoryKeeping();
    booted = await boot({ keeping });
    const { port } = new URL(booted.server.url);
    const there = `http://localhost:${port}`;
    const response = await askToSignIn(there, await codeOf(booted), {});
    const [cookie = '', ...flags] = (response.headers.get('set-cookie') ?? '').split('; ');
    expect(flags.toSorted()).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Strict']);
    await booted.close();
    booted = await boot({ keeping, port: Number(port) });
    expect(await (await fetch(`${there}/api/v1/me`, { headers: { cookie } })).json()).toMatchObject({ user: 'owner' });
  });
});
