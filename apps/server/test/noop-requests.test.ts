/** Requests that could change nothing, or mean two things. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Booted, boot, TOKEN } from './support/boot.ts';
import { ask } from './support/users.ts';
import { echo, failing, waiting } from './support/workflows.ts';

const headers = { authorization: `Bearer ${TOKEN}` };
let booted: Booted;
beforeAll(async () => {
  booted = await boot();
  for (const definition of [echo(), failing(), waiting()]) {
    await booted.client.call('registerWorkflow', { body: { definition } });
  }
});
afterAll(() => booted.close());

const post = (path: string, body: object) => ask(booted, `POST /api/v1/${path}`, { headers, body });
const ended = async (workflowId: string): Promise<string> => {
  const run = await booted.client.start(workflowId);
  await run.result();
  return run.executionId;
};

describe('a run that has ended', () => {
  it('[SRV-402] is not cancelled, paused, resumed or signalled, and one that completed not retried', async () => {
    const id = await ended('echo');
    const codes: unknown[] = [];
    for (const change of ['cancel', 'pause', 'resume', 'retry']) {
      codes.push((await post(`executions/${id}/${change}`, {})).json.code);
    }
    const signal = await post(`executions/${id}/signal`, { signal: 'go' });
    expect(codes).toEqual(['ALREADY_FINISHED', 'ALREADY_FINISHED', 'ALREADY_FINISHED', 'NOTHING_TO_RETRY']);
    expect([signal.status, signal.json.code]).toEqual([409, 'ALREADY_FINISHED']);
    const many = await post('executions/bulk', { operation: 'cancel', ids: [id] });
    expect(many.json).toMatchObject({ done: 0, failed: [{ executionId: id, code: 'ALREADY_FINISHED' }] });
    const found = await post('executions/bulk', { operation: 'cancel', filter: { workflowId: 'echo' } });
    expect(found.json).toEqual({ done: 0, failed: [], more: false });
  });

  it('[SRV-402] a failed run is retried; a running one is not', async () => {
    expect((await post(`executions/${await ended('failing')}/retry`, {})).status).toBe(202);
    const { executionId } = await booted.client.start('waiting');
    expect((await post(`executions/${executionId}/retry`, {})).json.code).toBe('NOT_FINISHED');
  });

  it('[SRV-402] accepts a request that follows a pending one', async () => {
    const id = await ended('failing');
    const { store, clock } = booted.parts;
    const { inbox } = store;
    const body = JSON.stringify({ type: 'retry' });
    store.inbox = async () => [{ messageId: 'm', executionId: id, body, at: clock.now() }] as never;
    expect((await post(`executions/${id}/pause`, {})).status).toBe(202);
    store.inbox = inbox;
  });
});

describe('a start', () => {
  it('[SRV-403] names a workflow or a launch plan, and not both', async () => {
    await booted.client.call('putLaunchPlan', { params: { planId: 'p' }, body: { workflowId: 'echo' } });
    for (const beside of [{ workflowId: 'waiting' }, { version: 1 }]) {
      const { status, json } = await post('executions', { plan: 'p', ...beside });
      expect([status, json.code]).toEqual([400, 'BODY_INVALID']);
      expect(json.errors).toEqual([{ pointer: `/${Object.keys(beside)[0]}`, detail: 'does not go with a plan' }]);
    }
  });
});
