import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { NebulaClient } from '@nebula/client';
import { afterEach, describe, expect, test } from 'vitest';
import { localApi } from '../src/local.ts';
import { type Booted, boot } from './support/boot.ts';

let booted: Booted | undefined;

afterEach(async () => {
  await booted?.close();
  booted = undefined;
});

const approval = { id: 'approval', nodes: { ask: { wait: { approval: { who: ['ann'], title: 'Ship it?' } } } } };
const keyed = {
  id: 'keyed',
  nodes: { hold: { wait: { signal: 'go' }, concurrency: { key: 'one', limit: 1 } } },
};

async function started({ client }: Booted, definition: { readonly id: string }): Promise<string> {
  await client.call('registerWorkflow', { body: { definition } });
  return (await client.start(definition.id)).executionId;
}

describe('rest', () => {
  test('[SRV-91] a run that waits for a person, and then has ended', async () => {
    booted = await boot();
    const { client, parts } = booted;
    const executionId = await started(booted, approval);
    const rest = (wait: string) =>
      client.call('awaitRest', { params: { executionId }, query: { wait }, waitMs: 5_000 });
    expect(await rest('5s')).toMatchObject({
      settled: true,
      parked: true,
      waitingFor: expect.any(Array),
      inside: [],
    });
    let asked = 0;
    const { waitFor } = parts.engine;
    parts.engine.waitFor = (...waiting) => {
      asked++;
      return waitFor.call(parts.engine, ...waiting);
    };
    await client.call('answerApproval', { params: { executionId }, body: { node: 'ask', approved: true, by: 'ann' } });
    const [first, second] = await Promise.all([rest('5s'), rest('5s')]);
    expect([first, second]).toMatchObject([
      { settled: true, parked: false },
      { settled: true, parked: false },
    ]);
    expect(asked).toBeLessThanOrEqual(2);
    await expect(client.call('awaitRest', { params: { executionId: 'exe_unknown' } })).rejects.toMatchObject({
      code: 'UNKNOWN_EXECUTION',
    });
  });

  test('[SRV-92] lists the holders of a key, and its waiters', async () => {
    booted = await boot();
    const { client } = booted;
    const first = await started(booted, keyed);
    const second = await started(booted, keyed);
    const params = { executionId: second };
    const none = await client.call('listPermits', { params, query: { key: 'nobody' } });
    expect(none).toEqual({ items: [] });
    await expect
      .poll(async () => (await client.call('listPermits', { params, query: { key: 'one' } })).items)
      .toEqual([
        { executionId: first, node: 'hold', isHeld: true },
        { executionId: second, node: 'hold', isHeld: false },
      ]);
  });

  test('[SRV-680] a run that waits for a permit rests when the holder does', async () => {
    booted = await boot();
    const { client } = booted;
    const first = await started(booted, keyed);
    const second = await started(booted, keyed);
    const rest = (executionId: string) =>
      client.call('awaitRest', { params: { executionId }, query: { wait: '20s' }, waitMs: 20_000 });
    expect(await rest(second)).toMatchObject({
      settled: true,
      parked: true,
      execution: { executionId: second, status: 'running' },
    });
    await client.call('cancelExecution', { params: { executionId: first }, body: {} });
    expect(await rest(first)).toMatchObject({ parked: false, execution: { status: 'cancelled' } });
  });

  test('[SRV-681] workflows are found by tag; a check lists the possible grants', async () => {
    booted = await boot();
    const { client } = booted;
    for (const definition of [
      { id: 'one', tags: ['a'], nodes: {} },
      { id: 'two', tags: ['a', 'b'], nodes: {} },
    ]) {
      await client.call('registerWorkflow', { body: { definition } });
    }
    const tagged = async (tag: string) =>
      (await client.call('listWorkflows', { query: { tag, limit: 1 } })).items.map(({ workflowId }) => workflowId);
    expect([await tagged('a'), await tagged('b'), await tagged('c')]).toEqual([['one'], ['two'], []]);
    const definition = { id: 'three', nodes: {} };
    expect(await client.call('validateWorkflow', { body: { definition } })).toMatchObject({ ceiling: 'all' });
  });

  test('[SRV-751] all versions are counted, also when the first one is registered again', async () => {
    booted = await boot();
    const { client } = booted;
    for (const description of ['first', 'second', 'first']) {
      await client.call('registerWorkflow', { body: { definition: { id: 'one', description, nodes: {} } } });
    }
    const counted = { workflowId: 'one', newestVersion: 1, versions: 2, description: 'first' };
    expect(await client.call('getWorkflow', { params: { workflowId: 'one' } })).toMatchObject(counted);
    expect((await client.call('listWorkflows', {})).items).toMatchObject([counted]);
  });

  test('[SRV-682] without its own engine, a wait ends by the state in the store', async () => {
    booted = await boot();
    const executionId = await started(booted, approval);
    const beside = new NebulaClient(localApi(booted.parts, undefined, () => undefined).transport);
    const result = (wait: string) => beside.call('getResult', { params: { executionId }, query: { wait } });
    expect(await result('100ms')).toMatchObject({ ended: false });
    const waiting = result('20s');
    await beside.call('cancelExecution', { params: { executionId }, body: {} });
    // The engine gets no hint of a request of another process: it finds it by itself.
    expect(await waiting).toMatchObject({ ended: true, status: 'cancelled' });
  });

  test('[SRV-93] only an administrator answers for others', async () => {
    booted = await boot();
    const { client } = booted;
    const executionId = await started(booted, approval);
    const answer = (by: string) =>
      client.call('answerApproval', { params: { executionId }, body: { node: 'ask', approved: true, by } });
    await expect(answer('bob')).rejects.toMatchObject({ code: 'NOT_ALLOWED' });
    expect(await answer('ann')).toMatchObject({ accepted: true });
  });

  test('[SRV-94] a workflow inside another one is found where it is registered', async () => {
    booted = await boot();
    const { client } = booted;
    const outer = { id: 'outer', nodes: { sub: { workflow: { id: 'inner', mode: 'inline' } } } };
    await expect(client.call('registerWorkflow', { body: { definition: outer } })).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
    });
    await client.call('registerWorkflow', { body: { definition: { id: 'inner', nodes: {}, output: 'deep' } } });
    expect(await client.call('validateWorkflow', { body: { definition: outer } })).toMatchObject({ valid: true });
    expect(await client.call('registerWorkflow', { body: { source: JSON.stringify(outer) } })).toMatchObject({
      version: 1,
    });
  });

  test('[SRV-95] without HTTP: requests are checked, and operations that need a server are refused', async () => {
    booted = await boot();
    const { parts, server } = booted;
    const local = localApi(parts, undefined, () => undefined);
    const localClient = new NebulaClient(local.transport);
    await localClient.call('registerWorkflow', { body: { definition: approval } });
    expect(await localClient.call('getWorkflow', { params: { workflowId: 'approval' } })).toMatchObject({
      activeVersion: 1,
    });
    await expect(
      localClient.call('putUser', { params: { userId: 'ann' }, body: { password: 'short' } }),
    ).rejects.toMatchObject({
      code: 'BODY_INVALID',
    });
    await expect(localClient.call('startExecution', { body: { workflowId: 'approval' } })).rejects.toMatchObject({
      code: 'NEEDS_SERVER',
    });
    await expect(local.transport.as('ann')).rejects.toMatchObject({ code: 'UNKNOWN_USER' });
    expect(
      await new NebulaClient(server.direct).call('startExecution', { body: { workflowId: 'approval' } }),
    ).toMatchObject({
      ended: false,
    });
  });

  test('[SRV-95] a port that is taken leaves nothing running', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    await expect(boot({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    taken.close();
  });
});
