/** The contract of records, by the rules of SPEC.md. */

import type { RecordChange, RecordPage, Records } from '@nebula/ports';
import { describe, expect, test } from 'vitest';

export interface RecordsSubject {
  readonly records: Records;
  /** The clock of the driver. */
  readonly now: () => number;
  /** Lets so much time pass. */
  readonly pass: (ms: number) => Promise<void>;
  /** Closes the data and opens it again, as a new process would. */
  readonly reopen?: () => Promise<Records>;
  /** Another instance on the same data, as in another process. */
  readonly beside?: () => Promise<Records>;
  readonly close: () => Promise<void>;
}

const ONE_MB = 1024 * 1024;

const HOSTILE_TEXTS = [
  '\u0000',
  'a\u0000b',
  "'; DROP TABLE records; --",
  '😀',
  'e\u0301',
  '\u00e9',
  '%',
  '_',
  '"',
  ' ',
];

export function recordsSuite(name: string, open: () => Promise<RecordsSubject>): void {
  const recordsTest = (title: string, body: (subject: RecordsSubject) => Promise<void>): void =>
    test(title, { timeout: 60_000 }, async () => {
      const subject = await open();
      try {
        await body(subject);
      } finally {
        await subject.close();
      }
    });
  describe(`records contract: ${name}`, () => {
    commitTests(recordsTest);
    revisionTests(recordsTest);
    listTests(recordsTest);
    expiryTests(recordsTest);
    keepingTests(recordsTest);
  });
}

type RecordsTest = (title: string, body: (subject: RecordsSubject) => Promise<void>) => void;

function put(id: string, more: Partial<RecordChange> = {}): RecordChange {
  return { kind: 'user', id, body: `"${id}"`, ...more };
}

async function bodyOf(records: Records, id: string, kind = 'user'): Promise<string | undefined> {
  return (await records.get(kind, id))?.body;
}

async function committed(records: Records, ...changes: readonly RecordChange[]): Promise<number> {
  const outcome = await records.commit(changes);
  if (!outcome.ok) throw new Error(`${outcome.kind} ${outcome.id} was at ${outcome.revision}`);
  return outcome.revision;
}

async function ids(records: Records, page: Partial<RecordPage> = {}, kind = 'user'): Promise<readonly string[]> {
  return (await records.list(kind, { limit: 100, ...page })).map((row) => row.id);
}

function commitTests(test: RecordsTest): void {
  test('[REC-1] a record comes back as it was last written', async ({ records, now, pass }) => {
    expect(await records.get('user', 'ada')).toBeUndefined();
    const before = now();
    const first = await committed(records, put('ada', { expiresAt: before + 3_600_000 }));
    const row = await records.get('user', 'ada');
    expect(row).toEqual({
      kind: 'user',
      id: 'ada',
      body: '"ada"',
      revision: first,
      updatedAt: expect.any(Number),
      expiresAt: before + 3_600_000,
    });
    expect(row?.updatedAt).toBeGreaterThanOrEqual(before);
    await pass(20);
    const second = await committed(records, put('ada', { body: '{}' }));
    expect(await records.get('user', 'ada')).toMatchObject({ body: '{}', revision: second, expiresAt: null });
    expect((await records.get('user', 'ada'))?.updatedAt).toBeGreaterThan(row?.updatedAt as number);
    await committed(records, put('ada', { body: null }));
    expect(await records.get('user', 'ada')).toBeUndefined();
    expect(row?.body).toBe('"ada"');
  });

  test('[REC-1] kinds and ids are compared by their exact characters; text comes back as it was', async ({
    records,
  }) => {
    const names = [...HOSTILE_TEXTS, 'A', 'a', 'a ', '__proto__', 'constructor', '1', '01'];
    const all = names.flatMap((kind) => names.map((id) => ({ kind, id, body: `${kind} ${id}` })));
    await committed(records, ...all);
    for (const { kind, id, body } of all) expect(await bodyOf(records, id, kind)).toBe(body);
    for (const kind of names) expect(await ids(records, {}, kind)).toHaveLength(names.length);
    await committed(records, { kind: 'a', id: 'a', body: null });
    expect(await ids(records, {}, 'a')).toHaveLength(names.length - 1);
    expect(await ids(records, {}, 'A')).toHaveLength(names.length);
  });

  test('[REC-2] nothing changes when one expectation does not hold', async ({ records }) => {
    const revision = await committed(records, put('ada'), put('bob'));
    const outcome = await records.commit([
      put('eve'),
      put('ada', { body: null }),
      put('bob', { body: '1', expected: revision + 1 }),
      put('ada', { expected: 0 }),
    ]);
    expect(outcome).toEqual({ ok: false, kind: 'user', id: 'bob', revision });
    expect(await records.list('user', { limit: 9 })).toMatchObject([
      { id: 'ada', revision, body: '"ada"' },
      { id: 'bob', revision, body: '"bob"' },
    ]);
  });

  test('[REC-4] expectations are checked against the state before; changes are made in order', async ({ records }) => {
    const revision = await committed(records, put('ada'));
    await committed(
      records,
      put('ada', { body: null, expected: revision }),
      put('ada', { body: '2', expected: revision }),
      put('bob', { expected: 0 }),
      put('bob', { body: '3', expected: 0 }),
      put('eve'),
      put('eve', { body: null }),
    );
    expect((await records.list('user', { limit: 9 })).map((row) => row.body)).toEqual(['2', '3']);
  });

  test('[REC-11] thousands of records in one commit, and a megabyte in one of them', async ({ records }) => {
    const big = 'ä'.repeat(ONE_MB / 2);
    const many = Array.from({ length: 5_000 }, (_, index) => put(String(index).padStart(5, '0')));
    await committed(records, ...many, { kind: 'big', id: 'one', body: big });
    expect(await ids(records, { limit: 10_000 })).toEqual(many.map((change) => change.id));
    expect((await bodyOf(records, 'one', 'big')) === big).toBe(true);
    expect((await records.commit([])).ok).toBe(true);
  });
}

function revisionTests(test: RecordsTest): void {
  test('[REC-3] an expected revision must be the one that is there', async ({ records }) => {
    expect(await records.commit([put('ada', { expected: 1 })])).toMatchObject({ ok: false, revision: 0 });
    const first = await committed(records, put('ada', { expected: 0 }));
    expect(await records.commit([put('ada', { expected: 0 })])).toMatchObject({ ok: false, revision: first });
    const second = await committed(records, put('ada', { expected: first }));
    expect(await records.commit([put('ada', { body: null, expected: first })])).toMatchObject({ revision: second });
    const third = await committed(records, put('ada'));
    await committed(records, put('ada', { body: null, expected: third }));
    await committed(records, put('ada', { body: null }), put('ada', { body: null, expected: 0 }));
    expect(await ids(records)).toEqual([]);
  });

  test('[REC-3] of commits that expect the same one succeeds', async ({ records, beside }) => {
    const other = beside === undefined ? records : await beside();
    const revision = await committed(records, put('ada'));
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? records : other).commit([put('ada', { body: String(index), expected: revision })]),
      ),
    );
    expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
    const won = outcomes.findIndex((outcome) => outcome.ok);
    expect(await bodyOf(records, 'ada')).toBe(String(won));
  });

  test('[REC-5] revisions grow, and none is given twice', async ({ records, now, pass, reopen }) => {
    const seen = [await committed(records, put('ada'), put('bob'))];
    seen.push(await committed(records, put('ada', { body: null }), put('bob', { body: null })));
    seen.push(await committed(records, put('ada', { expiresAt: now() + 5 })));
    await pass(20);
    expect(await records.purge(now(), 10)).toBe(1);
    const again = reopen === undefined ? records : await reopen();
    seen.push(await committed(again, put('ada')));
    seen.push(await committed(again, { kind: 'other', id: 'ada', body: '' }));
    expect(seen[0]).toBeGreaterThan(0);
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
    expect(await again.commit([put('ada', { expected: seen[0] as number })])).toMatchObject({ ok: false });
  });
}

function listTests(test: RecordsTest): void {
  test('[REC-6] in order of ids, up and down, of one kind', async ({ records }) => {
    const inOrder = ['', '\u0000', 'A', 'a', 'a\u0000', 'aa', 'b', 'z', '\u00e9', '\ufffd', '😀', '😀a', '\u{10ffff}'];
    await committed(records, ...inOrder.toReversed().map((id) => put(id)));
    await committed(records, ...inOrder.map((id) => put(id, { kind: 'users' })), put('x', { kind: 'use' }));
    expect(await ids(records)).toEqual(inOrder);
    expect(await ids(records, { order: 'ascending', limit: 3 })).toEqual(inOrder.slice(0, 3));
    expect(await ids(records, { order: 'descending' })).toEqual(inOrder.toReversed());
    expect(await ids(records, { order: 'descending', limit: 2 })).toEqual(['\u{10ffff}', '😀a']);
    expect(await ids(records, { limit: Number.POSITIVE_INFINITY })).toHaveLength(inOrder.length);
    expect(await ids(records, { limit: 0 })).toEqual([]);
    expect(await ids(records, {}, 'none')).toEqual([]);
  });

  test('[REC-7] lists ids with a prefix, whatever it ends with', async ({ records }) => {
    const prefixes = ['a', 'a/', 'a\u0000', '\ud7ff', '\u{10ffff}', 'a\u{10ffff}', '😀', '%', '_', 'a_'];
    const all = prefixes.flatMap((prefix) => [prefix, `${prefix}\u0000`, `${prefix}b`, `${prefix}\u{10ffff}z`]);
    await committed(records, ...all.map((id) => put(id)));
    for (const prefix of ['', ...prefixes]) {
      const expected = new Set(all.filter((id) => id.startsWith(prefix)));
      expect(new Set(await ids(records, { prefix }))).toEqual(expected);
      expect(new Set(await ids(records, { prefix, order: 'descending' }))).toEqual(expected);
    }
    expect(await ids(records, { prefix: 'nothing' })).toEqual([]);
  });

  test('[REC-7] page by page, up and down, while records come and go', async ({ records }) => {
    const names = Array.from({ length: 23 }, (_, index) => `p/${String(index).padStart(2, '0')}`);
    await committed(records, ...names.map((id) => put(id)), put('o/1'), put('q/1'));
    for (const order of ['ascending', 'descending'] as const) {
      const seen: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await ids(records, { prefix: 'p/', order, limit: 4, ...(after === undefined ? {} : { after }) });
        if (page.length === 0) break;
        seen.push(...page);
        after = page.at(-1) as string;
        await committed(records, put(after, { body: null }));
      }
      expect(seen).toEqual(order === 'ascending' ? names : names.toReversed());
      await committed(records, ...names.map((id) => put(id)));
    }
    expect(await ids(records, { prefix: 'p/', after: 'a' })).toEqual(names);
    expect(await ids(records, { prefix: 'p/', after: 'q' })).toEqual([]);
    expect(await ids(records, { prefix: 'p/', after: 'q', order: 'descending' })).toEqual(names.toReversed());
  });
}

function expiryTests(test: RecordsTest): void {
  test('[REC-8] a record is there until it expires', async ({ records, now, pass }) => {
    const expiresAt = now() + 60;
    const revision = await committed(records, put('ada', { expiresAt }), put('bob', { expiresAt }), put('eve'));
    await committed(records, put('bob'), put('gus', { expiresAt: now() + 3_600_000 }));
    await pass(expiresAt - now() + 10);
    expect(await records.get('user', 'ada')).toBeUndefined();
    expect(await ids(records)).toEqual(['bob', 'eve', 'gus']);
    expect(await ids(records, { limit: 1 })).toEqual(['bob']);
    expect(await records.commit([put('ada', { expected: revision })])).toMatchObject({ ok: false, revision: 0 });
    await committed(records, put('ada', { expected: 0 }));
    expect(await bodyOf(records, 'ada')).toBe('"ada"');
  });

  test('[REC-9] purging removes expired records, oldest first, in bounded pieces', async ({ records, now }) => {
    const start = now();
    const expiring = Array.from({ length: 10 }, (_, index) =>
      put(`e${index}`, { expiresAt: start + 3_600_000 - index }),
    );
    await committed(records, ...expiring, put('kept'), put('late', { kind: 'other', expiresAt: start + 7_200_000 }));
    expect(await records.purge(start, 100)).toBe(0);
    expect(await records.purge(start + 3_600_000 - 9, 100)).toBe(1);
    expect(await records.purge(start + 3_600_000, 4)).toBe(4);
    expect(await ids(records)).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'kept']);
    expect(await records.purge(start + 3_600_000, 100)).toBe(5);
    expect(await records.purge(start + 3_600_000, 100)).toBe(0);
    expect(await ids(records)).toEqual(['kept']);
    expect(await ids(records, {}, 'other')).toEqual(['late']);
  });
}

function keepingTests(test: RecordsTest): void {
  test('[REC-10] a committed record exists, beside the writer and afterwards', async ({ records, beside, reopen }) => {
    const other = beside === undefined ? records : await beside();
    const first = await committed(records, put('ada'));
    expect(await other.get('user', 'ada')).toMatchObject({ revision: first });
    const second = await committed(other, put('ada', { expected: first, body: '2' }), put('bob'));
    expect(await records.get('user', 'ada')).toMatchObject({ revision: second, body: '2' });
    const again = reopen === undefined ? records : await reopen();
    expect(await again.list('user', { limit: 9 })).toMatchObject([{ id: 'ada', body: '2' }, { id: 'bob' }]);
  });
}
