/** A project that is deleted leaves nothing to the next project of its name. */
import type { Json } from '@nebula/core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PROJECT_LIMITS } from '../src/limits.ts';
import { indexChange } from '../src/records.ts';
import { type Booted, boot } from './support/boot.ts';
import { addUser, ask, type Headers, signIn } from './support/users.ts';
import { echo } from './support/workflows.ts';

let booted: Booted;
let root: Headers;
beforeEach(async () => {
  booted = await boot({ users: true });
  await addUser(booted, 'root', { admin: true });
  root = await signIn(booted, 'root');
});
afterEach(() => booted.close());

const admin = async (line: string, body?: unknown) => {
  const { status, json } = await ask(booted, line, { headers: root, ...(body !== undefined && { body }) });
  return { status, json };
};
const names = async (line: string, member: string): Promise<unknown[]> => {
  const { json } = await admin(line);
  return json.items.flatMap((one: Record<string, Json>) => (one['project'] === 'gamma' ? [one[member]] : []));
};
const belongings = async () => ({
  secrets: (await admin('GET /api/v1/secrets?project=gamma')).json.items,
  actions: await names('GET /api/v1/actions?limit=200', 'id'),
  workers: await names('GET /api/v1/workers', 'workerId'),
  schedules: await names('GET /api/v1/schedules', 'scheduleId'),
  ceiling: (await admin('GET /api/v1/projects')).json.items.find(
    (one: Json) => (one as { projectId: string }).projectId === 'gamma',
  )?.ceiling,
});

async function fill(): Promise<string> {
  await admin('PUT /api/v1/projects/gamma', { ceiling: { shell: ['echo'] } });
  await addUser(booted, 'old', { roles: { gamma: 'owner' } });
  const { json: key } = await ask(booted, 'POST /api/v1/keys', {
    headers: await signIn(booted, 'old'),
    body: { name: 'k', roles: { gamma: 'operator' } },
  });
  await admin('PUT /api/v1/secrets/api?project=gamma', { value: 'a secret of gamma' });
  await admin('POST /api/v1/workers', { workerId: 'w', project: 'gamma', actions: [{ id: 'ga.mma' }] });
  await admin('POST /api/v1/signals', { signal: 'go', payload: 'of the old team', project: 'gamma' });
  // A claimed id, for which a schedule can be put before it is registered.
  await booted.parts.records.commit([{ kind: 'workflow', id: 'ghost', body: '{"project":"gamma","active":null}' }]);
  await admin('PUT /api/v1/schedules/s', { workflowId: 'ghost', every: '1h' });
  return key.token;
}

it('[SRV-729] secrets, announced actions, workers, schedules, signals and roles go with their project', async () => {
  const token = await fill();
  const before = await belongings();
  expect(before).toMatchObject({ secrets: [{ name: 'api' }], actions: ['ga.mma'], workers: ['w'], schedules: ['s'] });
  expect((await admin('DELETE /api/v1/projects/gamma')).status).toBe(204);
  const users = (await admin('GET /api/v1/users')).json.items as { userId: string; roles: object }[];
  expect(users.find(({ userId }) => userId === 'old')?.roles).toEqual({});
  expect((await admin('PUT /api/v1/projects/gamma', {})).status).toBe(201);
  expect(await belongings()).toEqual({ secrets: [], actions: [], workers: [], schedules: [], ceiling: {} });
  const node = { wait: { signal: 'go', deadline: '300ms' } };
  const definition = { id: 'takes', nodes: { a: node }, output: '{{ $a }}' };
  expect((await admin('POST /api/v1/workflows', { definition, project: 'gamma' })).status).toBe(201);
  const { json: run } = await admin('POST /api/v1/executions?wait=10s', { workflowId: 'takes' });
  expect(JSON.stringify(run)).not.toContain('old team');
  expect(run.ended).toBe(true);
  // The key of the old project has no role in the new one, also after its owner got one.
  await admin('PUT /api/v1/users/old', { roles: { gamma: 'viewer' } });
  const { json: me } = await ask(booted, 'GET /api/v1/me', { headers: { authorization: `Bearer ${token}` } });
  expect(me.roles).toEqual({});
});

it('[SRV-729] a new project begins empty, also where an earlier version left something', async () => {
  await fill();
  await booted.parts.records.commit([{ kind: 'project', id: 'gamma', body: null }]);
  expect((await admin('PUT /api/v1/projects/gamma', {})).status).toBe(201);
  expect(await belongings()).toMatchObject({ secrets: [], workers: [], schedules: [] });
});

it('[SRV-730] schedules of triggers count among those of their project', async () => {
  await admin('PUT /api/v1/projects/gamma', {});
  const most = PROJECT_LIMITS.maxSchedules;
  const others = Array.from({ length: most - 1 }, (_, at) => indexChange('schedule', 'gamma', `s${at}`, true));
  await booted.parts.records.commit(others);
  const register = (count: number) => {
    const triggers = Array.from({ length: count }, (_, at) => ({ interval: { every: `${at + 1}h` } }));
    return admin('POST /api/v1/workflows', { definition: echo('often', { triggers }), project: 'gamma' });
  };
  expect((await register(2)).json).toMatchObject({ code: 'TOO_LARGE', status: 413 });
  expect((await register(1)).status).toBe(201);
  expect((await admin('PUT /api/v1/schedules/more', { workflowId: 'often', every: '1h' })).status).toBe(413);
  // Triggers that are gone no longer count.
  expect((await admin('POST /api/v1/workflows/often/deactivate', {})).status).toBe(200);
  expect((await admin('PUT /api/v1/schedules/more', { workflowId: 'often', every: '1h' })).status).toBe(201);
  expect((await admin('DELETE /api/v1/schedules/more')).status).toBe(204);
  expect((await register(1)).status).toBe(200);
});
