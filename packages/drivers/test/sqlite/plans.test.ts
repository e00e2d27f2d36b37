/** Every frequent query finds its rows by an index, even among a million. */
import { EXECUTION_STATUSES, type ExecutionFilter, positionOf } from '@nebula/ports';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { Reads } from '../../src/sqlite/reads.ts';
import { recordOf, recordsOf } from '../../src/sqlite/records.ts';
import { migrate } from '../../src/sqlite/schema.ts';
import { Writes } from '../../src/sqlite/writes.ts';
import { changed, creating } from './opened.ts';

/** The statements that `use` runs, with SQLite's plan for each. */
function plansOf(use: (writes: Writes, reads: Reads) => void): readonly string[] {
  const texts = new Set<string>();
  const database = new Database(':memory:', { verbose: (text) => texts.add(String(text)) });
  migrate(database, ':memory:');
  const writes = new Writes(database);
  const reads = new Reads(database);
  writes.append([creating('a', { wakeAt: 1 })], []);
  texts.clear();
  use(writes, reads);
  const statements = [...texts].filter((text) => /^\s*(SELECT|UPDATE|DELETE|INSERT)/i.test(text));
  const plans = statements.flatMap((text) =>
    (database.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[]).map((step) => step.detail),
  );
  database.close();
  return plans;
}

const USES: Readonly<Record<string, (writes: Writes, reads: Reads) => void>> = {
  frames: (_, reads) => reads.frames('a', 0),
  feed: (_, reads) => reads.feed({ after: positionOf(5), limit: 10 }),
  'last position': (_, reads) => reads.lastPosition(),
  execution: (_, reads) => reads.execution('a'),
  load: (_, reads) => reads.load('a', {}),
  heads: (_, reads) => reads.heads(['a', 'b']),
  inbox: (_, reads) => reads.inbox('a'),
  expired: (_, reads) => reads.expired(5, 5),
  stalled: (_, reads) => reads.stalled({ dueBy: 5, movedBefore: 5, limit: 5 }),
  'frames backwards': (_, reads) => reads.framesBefore('a', 5, 5),
  'list by trigger': (_, reads) => reads.list({ trigger: 'webhook', project: 'p', limit: 5 }),
  'list by error': (_, reads) => reads.list({ errorCode: 'X', status: ['failed'], limit: 5 }),
  'list of children': (_, reads) => reads.list({ parent: 'a', limit: 5 }),
  'list of failed roots': (_, reads) => reads.list({ isRoot: true, status: ['failed', 'running'], limit: 5 }),
  'search by id': (_, reads) => reads.list({ search: 'a', limit: 5 }),
  'human tasks': (_, reads) => {
    for (const order of ['newest', 'deadline'] as const) {
      reads.humanTasks({ order, limit: 5 });
      reads.humanTasks({ order, projects: ['p', 'q'], kinds: ['approval'], limit: 5 });
      reads.humanTasks({ order, projects: ['p'], workflowId: 'w', limit: 5 });
    }
  },
  'human tasks, counted': (_, reads) => reads.countHumanTasks({ projects: ['p'] }),
  'human tasks, changed': (writes) => {
    const task = { node: 'x', event: 'e', kind: 'approval', since: 1, deadline: null, details: '{}' } as const;
    const frame = { seq: 2, at: 1, entries: '' };
    writes.append([{ executionId: 'a', frame, humanTasks: { isAll: true, add: [task], remove: ['y'] } }], []);
    writes.saveHumanTasks('a', 2, []);
  },
  workflows: (_, reads) => reads.workflows({ after: 'a', limit: 5 }),
  'text of a version': (_, reads) => reads.workflowSource('a', 1),
  'recent executions': (_, reads) => reads.recent(['a', 'b'], 5),
  'versions of a workflow': (_, reads) => reads.workflowVersions('a', { after: 5, limit: 5 }),
  record: (_, reads) => reads.with((statements) => recordOf(statements, 'user', 'ada', 5)),
  'records, a page': (_, reads) =>
    reads.with((statements) => recordsOf(statements, 'user', { prefix: 'a', after: 'ab', limit: 5 }, 5)),
  'records, backwards': (_, reads) =>
    reads.with((statements) => recordsOf(statements, 'audit', { order: 'descending', limit: 5 }, 5)),
  'records, committed': (writes) =>
    writes.commitRecords(
      [
        { kind: 'user', id: 'ada', body: '{}', expected: 0 },
        { kind: 'user', id: 'bob', body: null },
      ],
      5,
    ),
  'cache, a page': (_, reads) =>
    reads.cachedOutputs({ prefix: 'a', after: { family: 'ab', at: 1, key: 'k' }, limit: 5 }),
  'cache, forgotten': (writes) => writes.forgetCached({ prefix: 'a' }, 5),
  'records, purged': (writes) => writes.purgeRecords(5, 5),
  lines: (_, reads) => reads.lines({ executionId: 'a', node: 'x', afterPosition: 5, limit: 5 }),
  'claim due': (writes) => writes.claimDue(5, 10, 'w', 5),
  send: (writes) => writes.send({ messageId: 'm', executionId: 'a', body: '' }, 5),
  'end of a run': (writes) =>
    writes.append(
      [
        {
          executionId: 'a',
          frame: { seq: 2, at: 1, entries: '' },
          status: changed('completed'),
          wakeAt: null,
          taken: ['m'],
        },
      ],
      [],
    ),
  'reap workers': (writes) => writes.reapWorkers(5, 'me', 5, 'wrk'),
  'delete a child': (writes) => {
    const create = { workflowId: 'orders', version: 1, createdAt: 1, owner: null, parent: 'a' };
    for (let time = 0; time < 2; time++) {
      writes.append([creating('child', { create, status: changed('completed') })], []);
      writes.deleteExecution('child');
    }
  },
  delete: (writes) => {
    writes.append([{ executionId: 'a', status: changed('completed') }], []);
    writes.deleteExecution('a');
  },
};

for (const [name, use] of Object.entries(USES)) {
  test(`${name}: no table is read from end to end`, () => {
    const scans = plansOf(use).filter(
      (detail) =>
        /^SCAN (?!CONSTANT|json_each|due$|\(subquery|\()/.test(detail) &&
        !/workers|USING .*INDEX executions_by_wake/.test(detail),
    );
    expect(scans).toEqual([]);
  });
}

/** Filters, and the index in which their rows are one piece for each status, in the order of the page. */
const LISTS: readonly (readonly [Omit<ExecutionFilter, 'limit'>, string])[] = [
  [{}, 'executions_by_status (status=? AND created_at<?)'],
  [{ status: ['completed'] }, 'executions_by_status (status=? AND created_at<?)'],
  [{ status: ['failed', 'cancelled'] }, 'executions_by_status (status=? AND created_at<?)'],
  [{ project: 'p' }, 'executions_by_project (project=? AND status=? AND created_at<?)'],
  [{ project: 'p', status: ['failed'] }, 'executions_by_project (project=? AND status=? AND created_at<?)'],
  [{ project: 'p', order: 'oldest' }, 'executions_by_project (project=? AND status=? AND created_at>?)'],
  [
    { project: 'p', status: ['running'], since: 1, until: 9 },
    'executions_by_project (project=? AND status=? AND created_at>? AND created_at<?)',
  ],
  [{ workflowId: 'w' }, 'executions_by_workflow (workflow_id=? AND status=? AND created_at<?)'],
  [{ workflowId: 'w', status: ['failed'] }, 'executions_by_workflow (workflow_id=? AND status=? AND created_at<?)'],
  [
    { workflowId: 'w', project: 'p', status: ['failed', 'running'], order: 'oldest' },
    'executions_by_workflow (workflow_id=? AND status=? AND created_at>?)',
  ],
];

for (const [filter, index] of LISTS) {
  test(`a list by ${JSON.stringify(filter)} reads one piece of an index for each status`, () => {
    const plans = plansOf((_, reads) => void reads.list({ ...filter, limit: 5 }, { createdAt: 5, number: 5 }));
    const branches = (filter.status ?? EXECUTION_STATUSES).map(() => `SEARCH executions USING COVERING INDEX ${index}`);
    expect(plans.filter((detail) => / executions /.test(detail))).toEqual([
      ...branches,
      'SEARCH executions USING INTEGER PRIMARY KEY (rowid=?)',
    ]);
    // Only the page is sorted, and before it the first rows of each status; never the rows of the index.
    const sorts = plans.filter((detail) => detail.startsWith('USE TEMP B-TREE'));
    expect(sorts.length).toBeLessThanOrEqual(branches.length > 1 ? 2 : 1);
  });
}

for (const scope of [
  {},
  { project: 'p' },
  { workflowId: 'w' },
  { project: 'p', workflowId: 'w', since: 1, until: 9 },
]) {
  test(`counts of ${JSON.stringify(scope)} look at an index only`, () => {
    const plans = plansOf((_, reads) => void reads.counts(scope));
    expect(plans).toHaveLength(EXECUTION_STATUSES.length);
    for (const detail of plans) expect(detail).toMatch(/^SEARCH executions USING COVERING INDEX .*status=\?/);
  });
}

test('a frame that changes nothing else touches the frames only', () => {
  const texts: string[] = [];
  const database = new Database(':memory:', { verbose: (text) => texts.push(String(text)) });
  migrate(database, ':memory:');
  const writes = new Writes(database);
  writes.append([creating('a')], []);
  texts.length = 0;
  writes.append([{ executionId: 'a', frame: { seq: 2, at: 1, entries: '[]' } }], []);
  expect(texts.map((text) => text.split('(')[0]?.trim())).toEqual([
    'BEGIN IMMEDIATE',
    'PRAGMA data_version',
    'INSERT INTO frames',
    'COMMIT',
  ]);
  database.close();
});
