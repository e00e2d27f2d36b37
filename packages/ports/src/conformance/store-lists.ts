/** Lists for people: executions by project, time and status, workflows and their versions. */
import { expect } from 'vitest';
import type { ExecutionFilter, ExecutionScope, ExecutionStatus, Store } from '../store.ts';
import { EXECUTION_STATUSES } from '../store.ts';
import { creating, framed, put, type StoreTest } from './store-subject.ts';

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

/** What the rules say, in the plainest way. */
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

async function pages(store: Store, filter: ExecutionFilter): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { rows, next } = await store.list({ ...filter, ...(cursor === undefined ? {} : { cursor }) });
    expect(rows.length).toBeLessThanOrEqual(filter.limit);
    seen.push(...rows.map((row) => row.executionId));
    if (next === null) return seen;
    cursor = next;
  }
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

export function listTests(test: StoreTest): void {
  test('[STO-58] an execution belongs to its project', async ({ store, reopen }) => {
    await put(store, 'plain');
    const create = { workflowId: 'orders', version: 1, createdAt: 1_000, owner: null };
    await put(store, 'sold', { create: { ...create, project: 'sales' } });
    await store.append([framed('sold', 2, { status: 'completed' })]);
    const again = reopen === undefined ? store : await reopen();
    expect(await again.execution('plain')).toMatchObject({ project: 'default' });
    expect(await again.execution('sold')).toMatchObject({ project: 'sales', status: 'completed' });
    expect(await pages(again, { project: 'sales', limit: 5 })).toEqual(['sold']);
    expect(await pages(again, { project: 'default', limit: 5 })).toEqual(['plain']);
    expect(await pages(again, { project: 'Sales', limit: 5 })).toEqual([]);
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
      expect({ filter, found: await pages(store, { ...filter, limit: 9 }) }).toEqual({ filter, found });
      expect(await pages(store, { ...filter, limit: Number.POSITIVE_INFINITY })).toEqual(found);
    }
  });

  test('[STO-59] the bounds of a range', async ({ store }) => {
    for (const createdAt of [10, 20, 30]) {
      await put(store, `at-${createdAt}`, { create: { workflowId: 'w', version: 1, createdAt, owner: null } });
    }
    expect(await pages(store, { since: 20, limit: 5 })).toEqual(['at-30', 'at-20']);
    expect(await pages(store, { until: 20, limit: 5 })).toEqual(['at-10']);
    expect(await pages(store, { since: 10, until: 30, limit: 1 })).toEqual(['at-20', 'at-10']);
    expect(await pages(store, { since: 20, until: 20, limit: 5 })).toEqual([]);
    expect(await pages(store, { since: 30, until: 10, limit: 5 })).toEqual([]);
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
        for (const id of seen.slice(-2)) await store.append([{ executionId: id, status: 'completed' }]);
        await store.deleteExecution(seen.at(-1) as string);
        await store.append([{ executionId: there.at(-1 - page) as string, status: 'paused' }]);
      }
      expect(seen.filter((id) => id.startsWith('run-'))).toEqual(there);
      expect(new Set(seen).size).toBe(seen.length);
      const left = await pages(store, { limit: 100 });
      await store.append(left.map((executionId) => ({ executionId, status: 'failed' as const })));
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
    await store.append([{ executionId: running.executionId, status: 'failed' }]);
    expect(await store.counts({})).toEqual({ ...before, running: before.running - 1, failed: before.failed + 1 });
  });

  test('[STO-62] workflows in order of their ids, each with its newest version', async ({ store, reopen }) => {
    expect(await store.workflows({ limit: 5 })).toEqual([]);
    await register(store, 'b', [3, 1, 7]);
    await register(store, 'a', [1]);
    await register(store, 'c', [2, 1]);
    await register(store, 'B', [1]);
    const heads = [
      { workflowId: 'B', version: 1, versions: 1, createdAt: 10 },
      { workflowId: 'a', version: 1, versions: 1, createdAt: 10 },
      { workflowId: 'b', version: 7, versions: 3, createdAt: 70 },
      { workflowId: 'c', version: 2, versions: 2, createdAt: 20 },
    ];
    const again = reopen === undefined ? store : await reopen();
    expect(await again.workflows({ limit: 10 })).toEqual(heads);
    expect(await again.workflows({ limit: 2 })).toEqual(heads.slice(0, 2));
    expect(await again.workflows({ after: 'a', limit: 2 })).toEqual(heads.slice(2));
    expect(await again.workflows({ after: 'aa', limit: 1 })).toEqual(heads.slice(2, 3));
    expect(await again.workflows({ after: 'c', limit: 1 })).toEqual([]);
  });

  test('[STO-63] versions, the highest first, without their definitions', async ({ store }) => {
    await register(store, 'a', [3, 1, 7]);
    await register(store, 'b', [9]);
    const heads = [7, 3, 1].map((version) => ({
      workflowId: 'a',
      version,
      hash: `hash of ${version}`,
      createdAt: version * 10,
    }));
    expect(await store.workflowVersions('a', { limit: 10 })).toEqual(heads);
    expect(await store.workflowVersions('a', { limit: 2 })).toEqual(heads.slice(0, 2));
    expect(await store.workflowVersions('a', { after: 3, limit: 2 })).toEqual(heads.slice(2));
    expect(await store.workflowVersions('a', { after: 1, limit: 2 })).toEqual([]);
    expect(await store.workflowVersions('ghost', { limit: 2 })).toEqual([]);
  });
}

async function register(store: Store, workflowId: string, versions: readonly number[]): Promise<void> {
  for (const version of versions) {
    const row = { workflowId, version, hash: `hash of ${version}`, definition: '{}', createdAt: version * 10 };
    expect(await store.registerWorkflow(row)).toMatchObject({ created: true });
  }
}
