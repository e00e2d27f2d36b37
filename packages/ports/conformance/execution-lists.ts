/** Lists and counts of executions by project, workflow, time and status. */

import {
  EXECUTION_STATUSES,
  type ExecutionFilter,
  type ExecutionScope,
  type ExecutionStatus,
  FEED_START,
  type Store,
} from '@nebula/ports';
import { expect } from 'vitest';
import { changing, creating, framed, listed, portSuite, put } from './store-subject.ts';

interface Listed {
  readonly executionId: string;
  readonly project: string;
  readonly workflowId: string;
  readonly status: ExecutionStatus;
  readonly createdAt: number;
}

const PROJECTS = ['default', 'sales', 'stock'];
const WORKFLOWS = ['orders', 'returns'];

/** 240 executions of all sorts; some are made in the same millisecond, and some by clocks that go back. */
function allSorts(): readonly Listed[] {
  return Array.from({ length: 240 }, (_, index) => ({
    executionId: `run-${index}`,
    project: PROJECTS[index % 3] as string,
    workflowId: WORKFLOWS[(index >> 1) % 2] as string,
    status: EXECUTION_STATUSES[(index * 5) % EXECUTION_STATUSES.length] as ExecutionStatus,
    createdAt: 1_000 + Math.floor(index / 7) * 10 - (index % 11 === 0 ? 45 : 0),
  }));
}

async function putAll(store: Store, all: readonly Listed[]): Promise<void> {
  await store.append(
    all.map(({ executionId, project, workflowId, status, createdAt }) =>
      creating(executionId, { status, create: { project, workflowId, version: 1, createdAt, owner: null } }),
    ),
  );
}

/** The rules in their simplest form. */
function expected(all: readonly Listed[], filter: Omit<ExecutionFilter, 'limit'>): readonly string[] {
  const { project, workflowId, status, since, until, order } = filter;
  const found = all
    .map((row, number) => ({ ...row, number }))
    .filter((row) => project === undefined || row.project === project)
    .filter((row) => workflowId === undefined || row.workflowId === workflowId)
    .filter((row) => status === undefined || status.includes(row.status))
    .filter((row) => since === undefined || row.createdAt >= since)
    .filter((row) => until === undefined || row.createdAt < until)
    .sort((a, b) => b.createdAt - a.createdAt || b.number - a.number)
    .map((row) => row.executionId);
  return order === 'oldest' ? found.reverse() : found;
}

/** Every combination of the given members and of leaving them out. */
function combinations(
  choices: Readonly<Record<string, readonly unknown[]>>,
): readonly Omit<ExecutionFilter, 'limit'>[] {
  return Object.entries(choices).reduce<readonly object[]>(
    (found, [name, values]) =>
      found.flatMap((filter) => [filter, ...values.map((value) => ({ ...filter, [name]: value }))]),
    [{}],
  );
}

export const executionListsSuite = portSuite('lists of executions', (test) => {
  test('[STO-151] the newest executions of each asked workflow', async ({ store }) => {
    const all = allSorts();
    await putAll(store, all);
    const rows = await store.recent(['returns', 'orders', 'none', 'orders'], 7);
    for (const workflowId of WORKFLOWS) {
      const own = rows.filter((row) => row.workflowId === workflowId).map((row) => row.executionId);
      expect(own).toEqual(expected(all, { workflowId }).slice(0, 7));
    }
    expect(rows).toHaveLength(14);
    expect(rows[0]).toEqual(await store.execution(rows[0]?.executionId as string));
    expect(await store.recent([], 7)).toEqual([]);
  });

  test('[STO-16] the newest first, also of one millisecond', async ({ store }) => {
    for (const id of ['m', 'z', 'a']) await put(store, id);
    expect(await listed(store, { limit: 10 })).toEqual(['a', 'z', 'm']);
    expect(await listed(store, { limit: 1 })).toEqual(['a', 'z', 'm']);
    expect(await store.list({ limit: 3 })).toMatchObject({ next: null });
    expect((await store.list({ limit: 2 })).rows).toHaveLength(2);
    expect((await store.list({ limit: Number.POSITIVE_INFINITY })).rows).toHaveLength(3);
    expect((await store.feed({ after: FEED_START, limit: Number.POSITIVE_INFINITY })).length).toBe(3);
  });

  test('[STO-16] filters by status and workflow', async ({ store }) => {
    const statuses: ExecutionStatus[] = [
      'completed',
      'failed',
      'running',
      'paused',
      'cancelled',
      'timed-out',
      'pending',
    ];
    for (const [index, status] of statuses.entries()) {
      const workflowId = index % 2 === 0 ? 'even' : 'odd';
      const create = { workflowId, version: 1, createdAt: 1, owner: null };
      await put(store, `${workflowId}-${status}`, { status, create });
    }
    expect(await listed(store, { status: ['failed'], limit: 10 })).toEqual(['odd-failed']);
    expect(await listed(store, { status: ['completed', 'running'], limit: 1 })).toEqual([
      'even-running',
      'even-completed',
    ]);
    expect(await listed(store, { status: ['paused', 'failed', 'pending'], limit: 1 })).toEqual([
      'even-pending',
      'odd-paused',
      'odd-failed',
    ]);
    expect(await listed(store, { workflowId: 'odd', limit: 2 })).toEqual(['odd-timed-out', 'odd-paused', 'odd-failed']);
    expect(await listed(store, { workflowId: 'odd', status: ['failed', 'completed'], limit: 2 })).toEqual([
      'odd-failed',
    ]);
    expect(await listed(store, { workflowId: 'none', limit: 2 })).toEqual([]);
    expect(await listed(store, { status: [], limit: 2 })).toEqual([]);
    await store.append([framed('odd-failed', 2, { status: 'completed' })]);
    expect(await listed(store, { status: ['failed'], limit: 10 })).toEqual([]);
  });

  test('[STO-16] a cursor that no page gave is refused', async ({ store }) => {
    await put(store, 'a');
    for (const cursor of ['nonsense', "1' OR 1=1", 'NaN', '', '7', 'at_zzzzzzzzzzz_1', 'at_1_1 ']) {
      await expect(store.list({ cursor, limit: 5 })).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
    }
    const create = { workflowId: 'orders', version: 1, owner: null };
    await put(store, 'before', { create: { ...create, createdAt: -5 } });
    await put(store, 'later', { create: { ...create, createdAt: 5_000 } });
    expect(await listed(store, { limit: 1 })).toEqual(['later', 'a', 'before']);
  });

  test('[STO-17] pages stay stable while executions are added, changed and deleted', async ({ store }) => {
    for (let run = 0; run < 30; run++) await put(store, `old-${run}`, { status: 'completed' });
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; ; page++) {
      const { rows, next } = await store.list({ limit: 4, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...rows.map((row) => row.executionId));
      await put(store, `new-${page}`);
      await store.append([framed(`old-${29 - page}`, 2, { status: 'failed' })]);
      if (page === 1) await store.deleteExecution('old-0');
      if (page === 2) await store.deleteExecution(seen.at(-1) as string);
      if (next === null) break;
      cursor = next;
    }
    expect(seen).toEqual(Array.from({ length: 29 }, (_, index) => `old-${29 - index}`));
  });

  test('[STO-58] an execution belongs to its project', async ({ store, reopen }) => {
    await put(store, 'plain');
    const create = { workflowId: 'orders', version: 1, createdAt: 1_000, owner: null };
    await put(store, 'sold', { create: { ...create, project: 'sales' } });
    await store.append([framed('sold', 2, { status: 'completed' })]);
    const again = reopen === undefined ? store : await reopen();
    expect(await again.execution('plain')).toMatchObject({ project: 'default' });
    expect(await again.execution('sold')).toMatchObject({ project: 'sales', status: 'completed' });
    expect(await listed(again, { project: 'sales', limit: 5 })).toEqual(['sold']);
    expect(await listed(again, { project: 'default', limit: 5 })).toEqual(['plain']);
    expect(await listed(again, { project: 'Sales', limit: 5 })).toEqual([]);
  });

  test('[STO-58] [STO-59] [STO-60] every combination of filters, page by page', async ({ store }) => {
    const all = allSorts();
    await putAll(store, all);
    const filters = combinations({
      project: ['sales', 'none'],
      workflowId: ['returns'],
      status: [['failed'], ['completed', 'running', 'failed', 'completed']],
      since: [1_100],
      until: [1_260],
      order: ['newest', 'oldest'],
    });
    expect(filters).toHaveLength(3 * 2 * 3 * 2 * 2 * 3);
    for (const filter of filters) {
      const found = expected(all, filter);
      expect({ filter, found: await listed(store, { ...filter, limit: 9 }) }).toEqual({ filter, found });
      expect(await listed(store, { ...filter, limit: Number.POSITIVE_INFINITY })).toEqual(found);
    }
  });

  test('[STO-59] the bounds of a range', async ({ store }) => {
    for (const createdAt of [10, 20, 30]) {
      await put(store, `at-${createdAt}`, { create: { workflowId: 'w', version: 1, createdAt, owner: null } });
    }
    expect(await listed(store, { since: 20, limit: 5 })).toEqual(['at-30', 'at-20']);
    expect(await listed(store, { until: 20, limit: 5 })).toEqual(['at-10']);
    expect(await listed(store, { since: 10, until: 30, limit: 1 })).toEqual(['at-20', 'at-10']);
    expect(await listed(store, { since: 20, until: 20, limit: 5 })).toEqual([]);
    expect(await listed(store, { since: 30, until: 10, limit: 5 })).toEqual([]);
  });

  test('[STO-17] [STO-60] pages in either order stay right while executions come, go and change', async ({ store }) => {
    const all = allSorts();
    for (const order of ['newest', 'oldest'] as const) {
      await putAll(store, all);
      const there = expected(all, { project: 'sales', order });
      const seen: string[] = [];
      let next: string | null | undefined;
      for (let page = 0; next !== null; page++) {
        const given = await store.list({
          project: 'sales',
          order,
          limit: 7,
          ...(next == null ? {} : { cursor: next }),
        });
        seen.push(...given.rows.map((row) => row.executionId));
        next = given.next;
        const create = { project: 'sales', workflowId: 'orders', version: 1, createdAt: 900 + page * 40, owner: null };
        await put(store, `${order}-new-${page}`, { create });
        for (const id of seen.slice(-2)) await store.append([changing(id, 'completed')]);
        await store.deleteExecution(seen.at(-1) as string);
        await store.append([changing(there.at(-1 - page) as string, 'paused')]);
      }
      expect(seen.filter((id) => id.startsWith('run-'))).toEqual(there);
      expect(new Set(seen).size).toBe(seen.length);
      const left = await listed(store, { limit: 100 });
      await store.append(left.map((executionId) => changing(executionId, 'failed')));
      for (const executionId of left) await store.deleteExecution(executionId);
    }
  });

  test('[STO-61] counts of each status, as the lists have them', async ({ store }) => {
    const all = allSorts();
    const none = Object.fromEntries(EXECUTION_STATUSES.map((status) => [status, 0]));
    expect(await store.counts({})).toEqual(none);
    await putAll(store, all);
    const scopes = combinations({ project: ['sales'], workflowId: ['returns'], since: [1_100], until: [1_260] });
    for (const scope of scopes as readonly ExecutionScope[]) {
      const found = EXECUTION_STATUSES.map((status) => [status, expected(all, { ...scope, status: [status] }).length]);
      expect({ scope, counts: await store.counts(scope) }).toEqual({ scope, counts: Object.fromEntries(found) });
    }
    expect(await store.counts({ project: 'none' })).toEqual(none);
    const before = await store.counts({});
    const running = all.find((row) => row.status === 'running') as Listed;
    await store.append([changing(running.executionId, 'failed')]);
    expect(await store.counts({})).toEqual({ ...before, running: before.running - 1, failed: before.failed + 1 });
  });
});
