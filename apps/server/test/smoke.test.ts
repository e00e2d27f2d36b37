/** A walk through the API, for `npm test -- --quick`. */
import { expect, test } from 'vitest';
import { boot } from './support/boot.ts';
import { ask } from './support/users.ts';
import { echo, waiting } from './support/workflows.ts';

test('workflows are registered and run; runs are listed, followed, signalled and cancelled', async () => {
  const booted = await boot();
  try {
    const { client } = booted;
    expect((await ask(booted, 'GET /health')).status).toBe(200);
    expect((await ask(booted, 'GET /api/v1/executions')).status).toBe(401);
    for (const definition of [echo(), waiting()]) await client.call('registerWorkflow', { body: { definition } });
    expect(await client.start('echo', { input: { a: 1 } }).result()).toMatchObject({ status: 'completed' });
    const run = await client.start('waiting');
    await client.call('cancelExecution', { params: { executionId: run.executionId }, body: { reason: 'enough' } });
    expect(await client.run(run.executionId).result()).toMatchObject({ status: 'cancelled' });
    const { items } = await client.call('listExecutions');
    expect(items.map(({ status }) => status).sort()).toEqual(['cancelled', 'completed']);
    expect(booted.troubles).toEqual([]);
  } finally {
    await booted.close();
  }
});
