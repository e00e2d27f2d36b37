/** Human tasks: they change with frames, and lists of them are in order. */
import type { HumanTask, HumanTaskFilter, Store } from '@nebula/ports';
import { expect } from 'vitest';
import { accepted, creating, framed, portSuite, put } from './store-subject.ts';

function task(node: string, more: Partial<HumanTask> = {}): HumanTask {
  return { node, event: 'ok', kind: 'approval', since: 1_000, deadline: null, details: '{}', ...more };
}

/** Places of all pages of a list: `execution node`. */
async function listed(store: Store, filter: Omit<HumanTaskFilter, 'limit'> = {}, limit = 2): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await store.humanTasks({ ...filter, limit, ...(cursor !== undefined && { cursor }) });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    found.push(...page.rows.map(({ executionId, node }) => `${executionId} ${node}`));
    if (page.next === null) return found;
    cursor = page.next;
  }
}

const of = (project: string, workflowId: string) => ({
  create: { project, workflowId, version: 1, createdAt: 1_000, owner: null },
});

export const humanTasksSuite = portSuite('human tasks', (test) => {
  test('[STO-160] tasks begin and end with the accepted frame of their run only', async ({ store }) => {
    await put(store, 'a', { humanTasks: { add: [task('x', { details: '{"title":"Pay?"}' })] } });
    await put(store, 'b');
    expect(await store.humanTasks({ limit: 10 })).toEqual({
      rows: [
        {
          ...task('x', { details: '{"title":"Pay?"}' }),
          executionId: 'a',
          project: 'default',
          workflowId: 'orders',
        },
      ],
      next: null,
    });
    const refused = framed('a', 9, { humanTasks: { add: [task('y')], remove: ['x'] } });
    expect(accepted(await store.append([refused]))).toEqual([false]);
    expect(await listed(store)).toEqual(['a x']);
    await store.append([framed('a', 2, { humanTasks: { add: [task('y')], remove: ['x'] } }), framed('b', 2)]);
    expect(await listed(store)).toEqual(['a y']);
    await store.append([framed('a', 3)]);
    expect(await listed(store)).toEqual(['a y']);
  });

  test('[STO-160] the events of one node are tasks of their own and end together', async ({ store }) => {
    const add = [task('x'), task('x', { event: 'paid', kind: 'signal' }), task('xx')];
    await put(store, 'a', { humanTasks: { add } });
    expect(await listed(store)).toEqual(['a xx', 'a x', 'a x']);
    await store.append([framed('a', 2, { humanTasks: { remove: ['x', 'unknown'] } })]);
    expect(await listed(store)).toEqual(['a xx']);
  });

  test('[STO-161] a task that is stored again changes and keeps its place; `isAll` removes all others', async ({
    store,
  }) => {
    await put(store, 'a', { humanTasks: { add: [task('x'), task('y'), task('z')] } });
    await put(store, 'b', { humanTasks: { add: [task('x')] } });
    await store.append([framed('a', 2, { humanTasks: { isAll: true, add: [task('x', { deadline: 7 }), task('z')] } })]);
    expect(await listed(store)).toEqual(['b x', 'a z', 'a x']);
    const { rows } = await store.humanTasks({ order: 'deadline', limit: 1 });
    expect(rows[0]).toMatchObject({ executionId: 'a', node: 'x', deadline: 7 });
    await store.append([framed('a', 3, { humanTasks: { isAll: true } })]);
    expect(await listed(store)).toEqual(['b x']);
  });

  test('[STO-162] lists are by time or deadline, in the scope that is asked for', async ({ store }) => {
    await store.append([
      creating('a', { ...of('sales', 'orders'), humanTasks: { add: [task('1', { since: 5, deadline: 90 })] } }),
      creating('b', { ...of('stock', 'orders'), humanTasks: { add: [task('2', { since: 9 })] } }),
      creating('c', {
        ...of('sales', 'returns'),
        humanTasks: {
          add: [
            task('3', { since: 7, deadline: 30, kind: 'unknown' }),
            task('4', { since: 7, deadline: 90, kind: 'signal' }),
            task('5', { since: 1, kind: 'callback' }),
          ],
        },
      }),
    ]);
    expect(await listed(store)).toEqual(['b 2', 'c 4', 'c 3', 'a 1', 'c 5']);
    expect(await listed(store, { order: 'deadline' })).toEqual(['c 3', 'a 1', 'c 4', 'b 2', 'c 5']);
    expect(await listed(store, { projects: ['sales'] })).toEqual(['c 4', 'c 3', 'a 1', 'c 5']);
    expect(await listed(store, { projects: ['sales', 'stock'], kinds: ['approval'] })).toEqual(['b 2', 'a 1']);
    expect(await listed(store, { projects: ['sales'], order: 'deadline', kinds: ['signal', 'approval'] })).toEqual([
      'a 1',
      'c 4',
    ]);
    expect(await listed(store, { workflowId: 'orders' })).toEqual(['b 2', 'a 1']);
    expect(await listed(store, { workflowId: 'orders', projects: ['sales'], order: 'deadline' })).toEqual(['a 1']);
    expect(await listed(store, { projects: [] })).toEqual([]);
    expect(await listed(store, { kinds: [] })).toEqual([]);
    await expect(store.humanTasks({ limit: 1, cursor: 'nonsense' })).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
  });

  test('[STO-163] counts by kind', async ({ store }) => {
    await store.append([
      creating('a', { ...of('sales', 'orders'), humanTasks: { add: [task('1'), task('2', { kind: 'signal' })] } }),
      creating('b', { ...of('stock', 'orders'), humanTasks: { add: [task('3')] } }),
    ]);
    expect(await store.countHumanTasks({})).toEqual({ approval: 2, unknown: 0, signal: 1, callback: 0 });
    expect(await store.countHumanTasks({ projects: ['sales', 'none'] })).toMatchObject({ approval: 1, signal: 1 });
    expect(await store.countHumanTasks({ workflowId: 'orders', kinds: ['approval'] })).toMatchObject({
      approval: 2,
      signal: 0,
    });
    expect(await store.countHumanTasks({ projects: [] })).toMatchObject({ approval: 0 });
  });

  test('[STO-164] tasks of an earlier frame are not stored, and a deleted execution has none', async ({ store }) => {
    await put(store, 'a', { status: 'running' });
    await store.append([framed('a', 2)]);
    expect(await store.saveHumanTasks('a', 1, [task('x')])).toBe(false);
    expect(await store.saveHumanTasks('ghost', 1, [task('x')])).toBe(false);
    expect(await listed(store)).toEqual([]);
    expect(await store.saveHumanTasks('a', 2, [task('x')])).toBe(true);
    expect(await listed(store)).toEqual(['a x']);
    expect(await store.untaskedExecutions(10)).toEqual([]);
    await store.append([framed('a', 3, { status: 'failed', finishedAt: 5, humanTasks: { isAll: true } })]);
    expect(await store.deleteExecution('a')).toBe(true);
    await put(store, 'a');
    expect(await listed(store)).toEqual([]);
  });
});
