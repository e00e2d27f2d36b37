import type { Action } from '@nebula/core';
import type { Store } from '@nebula/ports';
import { afterEach, describe, expect, test } from 'vitest';
import { type Booted, boot } from './support/boot.ts';

let booted: Booted | undefined;

afterEach(async () => {
  await booted?.close();
  booted = undefined;
});

async function started({ client }: Booted, definition: { readonly id: string }, input?: unknown): Promise<string> {
  await client.call('registerWorkflow', { body: { definition } });
  const { executionId } = await client.call('startExecution', { body: { workflowId: definition.id, input } });
  await client.call('awaitRest', { params: { executionId }, query: { wait: '5s' }, waitMs: 6_000 });
  return executionId;
}

const counting = {
  id: 'counting',
  variables: { n: 1 },
  nodes: {
    more: { set: { n: '{{ $vars.n + $input.by }}' } },
    hold: { wait: { signal: 'go' }, needs: ['more'] },
    say: { action: 'core.noop@1', with: { total: '{{ $vars.n }}' }, needs: ['hold'] },
  },
};
const long = {
  id: 'long',
  nodes: { each: { forEach: { in: '$input' }, do: { nodes: { say: { action: 'core.noop' } } } } },
};
const quick = {
  id: 'quick',
  nodes: { each: { forEach: { in: '$input' }, do: { nodes: { note: { set: { last: '{{ $item }}' } } } } } },
  variables: { last: 0 },
};
const keyed = { id: 'keyed', nodes: { hold: { wait: { signal: 'go' }, concurrency: { key: 'one', limit: 1 } } } };

describe('views of a run', () => {
  test('[SRV-660] the document shows the current and past states of a run', async () => {
    booted = await boot();
    const { client } = booted;
    const executionId = await started(booted, counting, { by: 4 });
    const params = { executionId };
    const waiting = await client.call('getExecution', { params });
    expect(waiting).toMatchObject({
      status: 'running',
      input: { by: 4 },
      variables: { n: 5 },
      durationMs: null,
      nodes: { hold: { status: 'waiting', waitsFor: { kind: 'event', events: [{ kind: 'signal', signal: 'go' }] } } },
    });
    await client.call('signalExecution', { params, body: { signal: 'go' } });
    await client.call('getResult', { params, query: { wait: '5s' }, waitMs: 6_000 });
    const ended = await client.call('getExecution', { params });
    expect(ended).toMatchObject({ status: 'completed', nodes: { say: { input: { total: 5 } } } });
    expect(ended.durationMs).toBe(Date.parse(ended.finishedAt ?? '') - Date.parse(ended.startedAt ?? ''));
    expect(ended.updatedAt).toBe(ended.finishedAt);
    expect(await client.call('getExecution', { params, query: { at: waiting.seq } })).toEqual(waiting);
    expect(await client.call('getExecution', { params, query: { at: 1_000 } })).toEqual(ended);
  });

  test('[SRV-683] the iterations of a loop are read page by page', async () => {
    booted = await boot();
    const { client } = booted;
    const items = Array.from({ length: 2_500 }, (_, index) => index);
    const executionId = await started(booted, quick, items);
    const params = { executionId };
    const read = (query: { readonly cursor?: string; readonly limit?: number } = {}) =>
      client.call('listIterations', { params, query: { node: 'each', ...query } });
    const first = await read();
    expect([first.items.length, first.next]).toEqual([1_000, '999']);
    expect(first.items[999]).toMatchObject({ iteration: 999, status: 'completed', startedAt: expect.any(String) });
    expect((await read({ cursor: '2498' })).items).toMatchObject([{ iteration: 2_499 }]);
    const numbers: number[] = [];
    for await (const one of client.all('listIterations', { params, query: { node: 'each', limit: 600 } })) {
      numbers.push(one.iteration);
    }
    expect(numbers).toEqual(items);
    for (const node of ['other', '__proto__', 'constructor']) {
      const unknown = client.call('listIterations', { params, query: { node } });
      await expect(unknown, node).rejects.toMatchObject({ code: 'UNKNOWN_NODE' });
    }
  });

  test('[SRV-755, SBX-56] the attempts of a node, with their errors and stacks', async () => {
    let calls = 0;
    const flaky: Action = {
      id: 'flaky',
      version: '1',
      effect: 'pure',
      run: () => {
        if (++calls < 4) throw new Error(`not yet ${calls}`);
        return 'done';
      },
    };
    booted = await boot({ actions: [flaky] });
    const { client } = booted;
    const retry = { attempts: 5, initial: '1ms' };
    const definition = { id: 'trying', nodes: { try: { action: 'flaky', retry }, wait: { wait: { for: '1ms' } } } };
    const executionId = await started(booted, definition);
    const params = { executionId };
    const { items, next } = await client.call('listAttempts', { params, query: { node: 'try' } });
    expect(items.map(({ attempt, end, error }) => [attempt, end, error?.message])).toEqual([
      [1, 'failed', 'not yet 1'],
      [2, 'failed', 'not yet 2'],
      [3, 'failed', 'not yet 3'],
      [4, 'completed', undefined],
    ]);
    expect(next).toBeNull();
    expect(items[2]?.stack).toMatch(/^Error: not yet 3\n {4}at .*view\.test\.ts:\d+:\d+/);
    expect(items[2]?.stack).not.toMatch(/node:|packages/);
    expect(items[3]).toMatchObject({ stack: null, worker: expect.any(String), endedAt: expect.any(String) });
    const read = (query: { readonly cursor?: string; readonly limit?: number }) =>
      client.call('listAttempts', { params, query: { node: 'try', ...query } });
    expect((await read({ limit: 2 })).next).toBe('2');
    expect((await read({ limit: 2, cursor: '2' })).items.map(({ attempt }) => attempt)).toEqual([3, 4]);
    expect((await client.call('listAttempts', { params, query: { node: 'wait' } })).items).toEqual([]);
    for (const node of ['other', '__proto__', 'constructor']) {
      const unknown = client.call('listAttempts', { params, query: { node } });
      await expect(unknown, node).rejects.toMatchObject({ code: 'UNKNOWN_NODE' });
    }
  });

  test('[SRV-663] without values no blob is read', async () => {
    booted = await boot();
    const { client, parts } = booted;
    const definition = { id: 'large', nodes: { say: { action: 'core.noop@1', with: { text: '{{ $input.text }}' } } } };
    const executionId = await started(booted, definition, { text: 'x'.repeat(100_000) });
    const params = { executionId };
    const { nodes, input } = await client.call('getExecution', { params });
    expect(nodes.say?.output).toEqual(input);
    parts.blobs.get = () => Promise.reject(new Error('no blob is needed'));
    const bare = await client.call('getExecution', { params, query: { values: 'none' } });
    expect(bare).toMatchObject({ status: 'completed', nodes: { say: { status: 'completed', attempts: 1 } } });
    expect([bare.input, bare.output, bare.variables, bare.nodes.say?.input]).toEqual(Array(4).fill(undefined));
  });

  test('[SRV-910] the document has a node of an ended iteration that is asked for', async () => {
    booted = await boot();
    const { client } = booted;
    const body = { nodes: { say: { action: 'core.noop@1', with: { text: '{{ $item }}' } } } };
    const definition = { id: 'saying', nodes: { each: { forEach: { in: '$input' }, do: body } } };
    const large = 'x'.repeat(100_000);
    const executionId = await started(booted, definition, ['a', large]);
    const params = { executionId };
    const read = async (query: { node?: string; at?: number; values?: 'none' }) =>
      (await client.call('getExecution', { params, query })).nodes;
    expect(Object.keys(await read({}))).toEqual(['each']);
    const node = 'each/1/say';
    const values = { input: { text: large }, output: { text: large } };
    const { each, [node]: ended } = await read({ node });
    expect(ended).toMatchObject({ status: 'completed', attempts: 1, durationMs: expect.any(Number), ...values });
    expect(each).toEqual((await read({}))['each']);
    const bare = (await read({ node, values: 'none' }))[node];
    expect(bare).toEqual({ ...ended, input: undefined, output: undefined });
    expect(Object.keys(await read({ node: 'each/2/say' }))).toEqual(['each']);
    expect(await read({ node, at: 1 })).not.toHaveProperty([node, 'output', 'text']);
  });

  test('[SRV-661, VIEW-13] an explanation has causes, and names who holds a key', async () => {
    booted = await boot();
    const { client } = booted;
    const first = await started(booted, keyed);
    const second = await started(booted, keyed);
    const { causes, reasons } = await client.call('explainExecution', {
      params: { executionId: second },
      query: { node: 'hold' },
    });
    expect(causes).toMatchObject([
      { code: 'concurrency', value: { key: 'one', limit: 1 } },
      { code: 'held-by', link: { executionId: first, node: 'hold' } },
    ]);
    expect(reasons).toEqual(causes.map(({ message }) => message));
    const whole = await client.call('explainExecution', { params: { executionId: second } });
    expect(whole.causes).toMatchObject([
      { code: 'concurrency', node: 'hold' },
      { code: 'held-by', node: 'hold', link: { executionId: first } },
    ]);
  });

  test('[SRV-662] a page of the journal is read from where it begins', async () => {
    booted = await boot();
    const { client, parts } = booted;
    const executionId = await started(booted, counting, { by: 4 });
    const asked = watchFrames(parts.store);
    const { items } = await client.call('getJournal', { params: { executionId }, query: { after: 1 } });
    expect(items.every(({ seq }) => seq > 1)).toBe(true);
    expect(asked).toEqual([[1, items.length]]);
  });

  test('[SRV-673] pages of journal and timeline read no more frames than they show', async () => {
    booted = await boot();
    const { client, parts } = booted;
    const executionId = await started(
      booted,
      long,
      Array.from({ length: 120 }, (_, n) => n),
    );
    const params = { executionId };
    const whole = await client.call('getTimeline', { params, query: { limit: 10_000 } });
    const frames = await client.call('getJournal', { params, query: { limit: 10_000 } });
    expect([whole.next, frames.next]).toEqual([null, null]);
    expect(frames.items.length).toBeGreaterThan(100);
    const asked = watchFrames(parts.store);
    const pages: (typeof whole)[] = [];
    for (let after = 0; ; after = Number(pages.at(-1)?.next)) {
      pages.push(await client.call('getTimeline', { params, query: { after, limit: 7 } }));
      if (pages.at(-1)?.next === null) break;
      expect(pages.at(-1)?.items.length).toBeGreaterThanOrEqual(7);
    }
    expect(pages.flatMap(({ items }) => items)).toEqual(whole.items);
    const first = await client.call('getJournal', { params, query: { limit: 3 } });
    expect(first.items).toEqual(frames.items.slice(0, 3));
    expect(first.next).toBe(String(first.items.at(-1)?.seq));
    expect(Math.max(...asked.map(([, count]) => count))).toBeLessThanOrEqual(32);
  });
});

/** Which frames are read from the store from now on: after which, and how many. */
function watchFrames(store: Store): [after: number, count: number][] {
  const asked: [number, number][] = [];
  const { frames } = store;
  store.frames = async (id, after, limit) => {
    const rows = await frames.call(store, id, after, limit);
    asked.push([after, rows.length]);
    return rows;
  };
  return asked;
}
