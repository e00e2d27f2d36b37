/** The list of everything that waits for a person, in all runs. */
import { NebulaError } from '@nebula/core';
import { defineAction } from '@nebula/sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { type Booted, boot, memoryKeeping, sqliteKeeping } from './support/boot.ts';
import { addProject, addUser, ask, signIn } from './support/users.ts';
import { approval, callback, waiting } from './support/workflows.ts';

let booted: Booted | undefined;
let remove: (() => Promise<void>) | undefined;

afterEach(async () => {
  await booted?.close();
  await remove?.();
  booted = undefined;
  remove = undefined;
});

async function parked(
  { client }: Booted,
  definition: { readonly id: string; readonly nodes: object },
  input?: unknown,
): Promise<string> {
  await client.call('registerWorkflow', { body: { definition } });
  const { executionId } = await client.call('startExecution', { body: { workflowId: definition.id, input } });
  await client.call('awaitRest', { params: { executionId }, query: { wait: '5s' }, waitMs: 6_000 });
  return executionId;
}

const FORM = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };

const signOff = {
  id: 'sign-off',
  nodes: {
    ask: {
      wait: { approval: { title: 'Pay {{ $input.sum }}?', who: ['ada', 'bob'], form: FORM }, deadline: '2h' },
    },
  },
};

/** An action whose outcome is not known. */
const cutOff = defineAction({
  id: 'bank.pay',
  version: '1',
  effect: 'once',
  run: (): never => {
    throw new NebulaError('LOST', 'no answer', { details: { outcome: 'unknown' }, retryable: true });
  },
});

describe('human tasks', () => {
  test('[SRV-1050] approvals, signals and calls of all runs are in one list, with what is needed to do them', async () => {
    const sqlite = await sqliteKeeping();
    remove = sqlite.remove;
    booted = await boot({ keeping: sqlite.keeping });
    const { client } = booted;
    const ids = [
      await parked(booted, signOff, { sum: 12 }),
      await parked(booted, waiting()),
      await parked(booted, callback()),
    ];
    const { items, next } = await client.call('listHumanTasks', {});
    expect(next).toBeNull();
    expect(items.map(({ executionId, kind }) => [executionId, kind])).toEqual([
      [ids[2], 'callback'],
      [ids[1], 'signal'],
      [ids[0], 'approval'],
    ]);
    expect(items[1]).toMatchObject({ signal: 'go', key: '', deadline: null, node: 'hold' });
    expect(items[2]).toMatchObject({
      workflowId: 'sign-off',
      project: 'default',
      node: 'ask',
      title: 'Pay 12?',
      who: ['ada', 'bob'],
      form: FORM,
      mayAnswer: true,
    });
    expect(Date.parse(items[2]?.deadline ?? '') - Date.parse(items[2]?.since ?? '')).toBe(7_200_000);
    expect(await client.call('countHumanTasks', {})).toEqual({
      counts: { approval: 1, unknown: 0, signal: 1, callback: 1 },
      total: 3,
    });
    const byDeadline = await client.call('listHumanTasks', { query: { order: 'deadline', limit: 1 } });
    expect(byDeadline.items[0]?.executionId).toBe(ids[0]);
    const rest = await client.call('listHumanTasks', {
      query: { order: 'deadline', cursor: byDeadline.next ?? '', kind: 'signal,callback' },
    });
    expect(rest.items).toHaveLength(2);
    const ofWorkflow = await client.call('listHumanTasks', { query: { workflowId: 'waiting' } });
    expect(ofWorkflow.items.map(({ executionId }) => executionId)).toEqual([ids[1]]);
    await expect(client.call('listHumanTasks', { query: { kind: 'nonsense' } })).rejects.toMatchObject({
      code: 'QUERY_INVALID',
    });
  });

  test('[SRV-1051] a task leaves the list when it is done, cancelled or timed out, and comes back with a retry', async () => {
    booted = await boot();
    const { client } = booted;
    const count = async () => (await client.call('countHumanTasks', {})).total;
    const answered = await parked(booted, approval());
    const cancelled = await parked(booted, waiting());
    const late = await parked(booted, {
      id: 'late',
      nodes: { ask: { wait: { approval: { title: 'Soon?' }, deadline: '50ms' } } },
    });
    await client.call('getResult', { params: { executionId: late }, query: { wait: '5s' }, waitMs: 6_000 });
    expect(await count()).toBe(2);
    await client.call('answerApproval', { params: { executionId: answered }, body: { node: 'ask', approved: false } });
    await client.call('cancelExecution', { params: { executionId: cancelled }, body: {} });
    for (const executionId of [answered, cancelled]) {
      await client.call('getResult', { params: { executionId }, query: { wait: '5s' }, waitMs: 6_000 });
    }
    expect(await count()).toBe(0);
    await client.call('retryExecution', { params: { executionId: answered }, body: {} });
    await expect.poll(count).toBe(1);
  });

  test('[SRV-1051] a pause moves the deadline of a task', async () => {
    booted = await boot();
    const { client } = booted;
    const params = { executionId: await parked(booted, signOff, { sum: 1 }) };
    const deadline = async () => (await client.call('listHumanTasks', {})).items[0]?.deadline ?? '';
    const before = await deadline();
    const isPaused = async () => (await client.call('getExecution', { params })).status === 'paused';
    await client.call('pauseExecution', { params, body: {} });
    await expect.poll(isPaused).toBe(true);
    await client.call('resumeExecution', { params });
    await expect.poll(isPaused).toBe(false);
    expect(Date.parse(await deadline())).toBeGreaterThan(Date.parse(before));
    const document = await client.call('getExecution', { params });
    expect(document.nodes['ask']).toMatchObject({ waitsFor: { deadline: await deadline() } });
  });

  test('[SRV-1052] an unknown outcome is a task until it is settled', async () => {
    booted = await boot({ actions: [cutOff] });
    const { client } = booted;
    const executionId = await parked(booted, { id: 'pay', nodes: { pay: { action: 'bank.pay' } } });
    const { items } = await client.call('listHumanTasks', { query: { kind: 'unknown' } });
    expect(items).toMatchObject([
      { executionId, node: 'pay', kind: 'unknown', attempt: 1, event: '', error: { code: 'LOST' } },
    ]);
    const params = { executionId };
    await client.call('settleNode', { params, body: { node: 'pay', happened: true, output: {} } });
    await client.call('getResult', { params, query: { wait: '5s' }, waitMs: 6_000 });
    expect((await client.call('countHumanTasks', {})).total).toBe(0);
  });

  test('[SRV-1053] people see the tasks of their projects, and whether they may do them', async () => {
    booted = await boot({ users: true, ceiling: 'all' });
    for (const project of ['sales', 'stock']) await addProject(booted, project);
    await addUser(booted, 'root', { admin: true });
    await addUser(booted, 'ada', { roles: { sales: 'operator' } });
    await addUser(booted, 'eve', { roles: { sales: 'viewer', default: 'viewer' } });
    await addUser(booted, 'out', { roles: { stock: 'operator' } });
    const root = await signIn(booted, 'root');
    for (const [project, id] of [
      ['sales', 'a'],
      ['stock', 'b'],
    ]) {
      const definition = { ...approval(id, project === 'sales' ? ['ada'] : undefined) };
      await ask(booted, 'POST /api/v1/workflows', { headers: root, body: { definition, project } });
      await ask(booted, 'POST /api/v1/executions', { headers: root, body: { workflowId: id } });
    }
    const list = async (user: string, query = '') => {
      const answer = await ask(booted as Booted, `GET /api/v1/human-tasks${query}`, {
        headers: await signIn(booted as Booted, user),
      });
      return answer.json.items?.map((one: { workflowId: string; mayAnswer: boolean }) => [
        one.workflowId,
        one.mayAnswer,
      ]);
    };
    await expect
      .poll(() => list('root'))
      .toEqual([
        ['b', true],
        ['a', true],
      ]);
    expect(await list('ada')).toEqual([['a', true]]);
    expect(await list('eve')).toEqual([['a', false]]);
    expect(await list('out')).toEqual([['b', true]]);
    const foreign = await ask(booted, 'GET /api/v1/human-tasks?project=sales', {
      headers: await signIn(booted, 'out'),
    });
    expect(foreign.status).toBe(404);
  });

  test('[SRV-1054] runs of earlier versions that wait already appear after the start of a server', async () => {
    const keeping = memoryKeeping();
    const first = await boot({ keeping });
    const executionId = await parked(first, approval());
    await first.close();
    // As in data of an earlier version: the run waits, and the store knows no task of it.
    await keeping.store.saveHumanTasks(
      executionId,
      (await keeping.store.heads([executionId])).get(executionId) ?? 0,
      [],
    );
    const untasked = [executionId, 'exe_gone'];
    const store = {
      ...keeping.store,
      untaskedExecutions: async () => [...untasked],
      saveHumanTasks: async (...given: Parameters<typeof keeping.store.saveHumanTasks>) => {
        untasked.splice(0, untasked.length);
        return keeping.store.saveHumanTasks(...given);
      },
    };
    booted = await boot({ keeping: { ...keeping, store } });
    const { client } = booted;
    await expect
      .poll(async () => (await client.call('listHumanTasks', {})).items)
      .toMatchObject([{ executionId, node: 'ask', kind: 'approval', title: 'May it?' }]);
  });
});
