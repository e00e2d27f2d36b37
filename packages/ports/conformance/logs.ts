/** The contract of logs, by the rules of SPEC.md. */

import type { LogFilter, LogLine, Logs, StoredLogLine } from '@nebula/ports';
import { describe, expect, test as vitestTest } from 'vitest';

export interface LogsSubject {
  readonly logs: Logs;
  /** Opens the same data again, after closing it. */
  readonly reopen?: () => Promise<Logs>;
  /** Reads the same data as another process would, beside this one. */
  readonly beside?: () => Promise<Logs>;
  readonly close: () => Promise<void>;
}

type LogsTest = (title: string, body: (subject: LogsSubject) => Promise<void>) => void;

export function logsSuite(name: string, open: () => Promise<LogsSubject>): void {
  const logsTest: LogsTest = (title, body) =>
    vitestTest(title, async () => {
      const subject = await open();
      try {
        await body(subject);
      } finally {
        await subject.close();
      }
    });
  describe(`logs contract: ${name}`, () => {
    lineTests(logsTest);
    followTests(logsTest);
  });
}

function line(message: string, more: Partial<LogLine> = {}): LogLine {
  return { executionId: 'exe', node: 'fetch', attempt: 1, at: 5, level: 'info', message, ...more };
}

async function messages(logs: Logs, filter: Partial<LogFilter> = {}): Promise<readonly string[]> {
  return (await logs.read({ executionId: 'exe', limit: 100, ...filter })).map((stored) => stored.message);
}

function lineTests(test: LogsTest): void {
  test('[LOG-1] lines come back in order, as they were', async ({ logs }) => {
    const given = [
      line('one', { fields: { count: 3, nested: { text: '😀', nothing: null }, list: [1, 'a'] } }),
      line('two', { node: null, attempt: null, level: 'error' }),
      line('a\u0000b\n😀\u2028'),
      line(''),
    ];
    for (const each of given) logs.append(each);
    await logs.flush();
    const stored = await logs.read({ executionId: 'exe', limit: 10 });
    expect(stored.map(({ position: _, ...rest }) => rest)).toEqual(given);
    const positions = stored.map((each) => each.position);
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
    expect(positions[0]).toBeGreaterThan(0);
  });

  test('[LOG-1] flushed lines are there after reopening', async ({ logs, reopen }) => {
    logs.append(line('one'));
    await logs.flush();
    await logs.flush();
    if (reopen === undefined) return;
    const again = await reopen();
    again.append(line('two'));
    await again.flush();
    expect(await messages(again)).toEqual(['one', 'two']);
  });

  test('[LOG-2] reading filters', async ({ logs }) => {
    logs.append(line('debug', { level: 'debug' }));
    logs.append(line('other node', { node: 'charge' }));
    logs.append(line('warn', { level: 'warn' }));
    logs.append(line('other run', { executionId: 'exe2' }));
    logs.append(line('error', { level: 'error', node: null }));
    await logs.flush();
    expect(await messages(logs)).toEqual(['debug', 'other node', 'warn', 'error']);
    expect(await messages(logs, { node: 'fetch' })).toEqual(['debug', 'warn']);
    expect(await messages(logs, { minLevel: 'info' })).toEqual(['other node', 'warn', 'error']);
    expect(await messages(logs, { minLevel: 'error' })).toEqual(['error']);
    expect(await messages(logs, { limit: 2 })).toEqual(['debug', 'other node']);
    expect(await messages(logs, { executionId: 'ghost' })).toEqual([]);
    const [first, second] = await logs.read({ executionId: 'exe', limit: 2 });
    expect(await messages(logs, { afterPosition: (first as StoredLogLine).position, limit: 1 })).toEqual([
      'other node',
    ]);
    const afterPosition = (second as StoredLogLine).position;
    expect(await messages(logs, { afterPosition, minLevel: 'warn', node: 'fetch' })).toEqual(['warn']);
  });

  test('[LOG-3] append does not throw, for any line', async ({ logs }) => {
    const circular: Record<string, never> = {};
    (circular as Record<string, unknown>).self = circular;
    const hostile: LogLine[] = [
      line('\ud800 alone \udfff'),
      line('circular', { fields: circular }),
      line('not json', { fields: { big: 10n, nothing: undefined, code: () => 1 } as never }),
      line(undefined as never),
      line('proto', { fields: JSON.parse('{"__proto__":{"x":1}}') }),
      line('time', { at: 1.5 }),
      line('level', { level: 'shouted' as never }),
    ];
    for (const each of hostile) logs.append(each);
    logs.append(line('last'));
    await logs.flush();
    const stored = await messages(logs);
    expect(stored).toHaveLength(hostile.length + 1);
    expect(stored.at(-1)).toBe('last');
    expect(stored[0]).toContain('alone');
  });

  test('[LOG-9] a line that can never be written blocks no other line, and every returned time is a date', async ({
    logs,
  }) => {
    const poison: LogLine[] = [
      line('nan', { at: Number.NaN }),
      line('endless', { at: Number.POSITIVE_INFINITY }),
      line('far', { at: 1e300 }),
      line('before', { at: -1e15 }),
      line('text', { at: 'noon' as never }),
      line('attempt', { attempt: { toString: () => '1' } as never }),
      line('node', { node: ['a'] as never }),
      line({ toString: () => ({}) } as never),
      line('nobody', { executionId: undefined as never }),
    ];
    for (const [index, each] of poison.entries()) {
      logs.append(each);
      logs.append(line(`good ${index}`));
    }
    await logs.flush();
    const stored = await logs.read({ executionId: 'exe', limit: 100 });
    for (const index of poison.keys()) expect(stored.map(({ message }) => message)).toContain(`good ${index}`);
    for (const { at } of stored) expect(() => new Date(at).toISOString()).not.toThrow();
  });

  test('[LOG-4] a line that is too long is cut, with a note', async ({ logs }) => {
    logs.append(line('x'.repeat(3_000_000)));
    logs.append(line('fields', { fields: { big: 'y'.repeat(3_000_000) } }));
    await logs.flush();
    const [long, fields] = await logs.read({ executionId: 'exe', limit: 2 });
    expect(long?.message.length).toBeLessThan(100_000);
    expect(long?.message).toContain('more characters were cut off');
    expect(JSON.stringify(fields?.fields).length).toBeLessThan(100_000);
    expect(fields?.fields).toHaveProperty('cut');
  });

  test('[LOG-6] deleting removes the lines of one execution, waiting ones too', async ({ logs }) => {
    for (let index = 0; index < 20; index++) logs.append(line(`line ${index}`));
    logs.append(line('other', { executionId: 'exe2' }));
    await logs.flush();
    logs.append(line('waiting'));
    logs.append(line('other waiting', { executionId: 'exe2' }));
    await logs.deleteExecution('exe');
    await logs.deleteExecution('ghost');
    await logs.flush();
    expect(await messages(logs)).toEqual([]);
    expect(await messages(logs, { executionId: 'exe2' })).toEqual(['other', 'other waiting']);
  });

  test('[LOG-7] closing writes buffered lines and may be repeated', async ({ logs, reopen }) => {
    logs.append(line('one'));
    if (reopen === undefined) {
      await logs.close();
      await logs.close();
      logs.append(line('too late'));
      return;
    }
    const again = await reopen();
    expect(await messages(again)).toEqual(['one']);
    await again.close();
    await again.close();
    again.append(line('too late'));
  });

  test('[LOG-8] a flood keeps important lines and counts the dropped ones', async ({ logs }) => {
    const flood = 60_000;
    for (let index = 0; index < flood; index++) {
      const level = index % 1_000 === 0 ? 'error' : index % 10 === 0 ? 'info' : 'debug';
      logs.append(line(`line ${index}`, { level }));
    }
    await logs.flush();
    const stored = await logs.read({ executionId: 'exe', limit: flood + 1_000 });
    const notes = stored.filter((each) => each.fields?.dropped !== undefined);
    const dropped = notes.reduce((sum, each) => sum + Number(each.fields?.dropped), 0);
    expect(stored.length - notes.length + dropped).toBe(flood);
    expect(stored.filter((each) => each.level === 'error')).toHaveLength(flood / 1_000);
    expect(stored.at(-1)?.message === `line ${flood - 1}` || notes.length > 0).toBe(true);
  });
}

function followTests(test: LogsTest): void {
  test('[LOG-5] following gives stored lines and then new ones', async ({ logs }) => {
    for (let index = 0; index < 25; index++) logs.append(line(`old ${index}`));
    await logs.flush();
    const follower = follow(logs, { limit: 10 });
    await follower.until(25);
    for (let index = 0; index < 25; index++) {
      logs.append(line(`new ${index}`, { level: index % 2 === 0 ? 'info' : 'debug' }));
      if (index % 5 === 0) await logs.flush();
    }
    await follower.until(50);
    follower.abort();
    await follower.ended;
    expect(follower.seen.map((each) => each.message)).toEqual([
      ...Array.from({ length: 25 }, (_, index) => `old ${index}`),
      ...Array.from({ length: 25 }, (_, index) => `new ${index}`),
    ]);
  });

  test('[LOG-5] following heeds the filter and the start', async ({ logs }) => {
    for (const message of ['one', 'two', 'three']) logs.append(line(message));
    await logs.flush();
    const [first] = await logs.read({ executionId: 'exe', limit: 1 });
    const follower = follow(logs, { afterPosition: (first as StoredLogLine).position, minLevel: 'info', limit: 1 });
    logs.append(line('whisper', { level: 'debug' }));
    logs.append(line('elsewhere', { executionId: 'exe2' }));
    logs.append(line('four'));
    await follower.until(3);
    follower.abort();
    await follower.ended;
    expect(follower.seen.map((each) => each.message)).toEqual(['two', 'three', 'four']);
  });

  test('[LOG-5] an aborted signal ends following without an error', async ({ logs }) => {
    logs.append(line('one'));
    await logs.flush();
    const aborted = logs.follow({ executionId: 'exe', limit: 5 }, AbortSignal.abort());
    for await (const each of aborted) expect(each).toBe('nothing');
    await logs.deleteExecution('exe');
    const follower = follow(logs, { limit: 5 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    follower.abort();
    await follower.ended;
    expect(follower.seen).toEqual([]);
  });

  test('[LOG-5] another process can follow', async ({ logs, beside }) => {
    if (beside === undefined) return;
    const other = await beside();
    const follower = follow(other, { limit: 5 });
    logs.append(line('one'));
    await logs.flush();
    await follower.until(1);
    logs.append(line('two'));
    await logs.flush();
    await follower.until(2);
    follower.abort();
    await follower.ended;
    await other.close();
  });

  test('[LOG-20] lines are read from the end backwards, and before a position', async ({ logs }) => {
    for (let index = 0; index < 9; index++) logs.append(line(`line ${index}`));
    logs.append({ ...line('of another'), executionId: 'other' });
    await logs.flush();
    const read = async (more: Partial<LogFilter>) => logs.read({ executionId: 'exe', limit: 3, ...more });
    const last = await read({ order: 'newest' });
    expect(last.map(({ message }) => message)).toEqual(['line 8', 'line 7', 'line 6']);
    const beforePosition = last.at(-1)?.position ?? 0;
    const earlier = await read({ order: 'newest', beforePosition });
    expect(earlier.map(({ message }) => message)).toEqual(['line 5', 'line 4', 'line 3']);
    const [first, ...rest] = await read({ beforePosition, limit: 9 });
    expect([first?.message, rest.at(-1)?.message]).toEqual(['line 0', 'line 5']);
    const between = await read({ afterPosition: first?.position ?? 0, beforePosition, limit: 9 });
    expect(between).toEqual(rest);
  });

  test('[LOG-21] a search finds lines by their message, without regard to case', async ({ logs }) => {
    for (let index = 0; index < 12; index++) {
      logs.append({ ...line(`Größe ${index % 3} of 100%`), node: index < 6 ? 'a' : 'b' });
    }
    await logs.flush();
    const search = async (text: string, more: Partial<LogFilter> = {}) =>
      logs.search({ executionId: 'exe', limit: 20, text, ...more });
    const found = await search('GRÖSSE 1'.replace('SS', 'ß'));
    expect([found.lines.length, found.last]).toEqual([4, null]);
    expect((await search('größe 1', { node: 'b' })).lines).toHaveLength(2);
    expect((await search('%')).lines).toHaveLength(12);
    expect((await search('_')).lines).toEqual([]);
    const page = await search('größe 2', { limit: 3, order: 'newest' });
    expect(page.lines).toHaveLength(3);
    expect(page.last).toBe(page.lines.at(-1)?.position);
    const next = await search('größe 2', { limit: 3, order: 'newest', beforePosition: page.last ?? 0 });
    expect([next.lines.length, next.last]).toEqual([1, null]);
    const positions = [...page.lines, ...next.lines].map(({ position }) => position);
    expect(positions).toEqual([...positions].sort((a, b) => b - a));
  });

  test('[LOG-7] closing ends followers', async ({ logs }) => {
    const follower = follow(logs, { limit: 5 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await logs.close();
    await follower.ended;
  });
}

function follow(logs: Logs, filter: Partial<LogFilter> & { readonly limit: number }) {
  const controller = new AbortController();
  const seen: StoredLogLine[] = [];
  const ended = (async () => {
    for await (const page of logs.follow({ executionId: 'exe', ...filter }, controller.signal)) {
      expect(page.length).toBeLessThanOrEqual(filter.limit);
      seen.push(...page);
    }
  })();
  return {
    seen,
    ended,
    abort: () => controller.abort(),
    async until(count: number): Promise<void> {
      for (let waited = 0; seen.length < count; waited += 5) {
        expect(waited).toBeLessThan(4_000);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}
