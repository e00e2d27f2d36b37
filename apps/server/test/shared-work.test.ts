import type { Action } from '@nebula/core';
import { memoryRecords } from '@nebula/drivers/memory';
import { realClock, realRandom } from '@nebula/drivers/real';
import { afterEach, expect, it, vi } from 'vitest';
import { auditLog } from '../src/identity/audit.ts';
import { NOBODY } from '../src/identity/principal.ts';
import type { Parts } from '../src/index.ts';
import { type Booted, boot } from './support/boot.ts';

let booted: Booted | undefined;
afterEach(async () => {
  await booted?.close();
  booted = undefined;
});

it('[SRV-330] audit entries that come meanwhile are one write, and each waits for its own', async () => {
  const records = memoryRecords({ clock: realClock });
  const sizes: number[] = [];
  const commit: typeof records.commit = async (changes) => {
    sizes.push(changes.length);
    if (sizes.length === 2) throw new Error('disk');
    return records.commit(changes);
  };
  const audit = auditLog({ records: { ...records, commit }, clock: realClock, random: realRandom() } as Parts);
  const auditedCall = {
    operation: 'startExecution',
    who: NOBODY,
    params: {},
    project: 'p',
    status: 201,
    ip: '',
  } as const;
  const first = audit(auditedCall);
  await Promise.resolve();
  await Promise.resolve();
  const second = Promise.allSettled([audit(auditedCall), audit(auditedCall), audit(auditedCall)]);
  await first;
  expect((await second).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await Promise.all([audit(auditedCall), audit(auditedCall)]);
  expect(sizes).toEqual([1, 3, 2]);
  expect(await records.list('audit', { limit: 9 })).toHaveLength(3);
});

it('[SRV-331] many callers are one waiter of the engine', async () => {
  const open: (() => void)[] = [];
  const hang: Action = {
    id: 'hang',
    version: '1',
    effect: 'pure',
    run: () => new Promise((resolve) => open.push(() => resolve(null))),
  };
  booted = await boot({ actions: [hang] });
  const { client, parts } = booted;
  let waiters = 0;
  let most = 0;
  const { waitFor } = parts.engine;
  parts.engine.waitFor = async (id, until, signal) => {
    most = Math.max(most, ++waiters);
    const left = new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
    const outcome = waitFor.call(parts.engine, id, until, signal);
    void Promise.race([left, outcome]).finally(() => waiters--);
    return await outcome;
  };
  await client.call('registerWorkflow', { body: { definition: { id: 'w', nodes: { a: { action: 'hang@1' } } } } });
  const { executionId } = await client.call('startExecution', { body: { workflowId: 'w' } });
  const wait = (text: string) => client.call('getResult', { params: { executionId }, query: { wait: text } });
  const short = Promise.all([wait('10ms'), wait('20ms')]);
  const long = Promise.all(Array.from({ length: 20 }, () => wait('30s')));
  expect((await short).map(({ ended }) => ended)).toEqual([false, false]);
  await expect.poll(() => open.length).toBe(1);
  open[0]?.();
  expect(new Set((await long).map(({ status }) => status))).toEqual(new Set(['completed']));
  expect(await wait('30s')).toMatchObject({ ended: true });
  expect({ most, waiters }).toEqual({ most: 1, waiters: 0 });
});

it('[ENG-242] a workflow is compiled once from its registration to its result, whether it comes as text or as a value', async () => {
  booted = await boot();
  const { client, parts } = booted;
  // A compilation asks for the catalog of the project once.
  const compilations = vi.spyOn(parts.engine.catalog, 'within');
  const definition = { id: 'value', nodes: { a: { action: 'core.noop' } } };
  const source = 'id: text\nnodes:\n  a: { action: core.noop }\n';
  for (const body of [{ definition }, { source }]) {
    compilations.mockClear();
    const { workflowId } = await client.call('registerWorkflow', { body });
    const { executionId } = await client.call('startExecution', { body: { workflowId, input: {} } });
    const result = await client.call('getResult', { params: { executionId }, query: { wait: '10s' } });
    expect([workflowId, result.status, compilations.mock.calls.length]).toEqual([workflowId, 'completed', 1]);
  }
});
