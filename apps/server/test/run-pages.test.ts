/** Parts of long runs, page by page: journal, iterations, logs, large values; previews of retries and replays. */
import type { Journal } from '@nebula/ports';
import { afterEach, describe, expect, test } from 'vitest';
import { type Booted, boot, memoryKeeping, sqliteKeeping, TOKEN } from './support/boot.ts';
import { ask } from './support/users.ts';
import { large, waiting } from './support/workflows.ts';

let booted: Booted | undefined;
let remove: (() => Promise<void>) | undefined;

afterEach(async () => {
  await booted?.close();
  await remove?.();
  booted = undefined;
  remove = undefined;
});

const headers = { authorization: `Bearer ${TOKEN}` };

async function bootSqlite(): Promise<Booted> {
  const sqlite = await sqliteKeeping();
  remove = sqlite.remove;
  booted = await boot({ keeping: sqlite.keeping });
  return booted;
}

async function ran(
  { client }: Booted,
  definition: { readonly id: string; readonly nodes: object },
  input?: unknown,
): Promise<string> {
  await client.call('registerWorkflow', { body: { definition } });
  const body = { workflowId: definition.id, input };
  return (await client.call('startExecution', { body, query: { wait: '20s' }, waitMs: 21_000 })).executionId;
}

const loop = {
  id: 'loop',
  nodes: {
    each: {
      forEach: { in: '$input.items', minSuccess: 0 },
      do: {
        nodes: {
          fail: { when: '$item.n % 100 == 7', action: 'core.fail', with: { code: 'ODD', message: 'seven' } },
          fine: { action: 'core.noop' },
        },
      },
    },
  },
};

/** 300 items, of which three fail. */
const items = Array.from({ length: 300 }, (_, n) => ({ n, text: 'y'.repeat(300) }));

describe('pages of a run', () => {
  test('[SRV-1059] the journal and the timeline are read backwards, and the pages together are the whole', async () => {
    const { client } = await bootSqlite();
    const params = { executionId: await ran(booted as Booted, loop, { items: items.slice(0, 40) }) };
    for (const operation of ['getJournal', 'getTimeline'] as const) {
      const forwards = (await client.call(operation, { params, query: { limit: 10_000 } })).items;
      const backwards: unknown[] = [];
      for (let before: number | undefined; ; ) {
        const query = { order: 'newest' as const, limit: 7, ...(before !== undefined && { before }) };
        const page = await client.call(operation, { params, query });
        backwards.push(...page.items);
        if (page.next === null) break;
        before = Number(page.next);
      }
      expect(backwards.reverse()).toEqual(forwards);
    }
    const wrong = client.call('getJournal', { params, query: { order: 'newest', after: 1 } });
    await expect(wrong).rejects.toMatchObject({ code: 'QUERY_INVALID' });
  });

  test('[SRV-1060] a page of the journal reads as many frames of a long run as of a short one', async () => {
    const keeping = memoryKeeping();
    let read = 0;
    const counted =
      <K extends 'frames' | 'framesBefore'>(method: K) =>
      async (...given: Parameters<Journal[K]>): Promise<Awaited<ReturnType<Journal[K]>>> => {
        const rows = await (keeping.store[method] as (...given: unknown[]) => ReturnType<Journal[K]>)(...given);
        read += rows.length;
        return rows as Awaited<ReturnType<Journal[K]>>;
      };
    const store = { ...keeping.store, frames: counted('frames'), framesBefore: counted('framesBefore') };
    booted = await boot({ keeping: { ...keeping, store } });
    const { client } = booted;
    const params = { executionId: await ran(booted, loop, { items }) };
    const frames = keeping.store.heads([params.executionId]);
    expect((await frames).get(params.executionId)).toBeGreaterThan(250);
    for (const order of ['oldest', 'newest'] as const) {
      read = 0;
      await client.call('getJournal', { params, query: { order, limit: 100 } });
      expect(read).toBeLessThanOrEqual(16 + 32 + 64);
    }
  });

  test('[SRV-1061] iterations have item, duration and error, by status, with counts; later pages read no journal', async () => {
    const keeping = memoryKeeping();
    let reads = 0;
    const frames: Journal['frames'] = async (executionId, after, limit) => {
      const rows = await keeping.store.frames(executionId, after, limit);
      reads += rows.length;
      return rows;
    };
    booted = await boot({ keeping: { ...keeping, store: { ...keeping.store, frames } } });
    const { client } = booted;
    const params = { executionId: await ran(booted, loop, { items }) };
    const first = await client.call('listIterations', { params, query: { node: 'each', limit: 10 } });
    expect(first.counts).toEqual({ open: 0, completed: 297, failed: 3, cancelled: 0 });
    expect([first.items.length, first.next]).toEqual([10, '9']);
    expect(first.items[7]).toMatchObject({ iteration: 7, status: 'failed', error: { code: 'ODD' } });
    expect(first.items[8]?.item).toMatch(/^\{"n":8,"text":"y+$/);
    expect(first.items[8]?.item).toHaveLength(200);
    expect(first.items[8]?.durationMs).toBeGreaterThanOrEqual(0);
    reads = 0;
    const failed = await client.call('listIterations', { params, query: { node: 'each', status: 'failed', limit: 2 } });
    expect(failed.items.map(({ iteration }) => iteration)).toEqual([7, 107]);
    const rest = await client.call('listIterations', {
      params,
      query: { node: 'each', status: 'failed', limit: 2, cursor: failed.next ?? '' },
    });
    expect([rest.items.map(({ iteration }) => iteration), rest.next]).toEqual([[207], null]);
    expect(reads).toBe(0);
    await expect(client.call('listIterations', { params, query: { node: 'nobody' } })).rejects.toMatchObject({
      code: 'UNKNOWN_NODE',
    });
  });

  test('[SRV-1062] a document of one scope has its nodes alone', async () => {
    booted = await boot();
    const { client } = booted;
    const failing = {
      ...loop,
      id: 'failing-loop',
      nodes: {
        each: { ...loop.nodes.each, forEach: { in: '$input.items' } },
        after: { needs: ['each'], action: 'core.noop' },
      },
    };
    const params = { executionId: await ran(booted, failing, { items: items.slice(0, 10) }) };
    const paths = async (query: object) =>
      Object.keys((await client.call('getExecution', { params, query: { values: 'none', ...query } })).nodes);
    expect(await paths({ scope: '' })).toEqual(['each', 'after']);
    expect(await paths({ scope: 'each/7' })).toEqual(['each/7/fail', 'each/7/fine']);
    expect(await paths({ scope: 'each' })).toEqual(['each/7/fail', 'each/7/fine']);
    expect(await paths({ scope: 'nobody' })).toEqual([]);
    expect(await paths({})).toHaveLength(4);
    const part = await client.call('getExecution', { params, query: { values: 'none', nodesLimit: 3 } });
    expect([Object.keys(part.nodes), part.nodesNext]).toEqual([['each', 'after', 'each/7/fail'], 'each/7/fail']);
    expect(await paths({ nodesLimit: 3, nodesAfter: part.nodesNext })).toEqual(['each/7/fine']);
    const valued = await client.call('getExecution', { params, query: { scope: 'each/7' } });
    expect(valued.nodes['each/7/fail']).toMatchObject({ status: 'failed', input: { code: 'ODD' } });
  });

  test('[SRV-1063] logs are searched, read backwards and downloaded as text', async () => {
    const { client } = await bootSqlite();
    const talk = {
      id: 'talk',
      nodes: {
        each: {
          forEach: { in: '$input' },
          do: { nodes: { say: { action: 'core.log', with: { message: 'Line {{ $item }} of ÄRGER' } } } },
        },
      },
    };
    const list = Array.from({ length: 25 }, (_, index) => index);
    const executionId = await ran(booted as Booted, talk, list);
    const params = { executionId };
    const messages = async (query: object) =>
      (await client.call('listLogs', { params, query: { level: 'info', ...query } })).items.map(
        ({ message }) => message,
      );
    expect(await messages({ search: 'line 1' })).toHaveLength(11);
    expect(await messages({ search: 'ärger', limit: 3, order: 'newest' })).toEqual(
      [24, 23, 22].map((index) => `Line ${index} of ÄRGER`),
    );
    expect(await messages({ search: '100%' })).toEqual([]);
    const page = await client.call('listLogs', { params, query: { level: 'info', order: 'newest', limit: 5 } });
    expect(page.items.map(({ message }) => message)[0]).toBe('Line 24 of ÄRGER');
    const before = Number(page.next);
    expect(await messages({ order: 'newest', before, limit: 1 })).toEqual(['Line 19 of ÄRGER']);
    const searched = await client.call('listLogs', { params, query: { search: 'line', limit: 2 } });
    expect(await messages({ search: 'line', after: Number(searched.next), limit: 1 })).toEqual(['Line 2 of ÄRGER']);
    await expect(client.call('listLogs', { params, query: { search: '  ' } })).rejects.toMatchObject({
      code: 'QUERY_INVALID',
    });
    const answer = await ask(booted as Booted, `GET /api/v1/executions/${executionId}/logs/text?level=info`, {
      headers,
    });
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="${executionId}.log"`,
    });
    const lines = answer.text.trimEnd().split('\n');
    expect(lines).toHaveLength(25);
    expect(lines[3]).toMatch(/^\d{4}-\S+Z INFO {2}each\/3\/say#1 Line 3 of ÄRGER$/);
  });

  test('[SRV-1064] a large value is read in ranges, and previewed', async () => {
    booted = await boot();
    const executionId = await ran(booted, large());
    const [frame] = (await booted.parts.store.frames(executionId, 0)).filter(({ entries }) =>
      entries.includes('sha256'),
    );
    const [, sha256] = /"sha256":"([0-9a-f]{64})"/.exec(frame?.entries ?? '') ?? [];
    const url = `GET /api/v1/executions/${executionId}/blobs/${sha256}`;
    const get = (more: object = {}, query = '') =>
      ask(booted as Booted, `${url}${query}`, { headers: { ...headers, ...more } });
    const whole = await get();
    const total = whole.text.length;
    expect([whole.status, whole.headers['x-total-bytes']]).toEqual([200, String(total)]);
    const part = await get({ range: 'bytes=2-9' });
    expect([part.status, part.text, part.headers['content-range']]).toEqual([
      206,
      whole.text.slice(2, 10),
      `bytes 2-9/${total}`,
    ]);
    expect((await get({ range: 'bytes=-5' })).text).toBe(whole.text.slice(-5));
    expect((await get({ range: `bytes=${total - 3}-` })).text).toBe(whole.text.slice(-3));
    expect((await get({ range: `bytes=${total}-` })).status).toBe(416);
    expect((await get({ range: 'lines=1-2' })).status).toBe(200);
    const beginning = await get({}, '?maxBytes=100');
    expect([beginning.status, beginning.text, beginning.headers['x-total-bytes']]).toEqual([
      200,
      whole.text.slice(0, 100),
      String(total),
    ]);
  });

  test('[SRV-1064] a preview ends with a whole character', async () => {
    booted = await boot();
    const definition = {
      id: 'wide',
      nodes: { make: { action: 'core.set', with: { value: 'ä'.repeat(50_000) } } },
      output: '{{ $nodes.make.output }}',
    };
    const executionId = await ran(booted, definition);
    const [frame] = (await booted.parts.store.frames(executionId, 0)).filter(({ entries }) =>
      entries.includes('sha256'),
    );
    const [, sha256] = /"sha256":"([0-9a-f]{64})"/.exec(frame?.entries ?? '') ?? [];
    for (const maxBytes of [50, 51]) {
      const url = `GET /api/v1/executions/${executionId}/blobs/${sha256}?maxBytes=${maxBytes}`;
      expect((await ask(booted, url, { headers })).text).not.toContain('\uFFFD');
    }
  });

  test('[SRV-1065] the explanation of an earlier moment is that of the journal then', async () => {
    booted = await boot();
    const { client } = booted;
    await client.call('registerWorkflow', { body: { definition: waiting() } });
    const { executionId } = await client.call('startExecution', { body: { workflowId: 'waiting' } });
    const params = { executionId };
    await client.call('awaitRest', { params, query: { wait: '5s' }, waitMs: 6_000 });
    const { seq } = await client.call('getExecution', { params });
    const before = await client.call('explainExecution', { params, query: { node: 'hold' } });
    await client.call('signalExecution', { params, body: { signal: 'go' } });
    await client.call('getResult', { params, query: { wait: '5s' }, waitMs: 6_000 });
    const past = await client.call('explainExecution', { params, query: { node: 'hold', at: seq } });
    expect([past.status, past.causes[0]?.code]).toEqual([before.status, before.causes[0]?.code]);
    expect((await client.call('explainExecution', { params, query: { node: 'hold' } })).status).toBe('completed');
    expect((await client.call('explainExecution', { params, query: { at: seq } })).status).toBe('running');
  });

  test('[SRV-1066] a dry run of a retry or a replay says what would run again, and changes nothing', async () => {
    booted = await boot();
    const { client } = booted;
    const definition = {
      id: 'chain',
      nodes: {
        first: { action: 'core.noop' },
        second: { needs: ['first'], action: 'core.noop' },
        third: { needs: ['second'], action: 'core.fail', with: { code: 'BROKEN', message: 'no' } },
        fourth: { needs: ['third'], action: 'core.noop' },
      },
    };
    const params = { executionId: await ran(booted, definition) };
    const { seq } = await client.call('getExecution', { params });
    const retried = await client.call('retryExecution', { params, body: { dryRun: true } });
    expect(retried).toEqual({
      executionId: params.executionId,
      accepted: false,
      again: expect.arrayContaining(['third', 'fourth']),
      continues: [],
      kept: ['first', 'second'],
      more: false,
    });
    const replayed = await client.call('replayExecution', { params, body: { node: 'second', dryRun: true } });
    expect(replayed).toMatchObject({ kept: ['first'], again: expect.arrayContaining(['second', 'third', 'fourth']) });
    const unknown = client.call('replayExecution', { params, body: { node: 'nobody', dryRun: true } });
    await expect(unknown).rejects.toMatchObject({ code: 'UNKNOWN_NODE' });
    expect(await booted.parts.store.inbox(params.executionId)).toEqual([]);
    expect((await client.call('getExecution', { params })).seq).toBe(seq);
  });
});
