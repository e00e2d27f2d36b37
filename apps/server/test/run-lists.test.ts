/** Lists of runs with their trigger, start, error and parent; figures of runs by time. */
import { afterEach, describe, expect, test } from 'vitest';
import { type Booted, boot, sqliteKeeping } from './support/boot.ts';
import { addProject, addUser, ask, signIn } from './support/users.ts';
import { echo, failing, waiting } from './support/workflows.ts';

let booted: Booted | undefined;
let remove: (() => Promise<void>) | undefined;

afterEach(async () => {
  await booted?.close();
  await remove?.();
  booted = undefined;
  remove = undefined;
});

async function bootSqlite(): Promise<Booted> {
  const sqlite = await sqliteKeeping();
  remove = sqlite.remove;
  booted = await boot({ keeping: sqlite.keeping });
  return booted;
}

async function ran(
  { client }: Booted,
  definition: { readonly id: string; readonly nodes: object },
  input?: unknown,
): Promise<string> {
  await client.call('registerWorkflow', { body: { definition } });
  const body = { workflowId: definition.id, input };
  return (await client.call('startExecution', { body, query: { wait: '5s' }, waitMs: 6_000 })).executionId;
}

const family = { id: 'family', nodes: { sub: { workflow: { id: 'echo', mode: 'child' } } } };

describe('lists of runs', () => {
  test('[SRV-1055] a run in a list has its trigger, start, duration, error and parent', async () => {
    const { client } = await bootSqlite();
    const own = booted as Booted;
    const message = 'x'.repeat(500);
    const failed = await ran(own, {
      id: 'failing',
      nodes: { break: { action: 'core.fail', with: { code: 'BROKEN', message } } },
    });
    await ran(own, echo());
    const parent = await ran(own, family);
    const { items } = await client.call('listExecutions', {});
    const summary = items.find(({ executionId }) => executionId === failed);
    expect(summary).toMatchObject({
      trigger: 'api',
      parent: null,
      error: { code: 'BROKEN', node: 'break', message: expect.stringMatching(/^x{200}$/) },
    });
    expect(summary?.startedAt).toBe(summary?.createdAt);
    expect(summary?.durationMs).toBe(Date.parse(summary?.finishedAt ?? '') - Date.parse(summary?.createdAt ?? ''));
    expect(items.find((one) => one.parent !== null)).toMatchObject({ trigger: 'workflow', parent, error: null });
  });

  test('[SRV-1056] lists filter by trigger, error code, parent, root and the beginning of an id, in both orders', async () => {
    const { client } = await bootSqlite();
    const own = booted as Booted;
    const failed = await ran(own, failing());
    const single = await ran(own, echo());
    const parent = await ran(own, family);
    const list = async (query: object) =>
      (await client.call('listExecutions', { query })).items.map(({ executionId }) => executionId);
    const [child] = await list({ parent });
    expect(child).toEqual(expect.any(String));
    expect(await list({ root: true })).toEqual([parent, single, failed]);
    expect(await list({ root: true, order: 'oldest' })).toEqual([failed, single, parent]);
    expect(await list({ trigger: 'workflow' })).toEqual([child]);
    expect(await list({ errorCode: 'BROKEN' })).toEqual([failed]);
    expect(await list({ errorCode: 'BROKEN', status: 'completed' })).toEqual([]);
    expect(await list({ search: failed.slice(0, -1) })).toEqual([failed]);
    expect(await list({ search: 'family' })).toEqual([parent]);
    expect(await list({ search: 'nobody' })).toEqual([]);
    await expect(client.call('listExecutions', { query: { trigger: '' } })).rejects.toMatchObject({
      code: 'QUERY_INVALID',
    });
  });

  test('[SRV-1057] statistics by time: starts, ends, failures, durations, backlog', async () => {
    const { client } = await bootSqlite();
    const own = booted as Booted;
    await ran(own, failing());
    await ran(own, echo());
    await client.call('registerWorkflow', { body: { definition: waiting() } });
    await client.call('startExecution', { body: { workflowId: 'waiting' } });
    const found = await client.call('getStatistics', { query: { bucket: '1h' } });
    expect([found.buckets.length, found.bucketMs, found.complete]).toEqual([24, 3_600_000, true]);
    expect(found.buckets.at(-1)).toMatchObject({
      starts: 3,
      ends: { completed: 1, failed: 1, cancelled: 0, 'timed-out': 0 },
      failures: 1,
      backlog: 1,
      duration: { p50: expect.any(Number), p95: expect.any(Number) },
    });
    expect(found.buckets[0]).toMatchObject({ starts: 0, backlog: 0, duration: null });
    const ofOne = await client.call('getStatistics', { query: { workflowId: 'echo' } });
    expect([ofOne.buckets.length, ofOne.buckets.at(-1)?.starts]).toEqual([100, 1]);
  });

  test('[SRV-1058] statistics refuse too many buckets, and a time that ends before it begins', async () => {
    booted = await boot();
    const refused = { code: 'QUERY_INVALID' };
    const { client } = booted;
    await expect(client.call('getStatistics', { query: { bucket: '1s' } })).rejects.toMatchObject(refused);
    await expect(client.call('getStatistics', { query: { bucket: '1ms' } })).rejects.toMatchObject(refused);
    await expect(client.call('getStatistics', { query: { bucket: 'soon' } })).rejects.toMatchObject(refused);
    const query = { since: '2030-01-02T00:00:00Z', until: '2030-01-01T00:00:00Z' };
    await expect(client.call('getStatistics', { query })).rejects.toMatchObject(refused);
  });

  test('[SRV-1058] statistics are of projects that the caller may see', async () => {
    booted = await boot({ users: true, ceiling: 'all' });
    for (const project of ['sales', 'stock']) await addProject(booted, project);
    await addUser(booted, 'ada', { roles: { sales: 'viewer' } });
    await addUser(booted, 'two', { roles: { sales: 'viewer', stock: 'viewer' } });
    const ada = await signIn(booted, 'ada');
    expect((await ask(booted, 'GET /api/v1/statistics', { headers: ada })).status).toBe(200);
    expect((await ask(booted, 'GET /api/v1/statistics?project=stock', { headers: ada })).status).toBe(404);
    const two = await signIn(booted, 'two');
    expect((await ask(booted, 'GET /api/v1/statistics', { headers: two })).status).toBe(400);
  });
});
