/** Every query that runs often finds its rows by an index, also when there are a million. */
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { Journal } from '../../src/sqlite/journal.ts';
import { Reads } from '../../src/sqlite/reads.ts';
import { migrate } from '../../src/sqlite/schema.ts';
import { creating } from './opened.ts';

/** The statements that `use` runs, with SQLite's plan for each. */
function plansOf(use: (journal: Journal, reads: Reads) => void): readonly string[] {
  const texts = new Set<string>();
  const database = new Database(':memory:', { verbose: (text) => texts.add(String(text)) });
  migrate(database, ':memory:');
  const journal = new Journal(database);
  const reads = new Reads(database);
  journal.append([creating('a', { wakeAt: 1 })], []);
  texts.clear();
  use(journal, reads);
  const statements = [...texts].filter((text) => /^\s*(SELECT|UPDATE|DELETE|INSERT)/i.test(text));
  const plans = statements.flatMap((text) =>
    (database.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[]).map((step) => step.detail),
  );
  database.close();
  return plans;
}

const USES: Readonly<Record<string, (journal: Journal, reads: Reads) => void>> = {
  frames: (_, reads) => reads.frames('a', 0),
  feed: (_, reads) => reads.feed(5, 10),
  execution: (_, reads) => reads.execution('a'),
  snapshot: (_, reads) => reads.snapshot('a'),
  inbox: (_, reads) => reads.inbox('a'),
  'list, by workflow': (_, reads) => reads.list({ workflowId: 'w', limit: 5 }, 99),
  'list, failed': (_, reads) => reads.list({ status: ['failed', 'cancelled'], limit: 5 }, 99),
  expired: (_, reads) => reads.expired(5, 5),
  lines: (_, reads) => reads.lines({ executionId: 'a', node: 'x', afterPosition: 5, limit: 5 }),
  'claim due': (journal) => journal.claimDue(5, 10, 'w', 5),
  send: (journal) => journal.send({ messageId: 'm', executionId: 'a', body: '' }, 5),
  'end of a run': (journal) =>
    journal.append(
      [{ executionId: 'a', frame: { seq: 2, at: 1, entries: '' }, status: 'completed', wakeAt: null, taken: ['m'] }],
      [],
    ),
  'reap workers': (journal) => journal.reapWorkers(null, 'me', 5),
  delete: (journal) => {
    journal.append([{ executionId: 'a', status: 'completed' }], []);
    journal.deleteExecution('a');
  },
};

for (const [name, use] of Object.entries(USES)) {
  test(`${name}: no table is read from end to end`, () => {
    const scans = plansOf(use).filter(
      (detail) =>
        /^SCAN (?!CONSTANT|\(subquery|\()/.test(detail) && !/workers|USING .*INDEX executions_by_wake/.test(detail),
    );
    expect(scans).toEqual([]);
  });
}

test('a frame that changes nothing else touches the frames only', () => {
  const texts: string[] = [];
  const database = new Database(':memory:', { verbose: (text) => texts.push(String(text)) });
  migrate(database, ':memory:');
  const journal = new Journal(database);
  journal.append([creating('a')], []);
  texts.length = 0;
  journal.append([{ executionId: 'a', frame: { seq: 2, at: 1, entries: '[]' } }], []);
  expect(texts.map((text) => text.split('(')[0]?.trim())).toEqual([
    'BEGIN IMMEDIATE',
    'PRAGMA data_version',
    'INSERT INTO frames',
    'COMMIT',
  ]);
  database.close();
});
