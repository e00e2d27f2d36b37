/** Lists of executions by trigger, error, parent and id, and statistics of them. */
import type { ExecutionFilter, ExecutionStatus, Store } from '@nebula/ports';
import { expect } from 'vitest';
import { changing, creating, framed, listed, portSuite, put } from './store-subject.ts';

const TRIGGERS = ['manual', 'schedule', 'workflow'];

/** 60 executions: every third one is a child of an earlier one, and every fifth one has failed. */
async function putFamily(store: Store): Promise<void> {
  for (let index = 0; index < 60; index++) {
    const trigger = TRIGGERS[index % 3] as string;
    const status: ExecutionStatus = index % 5 === 0 ? 'failed' : index % 7 === 0 ? 'running' : 'completed';
    const error = { code: index % 2 === 0 ? 'DECLINED' : 'TIMEOUT', node: 'charge', message: 'no' };
    const isFailed = status === 'failed';
    await store.append([
      {
        ...creating(`run-${String(index).padStart(2, '0')}`, {
          create: {
            project: index % 4 === 0 ? 'sales' : 'default',
            workflowId: index % 2 === 0 ? 'orders' : 'returns',
            version: 1,
            createdAt: 1_000 + Math.floor(index / 3),
            owner: null,
            trigger,
            ...(trigger === 'workflow' && { parent: `run-${String(index - 2).padStart(2, '0')}` }),
          },
        }),
        status: { status, finishedAt: isFailed ? 2_000 : null, expiresAt: null, ...(isFailed && { error }) },
      },
    ]);
  }
}

export const filteredListsSuite = portSuite('filtered lists', (test) => {
  test('[STO-165] the row has trigger, start, parent and error, written with creation and end', async ({ store }) => {
    await put(store, 'parent');
    await store.append([
      creating('a', {
        create: {
          workflowId: 'orders',
          version: 1,
          createdAt: 1_000,
          owner: null,
          trigger: 'workflow',
          parent: 'parent',
        },
        status: 'pending',
      }),
    ]);
    expect(await store.execution('a')).toMatchObject({
      trigger: 'workflow',
      parent: 'parent',
      startedAt: null,
      errorCode: null,
    });
    await store.append([
      { ...framed('a', 2), status: { status: 'running', finishedAt: null, expiresAt: null, startedAt: 1_500 } },
      { ...framed('a', 3), status: { status: 'running', finishedAt: null, expiresAt: null, startedAt: 1_700 } },
    ]);
    expect(await store.execution('a')).toMatchObject({ startedAt: 1_500 });
    const error = { code: 'DECLINED', node: 'charge', message: 'card declined' };
    await store.append([
      { ...framed('a', 4), status: { status: 'failed', finishedAt: 1_900, expiresAt: null, error }, wakeAt: null },
    ]);
    const failed = { errorCode: 'DECLINED', errorNode: 'charge', errorMessage: 'card declined', startedAt: 1_500 };
    expect(await store.execution('a')).toMatchObject(failed);
    expect((await store.list({ limit: 1 })).rows[0]).toMatchObject({
      ...failed,
      parent: 'parent',
      trigger: 'workflow',
    });
    await store.append([changing('a', 'running')]);
    expect(await store.execution('a')).toMatchObject({ errorCode: null, errorNode: null, errorMessage: null });
    await store.append([changing('parent', 'completed')]);
    await store.deleteExecution('parent');
    expect(await store.execution('a')).toMatchObject({ parent: null, trigger: 'workflow' });
  });

  test('[STO-166] lists by trigger, error code, parent and root, with every other filter and order', async ({
    store,
  }) => {
    await putFamily(store);
    const { rows } = await store.list({ limit: 1_000 });
    const filters: readonly Omit<ExecutionFilter, 'limit'>[] = [
      { trigger: 'schedule' },
      { trigger: 'workflow', status: ['failed'] },
      { errorCode: 'DECLINED' },
      { errorCode: 'TIMEOUT', trigger: 'manual' },
      { parent: 'run-00' },
      { parent: 'run-00', status: ['running'] },
      { parent: 'nobody' },
      { isRoot: true },
      { isRoot: true, status: ['failed', 'running'] },
      { isRoot: true, status: ['completed'] },
      { isRoot: true, status: [] },
      { trigger: 'manual', isRoot: true },
    ];
    for (const own of filters) {
      for (const scope of [{}, { project: 'sales' }, { workflowId: 'orders' }, { since: 1_003, until: 1_009 }]) {
        for (const order of ['newest', 'oldest'] as const) {
          const filter = { ...own, ...scope, order };
          const { project, workflowId, since = 0, until = 9_999 } = filter as ExecutionFilter;
          const expected = rows
            .filter((row) => own.trigger === undefined || row.trigger === own.trigger)
            .filter((row) => own.status === undefined || own.status.includes(row.status))
            .filter((row) => own.errorCode === undefined || row.errorCode === own.errorCode)
            .filter((row) => own.parent === undefined || row.parent === own.parent)
            .filter((row) => own.isRoot === undefined || row.parent === null)
            .filter((row) => project === undefined || row.project === project)
            .filter((row) => workflowId === undefined || row.workflowId === workflowId)
            .filter(({ createdAt }) => createdAt >= since && createdAt < until)
            .map(({ executionId }) => executionId);
          if (order === 'oldest') expected.reverse();
          expect(await listed(store, { ...filter, limit: 4 }), JSON.stringify(filter)).toEqual(expected);
        }
      }
    }
  });

  test('[STO-167] a search finds the beginning of an id; without such an execution, a workflow', async ({ store }) => {
    await putFamily(store);
    expect(await listed(store, { search: 'run-1', limit: 4 })).toEqual(
      Array.from({ length: 10 }, (_, index) => `run-${19 - index}`),
    );
    expect(await listed(store, { search: 'run-07', limit: 4 })).toEqual(['run-07']);
    expect(await listed(store, { search: 'run-1', status: ['failed'], order: 'oldest', limit: 1 })).toEqual([
      'run-10',
      'run-15',
    ]);
    expect(await listed(store, { search: 'orders', limit: 50 })).toEqual(
      await listed(store, { workflowId: 'orders', limit: 50 }),
    );
    expect(await listed(store, { search: 'orders', isRoot: true, limit: 50 })).toEqual(
      await listed(store, { workflowId: 'orders', isRoot: true, limit: 50 }),
    );
    expect(await listed(store, { search: 'orders', workflowId: 'returns', limit: 50 })).toEqual([]);
    expect(await listed(store, { search: '%', limit: 50 })).toEqual([]);
  });

  test('[STO-168] statistics: starts, ends, percentiles and backlog by bucket', async ({ store }) => {
    const run = (
      id: string,
      createdAt: number,
      finishedAt: number | null,
      status: ExecutionStatus,
      startedAt = createdAt,
    ) =>
      store.append([
        {
          ...creating(id, { create: { workflowId: 'orders', version: 1, createdAt, owner: null, trigger: 'manual' } }),
          status: { status, finishedAt, expiresAt: null, startedAt },
        },
      ]);
    await run('before', 500, 1_050, 'completed');
    await run('a', 1_000, 1_100, 'completed', 1_010);
    await run('b', 1_050, 2_050, 'failed');
    await run('c', 2_000, null, 'running');
    await run('d', 2_500, 3_500, 'timed-out');
    await run('e', 3_100, null, 'paused');
    const filter = { since: 1_000, until: 3_000, bucketMs: 1_000 };
    const { buckets, isCut } = await store.statistics(filter);
    expect(isCut).toBe(false);
    expect(buckets.map(({ since, starts, backlog }) => [since, starts, backlog])).toEqual([
      [1_000, 2, 1],
      [2_000, 2, 2],
    ]);
    const none = { completed: 0, failed: 0, cancelled: 0, 'timed-out': 0 };
    expect(buckets.map(({ ends }) => ends)).toEqual([
      { ...none, completed: 2 },
      { ...none, failed: 1 },
    ]);
    const [first, second] = buckets;
    expect(first?.duration?.p50).toBeGreaterThanOrEqual(100);
    expect(first?.duration?.p50).toBeLessThanOrEqual(110);
    expect(first?.duration?.p95).toBeGreaterThanOrEqual(550);
    expect(first?.duration?.p95).toBeLessThanOrEqual(605);
    expect(first?.queueWait?.p50).toBe(0);
    expect(first?.queueWait?.p95).toBeGreaterThanOrEqual(10);
    expect(second?.duration?.p50).toBeGreaterThanOrEqual(1_000);
    expect((await store.statistics({ ...filter, workflowId: 'returns' })).buckets.map(({ starts }) => starts)).toEqual([
      0, 0,
    ]);
    const scoped = await store.statistics({ ...filter, project: 'default', workflowId: 'orders' });
    expect(scoped).toEqual({ buckets, isCut });
    expect((await store.statistics({ ...filter, project: 'sales' })).buckets[1]).toMatchObject({
      duration: null,
      backlog: 0,
    });
  });

  test('[STO-169] frames backwards, in pages', async ({ store }) => {
    await put(store, 'a');
    await store.append([framed('a', 2), framed('a', 3), framed('a', 4)]);
    const back = async (before: number, limit: number) =>
      (await store.framesBefore('a', before, limit)).map(({ seq }) => seq);
    expect(await back(Number.MAX_SAFE_INTEGER, 2)).toEqual([4, 3]);
    expect(await back(3, 10)).toEqual([2, 1]);
    expect(await back(1, 10)).toEqual([]);
    expect(await store.framesBefore('ghost', 5, 10)).toEqual([]);
    expect((await store.framesBefore('a', 5, 1))[0]).toEqual((await store.frames('a', 3))[0]);
  });
});
