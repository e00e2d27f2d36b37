/** Runs are moved to another version of their workflow over the API. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Booted, boot, TOKEN } from './support/boot.ts';
import { ask } from './support/users.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
let booted: Booted;
beforeAll(async () => {
  booted = await boot();
});
afterAll(() => booted.close());

const register = (id: string, expression: string, more: object = {}) =>
  booted.client.call('registerWorkflow', {
    body: {
      definition: {
        id,
        nodes: {
          a: { action: 'core.set', with: { value: { right: 1 } } },
          b: { needs: ['a'], action: 'core.set', with: { value: `{{ ${expression} }}` } },
          ...more,
        },
      },
      activate: true,
    },
  });

async function failed(id: string): Promise<string> {
  await register(id, '$a.wrong');
  const run = await booted.client.start(id);
  await run.result().catch(() => undefined);
  return run.executionId;
}

const migrate = (executionId: string, body: object) =>
  ask(booted, `POST /api/v1/executions/${executionId}/migrate`, { headers, body });

const seen = (executionId: string, expected: object) =>
  vi.waitFor(async () =>
    expect(await booted.client.call('getExecution', { params: { executionId } })).toMatchObject(expected),
  );

describe('a run that is moved', () => {
  it('[SRV-760] says first what would change, then continues in the new version when it is retried', async () => {
    const id = await failed('one');
    await register('one', '$a.right');
    const dry = await migrate(id, { dryRun: true });
    expect([dry.status, dry.json]).toMatchObject([
      200,
      { accepted: false, from: 1, to: 2, changes: [{ node: 'b', change: 'changed', keys: ['with'] }], refusal: null },
    ]);
    expect((await migrate(id, {})).status).toBe(202);
    await seen(id, { version: 2, status: 'failed' });
    await booted.client.call('retryExecution', { params: { executionId: id }, body: {} });
    await seen(id, { status: 'completed', output: { b: 1 } });
  });

  it('[SRV-760, SRV-911] is refused with a reason, and unchanged', async () => {
    const id = await failed('two');
    expect((await migrate(id, {})).json).toMatchObject({ status: 409, code: 'SAME_VERSION' });
    expect((await migrate(id, { version: 7 })).json).toMatchObject({ status: 404, code: 'UNKNOWN_WORKFLOW' });
    expect((await migrate(id, { back: true })).json).toMatchObject({
      status: 409,
      code: 'NOT_MIGRATED',
      detail: `Execution ${id} was never migrated: it began with version 1.`,
    });
    await register('two', '$a.right', { a: { action: 'core.set', with: { value: { right: 2 } } } });
    expect((await migrate(id, {})).json).toMatchObject({ status: 409, code: 'DECISION_NEEDED' });
    expect((await migrate(id, { dryRun: true })).json).toMatchObject({
      refusal: { code: 'DECISION_NEEDED' },
      changes: [
        { node: 'a', choices: ['keep', 'again'] },
        { node: 'b', choices: [] },
      ],
    });
    expect((await migrate(id, { drop: ['a'] })).json).toMatchObject({ code: 'DECISION_INVALID' });
    expect((await migrate('exe_01k9zzzzzzzzzzzzzzzzzzzzzz', {})).status).toBe(404);
    await seen(id, { version: 1 });
    expect((await migrate(id, { again: ['a'] })).status).toBe(202);
    await seen(id, { version: 2 });
    expect((await migrate(id, { back: true })).json).toMatchObject({ from: 2, to: 1 });
    await seen(id, { version: 1, nodes: { a: { status: 'completed' } } });
  });

  it('[SRV-761] goes to the active version, not to a newer one that is not active', async () => {
    const id = await failed('three');
    await register('three', '$a.right');
    const definition = { id: 'three', nodes: { a: { action: 'core.set', with: { value: 5 } } } };
    await booted.client.call('registerWorkflow', { body: { definition, activate: false } });
    expect((await migrate(id, { dryRun: true })).json).toMatchObject({ to: 2 });
  });

  it('[SRV-762] is one of many: runs of other versions are left out', async () => {
    const ids = [await failed('many'), await failed('many')];
    await register('many', '$a.right');
    const [other] = [await booted.client.start('many')];
    await other?.result();
    const body = { operation: 'migrate', filter: { workflowId: 'many' }, migration: { from: 1 } };
    const answer = await ask(booted, 'POST /api/v1/executions/bulk', { headers, body });
    expect(answer.json).toEqual({ done: 2, failed: [], more: false });
    for (const id of ids) await seen(id, { version: 2, status: 'failed' });
    const named = { operation: 'migrate', ids, migration: { from: 1 } };
    const again = await ask(booted, 'POST /api/v1/executions/bulk', { headers, body: named });
    expect(again.json).toMatchObject({ done: 0, failed: [{ code: 'OTHER_VERSION' }, { code: 'OTHER_VERSION' }] });
  });
});
