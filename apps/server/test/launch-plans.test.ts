import { ApiError } from '@nebula/client';
import type { Action } from '@nebula/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Booted, boot } from './support/boot.ts';

let booted: Booted;
afterEach(() => booted.close());

const gates: (() => void)[] = [];
const hang: Action = {
  id: 'hang',
  version: '1',
  effect: 'pure',
  run: (ctx) =>
    new Promise((resolve, reject) => {
      gates.push(() => resolve(null));
      ctx.signal.addEventListener('abort', () => reject(new Error('stopped')));
    }),
};

async function planned(policy: 'skip' | 'wait' | 'replace', limit = 1): Promise<void> {
  gates.length = 0;
  booted = await boot({ actions: [hang] });
  const { client } = booted;
  await client.call('registerWorkflow', { body: { definition: { id: 'w', nodes: { a: { action: 'hang@1' } } } } });
  await client.call('putLaunchPlan', {
    params: { planId: 'p' },
    body: { workflowId: 'w', concurrency: { limit, policy } },
  });
}

const start = async () => (await booted.client.call('startExecution', { body: { plan: 'p' } })).executionId;
const status = async (executionId: string) =>
  (await booted.client.call('getResult', { params: { executionId } })).status;
const becomes = (executionId: string, wanted: string) =>
  vi.waitFor(async () => expect(await status(executionId)).toBe(wanted), { timeout: 5_000 });

describe('a launch plan with a limit', () => {
  it('[SRV-300] skips a start beyond the limit, and names the running ones', async () => {
    await planned('skip', 2);
    const running = [await start(), await start()];
    const refusal = await start().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ApiError);
    expect(refusal).toMatchObject({ status: 409, code: 'SKIPPED', problem: { details: { running } } });
    gates[0]?.();
    await vi.waitFor(start);
  });

  it('[SRV-300] lets it wait, in order', async () => {
    await planned('wait');
    const ids = [await start(), await start(), await start()] as const;
    await becomes(ids[0], 'running');
    expect(await Promise.all(ids.map(status))).toEqual(['running', 'pending', 'pending']);
    await vi.waitFor(() => expect(gates).toHaveLength(1));
    gates[0]?.();
    await becomes(ids[1], 'running');
    expect(await Promise.all(ids.map(status))).toEqual(['completed', 'running', 'pending']);
  });

  it('[SRV-300] lets it take the place of the oldest', async () => {
    await planned('replace');
    const [first, second] = [await start(), await start()];
    await becomes(second, 'running');
    expect(await status(first)).toBe('cancelled');
  });

  it('[SRV-301] a skipped schedule causes no error, and continues', async () => {
    await planned('skip');
    await start();
    const { client } = booted;
    await client.call('putSchedule', { params: { scheduleId: 's' }, body: { plan: 'p', every: '1s' } });
    const fired = async () => (await client.call('getSchedule', { params: { scheduleId: 's' } })).lastFiredAt;
    await vi.waitFor(async () => expect(await fired()).not.toBeNull(), { timeout: 5_000, interval: 100 });
    expect((await client.call('listExecutions')).items).toHaveLength(1);
    gates[0]?.();
    await vi.waitFor(async () => expect((await client.call('listExecutions')).items).toHaveLength(2), {
      timeout: 5_000,
      interval: 100,
    });
    expect(booted.troubles).toEqual([]);
  });
});

describe('the inputs of a launch plan', () => {
  it('[SRV-413] fixed inputs are checked against the workflow when the plan is made; missing ones come with the start', async () => {
    booted = await boot();
    const { client } = booted;
    const input = {
      type: 'object',
      properties: { n: { type: 'number' }, who: { $ref: '#/$defs/name' } },
      required: ['n', 'who'],
      anyOf: [{ required: ['n'] }],
      additionalProperties: false,
      $defs: { name: { type: 'string' } },
    };
    const definition = { id: 'w', input, nodes: { a: { action: 'core.noop' } }, output: '{{ $input }}' };
    await client.call('registerWorkflow', { body: { definition } });
    const put = (body: object) =>
      client.call('putLaunchPlan', { params: { planId: 'p' }, body: { workflowId: 'w', ...body } });
    for (const body of [{ inputs: { n: 'one' } }, { fixed: { who: 5 } }, { inputs: { m: 1 } }]) {
      await expect(put(body)).rejects.toMatchObject({ status: 422, code: 'INPUT_INVALID' });
    }
    await put({ fixed: { who: 'Ann' } });
    const started = await client.call('startExecution', {
      body: { plan: 'p', input: { n: 1 } },
      query: { wait: '10s' },
    });
    expect(started.output).toEqual({ n: 1, who: 'Ann' });
  });
});

describe('a node that names a launch plan', () => {
  const echo: Action = { id: 'echo', version: '1', effect: 'pure', run: (_ctx, input) => input };
  const inner = { id: 'inner', nodes: { a: { action: 'echo@1' } }, output: '{{ $input }}' };
  const outer = (plan: string, input: object = {}) => ({
    id: `outer-${plan}`,
    nodes: { sub: { workflow: { plan, input } } },
    output: '{{ $sub }}',
  });
  const result = async (definition: { id: string }) => {
    await booted.client.call('registerWorkflow', { body: { definition } });
    return await booted.client.call('startExecution', { body: { workflowId: definition.id }, query: { wait: '10s' } });
  };

  it('[SRV-570] starts the plan with its inputs: fixed ones win, then those of the node, then the defaults', async () => {
    booted = await boot({ actions: [echo] });
    const { client } = booted;
    await client.call('registerWorkflow', { body: { definition: inner } });
    const inputs = { a: 'plan', b: 'plan' };
    await client.call('putLaunchPlan', {
      params: { planId: 'p' },
      body: { workflowId: 'inner', inputs, fixed: { c: 'plan' } },
    });
    const run = await result(outer('p', { b: 'node', c: 'node' }));
    expect(run).toMatchObject({ status: 'completed', output: { a: 'plan', b: 'node', c: 'plan' } });
    const { items } = await client.call('listExecutions', { query: { workflowId: 'inner' } });
    expect(items).toHaveLength(1);
  });

  it('[SRV-570] fails with the reason if the plan is missing, inactive, or of another project', async () => {
    booted = await boot({ actions: [echo] });
    const { client } = booted;
    await client.call('registerWorkflow', { body: { definition: inner } });
    await client.call('putLaunchPlan', { params: { planId: 'off' }, body: { workflowId: 'inner', active: false } });
    await client.call('putProject', { params: { projectId: 'other' }, body: { name: 'Other' } });
    const theirs = { ...inner, id: 'theirs' };
    await client.call('registerWorkflow', { body: { definition: theirs, project: 'other' } });
    await client.call('putLaunchPlan', { params: { planId: 'theirs' }, body: { workflowId: 'theirs' } });
    for (const [plan, code] of [
      ['none', 'UNKNOWN_PLAN'],
      ['off', 'PLAN_INACTIVE'],
      ['theirs', 'UNKNOWN_PLAN'],
    ] as const) {
      expect(await result(outer(plan))).toMatchObject({ status: 'failed', error: { code } });
    }
    expect((await client.call('listExecutions', { query: { workflowId: 'theirs' } })).items).toEqual([]);
  });

  it('[SRV-570] keeps to the limit of the plan', async () => {
    await planned('skip');
    const first = await start();
    await becomes(first, 'running');
    expect(await result(outer('p'))).toMatchObject({ status: 'failed', error: { code: 'SKIPPED' } });
    await vi.waitFor(() => expect(gates).toHaveLength(1));
    gates[0]?.();
  });
});
