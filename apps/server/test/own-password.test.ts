/** People change their own passwords; administrators see the engine of the server. */
import { afterEach, expect, test } from 'vitest';
import { type Booted, boot, TOKEN } from './support/boot.ts';
import { addUser, ask, PASSWORD, signIn } from './support/users.ts';
import { remote } from './support/workflows.ts';

let booted: Booted | undefined;

afterEach(async () => {
  await booted?.close();
  booted = undefined;
});

const NEW = 'another horse battery staple';

test('[SRV-1069] the own password is changed with the current one; other sessions end, and this one goes on', async () => {
  booted = await boot({ users: true });
  await addUser(booted, 'ada');
  const here = await signIn(booted, 'ada');
  const elsewhere = await signIn(booted, 'ada');
  const change = (headers: object, body: object) =>
    ask(booted as Booted, 'POST /api/v1/me/password', { headers: { ...headers }, body });
  expect((await change(here, { current: 'a wrong password', password: NEW })).json).toMatchObject({
    code: 'LOGIN_FAILED',
  });
  expect((await change(here, { current: PASSWORD, password: 'short' })).status).toBe(400);
  expect((await change({ cookie: here['cookie'] ?? '' }, { current: PASSWORD, password: NEW })).json.code).toBe('CSRF');
  expect((await change(here, { current: PASSWORD, password: NEW })).status).toBe(204);
  expect((await ask(booted, 'GET /api/v1/me', { headers: here })).status).toBe(200);
  expect((await ask(booted, 'GET /api/v1/me', { headers: elsewhere })).status).toBe(401);
  await expect(signIn(booted, 'ada')).rejects.toThrow('cannot sign in');
  await signIn(booted, 'ada', NEW);
  const log = await booted.parts.records.list('audit', { limit: 50 });
  expect(JSON.stringify(log)).not.toContain(NEW);
});

test('[SRV-1070] guesses of the current password are counted', async () => {
  booted = await boot({ users: true });
  await addUser(booted, 'ada');
  const headers = await signIn(booted, 'ada');
  const statuses: number[] = [];
  for (let guess = 0; guess < 9; guess++) {
    const body = { current: `guess ${guess}`, password: NEW };
    statuses.push((await ask(booted, 'POST /api/v1/me/password', { headers, body })).status);
  }
  expect(statuses.at(-1)).toBe(429);
  const body = { current: PASSWORD, password: NEW };
  expect((await ask(booted, 'POST /api/v1/me/password', { headers, body })).status).toBe(429);
});

test('[SRV-1070] a token has no password', async () => {
  booted = await boot();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const body = { current: PASSWORD, password: NEW };
  expect((await ask(booted, 'POST /api/v1/me/password', { headers, body })).status).toBe(403);
});

test("[SRV-1071] the fleet shows the server's own engine and the tasks that wait on each route", async () => {
  booted = await boot();
  const { client } = booted;
  await client.call('registerWorker', {
    body: { workerId: 'w', labels: ['far'], actions: [{ id: 'far.work', effect: 'idempotent' }] },
  });
  await client.call('registerWorkflow', {
    body: { definition: { ...remote(), nodes: { work: { action: 'far.work', labels: ['far'] } } } },
  });
  await client.call('startExecution', { body: { workflowId: 'remote' } });
  await expect.poll(async () => (await client.call('getFleet', {})).queue.routes).toMatchObject([{ waiting: 1 }]);
  const { engine, queue } = await client.call('getFleet', {});
  expect(engine).toMatchObject({ engineId: expect.stringMatching(/^wrk_/), running: 0, leases: 0 });
  expect(engine.slots).toBeGreaterThan(0);
  expect(queue.depth).toBe(1);
  await client.call('claimWork', { params: { workerId: 'w' }, body: { wait: '5s' }, waitMs: 6_000 });
  await expect.poll(async () => (await client.call('getFleet', {})).engine.leases).toBe(1);
});
