/** All triggers in one list, with the next fires of schedules. */
import { afterEach, expect, test } from 'vitest';
import { type Booted, boot } from '../support/boot.ts';
import { addProject, addUser, ask, signIn } from '../support/users.ts';
import { echo } from '../support/workflows.ts';

let booted: Booted | undefined;

afterEach(async () => {
  await booted?.close();
  booted = undefined;
});

const triggers = [
  { schedule: { cron: '0 6 * * *', timezone: 'UTC' } },
  { webhook: { path: '/orders' } },
  { event: { name: 'order "placed"' } },
];

test('[SRV-1067] the triggers of active workflows and the schedules of the API are one list, with next fires', async () => {
  booted = await boot();
  const { client } = booted;
  const definition = echo('active', { triggers });
  await client.call('registerWorkflow', { body: { definition } });
  await client.call('deactivateWorkflow', { params: { workflowId: 'active' } });
  expect((await client.call('listTriggers', {})).items).toEqual([]);
  await client.call('activateWorkflow', { params: { workflowId: 'active' }, body: {} });
  await client.call('putSchedule', {
    params: { scheduleId: 'hourly' },
    body: { workflowId: 'active', every: '1h' },
  });
  const { items } = await client.call('listTriggers', { query: { fires: 3 } });
  expect(items.map(({ kind, id }) => [kind, id.slice(0, 7)])).toEqual([
    ['schedule', 'active-'],
    ['schedule', 'hourly'],
    ['webhook', 'POST /o'],
    ['event', '"order '],
  ]);
  const fires = items[0]?.nextFires?.map((at) => Date.parse(at)) ?? [];
  expect(fires).toHaveLength(3);
  expect(fires.map((at, index) => at - (fires[0] ?? 0) - index * 86_400_000)).toEqual([0, 0, 0]);
  expect(items[0]?.nextFires?.[0]).toMatch(/T06:00:00.000Z$/);
  expect(items[1]).toMatchObject({ every: '1h', version: null, active: true });
  expect(items[2]).toMatchObject({ method: 'POST', path: '/orders', workflowId: 'active', version: 1, signed: false });
  expect(items[3]).toMatchObject({ event: 'order "placed"' });
  const paged: string[] = [];
  for await (const one of client.all('listTriggers', { query: { limit: 1 } })) paged.push(one.id);
  expect(paged).toEqual(items.map(({ id }) => id));
  expect((await client.call('listTriggers', { query: { kind: 'webhook' } })).items).toHaveLength(1);
  expect((await client.call('listTriggers', { query: { workflowId: 'other' } })).items).toEqual([]);
  await expect(client.call('listTriggers', { query: { cursor: 'x' } })).rejects.toMatchObject({
    code: 'CURSOR_INVALID',
  });
});

test('[SRV-1068] schedules have as many next fires as are asked for', async () => {
  booted = await boot();
  const { client } = booted;
  await client.call('registerWorkflow', { body: { definition: echo() } });
  const params = { scheduleId: 'hourly' };
  await client.call('putSchedule', { params, body: { workflowId: 'echo', every: '1h' } });
  const { nextFires = [], nextFireAt } = await client.call('getSchedule', { params, query: { fires: 4 } });
  expect([nextFires.length, nextFires[0]]).toEqual([4, nextFireAt]);
  expect((await client.call('listSchedules', { query: { fires: 2 } })).items[0]?.nextFires).toEqual(
    nextFires.slice(0, 2),
  );
  await client.call('putSchedule', { params, body: { workflowId: 'echo', every: '1h', active: false } });
  expect((await client.call('getSchedule', { params, query: { fires: 4 } })).nextFires).toEqual([]);
});

test('[SRV-1067] triggers of other projects are not shown', async () => {
  booted = await boot({ users: true, ceiling: 'all' });
  await addProject(booted, 'sales');
  await addUser(booted, 'root', { admin: true });
  await addUser(booted, 'ada', { roles: { sales: 'viewer' } });
  const root = await signIn(booted, 'root');
  await ask(booted, 'POST /api/v1/workflows', { headers: root, body: { definition: echo('own', { triggers }) } });
  await ask(booted, 'POST /api/v1/workflows/own/activate', { headers: root, body: {} });
  const list = async (user: string) =>
    (await ask(booted as Booted, 'GET /api/v1/triggers', { headers: await signIn(booted as Booted, user) })).json.items;
  expect(await list('root')).toHaveLength(3);
  expect(await list('ada')).toEqual([]);
});
