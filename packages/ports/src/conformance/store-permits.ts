/** Places, rates and outputs that runs share. */
import { expect } from 'vitest';
import type { CacheRow, PermitChanges } from '../permits.ts';
import type { Store } from '../store.ts';
import { creating, framed, put, type StoreTest } from './store-subject.ts';

const ask = (node: string, limit: number, key = 'k') => ({
  key,
  node,
  limit,
  messageId: `granted ${node}`,
  body: node,
});

const holder = (executionId: string) => ({ key: 'k', executionId });

const moment = (node: string, ask = '1') => ({ key: 'r', node, ask, limit: 2, perMs: 1_000 });

/** Changes of permits without a frame. */
async function change(store: Store, executionId: string, permits: Partial<PermitChanges>): Promise<readonly number[]> {
  const [outcome] = await store.append([{ executionId, permits: { at: 5, ...permits } }]);
  expect(outcome).toMatchObject({ ok: true });
  return (outcome?.ok ? outcome.rates : undefined) ?? [];
}

async function granted(store: Store, executionId: string): Promise<string[]> {
  return (await store.inbox(executionId)).map(({ body }) => body);
}

const row = (key: string, more: Partial<CacheRow> = {}): CacheRow => ({
  key,
  family: 'f',
  input: '{}',
  output: '1',
  executionId: 'a',
  node: 'n',
  at: 1,
  expiresAt: null,
  ...more,
});

export function permitTests(test: StoreTest): void {
  test('[STO-34] places are granted up to the limit, and then in the order of asking', async ({ store }) => {
    for (const id of ['a', 'b', 'c', 'd']) await put(store, id);
    for (const id of ['a', 'b', 'c', 'd']) await change(store, id, { asks: [ask('n', 2)] });
    expect(await Promise.all(['a', 'b', 'c', 'd'].map((id) => granted(store, id)))).toEqual([['n'], ['n'], [], []]);
    expect((await store.execution('a'))?.wakeAt).toBe(5);
    expect(await store.permits('k')).toEqual([
      { executionId: 'a', node: 'n', isHeld: true },
      { executionId: 'b', node: 'n', isHeld: true },
      { executionId: 'c', node: 'n', isHeld: false },
      { executionId: 'd', node: 'n', isHeld: false },
    ]);
    await change(store, 'b', { at: 9, releases: [{ key: 'k', node: 'n' }] });
    expect([await granted(store, 'c'), await granted(store, 'd')]).toEqual([['n'], []]);
    expect((await store.execution('c'))?.wakeAt).toBe(9);
    await change(store, 'd', { releases: [{ key: 'k', node: 'n' }] });
    await change(store, 'a', { releases: [{ key: 'k', node: 'n' }] });
    expect(await store.permits('k')).toEqual([{ executionId: 'c', node: 'n', isHeld: true }]);
  });

  test('[STO-34] one run may hold several places, and keys do not touch each other', async ({ store }) => {
    await put(store, 'a');
    await change(store, 'a', { asks: [ask('n', 1), ask('m', 1), ask('o', 1, 'other')] });
    expect(await granted(store, 'a')).toEqual(['n', 'o']);
    await change(store, 'a', { releases: [{ key: 'k', node: 'n' }] });
    expect(await granted(store, 'a')).toEqual(['n', 'o', 'm']);
  });

  test('[STO-35] asking twice is asking once, and giving back what nobody holds changes nothing', async ({ store }) => {
    await put(store, 'a');
    await put(store, 'b');
    await change(store, 'a', { asks: [ask('n', 1)] });
    await change(store, 'a', { asks: [ask('n', 1)] });
    await change(store, 'b', {
      releases: [
        { key: 'k', node: 'n' },
        { key: 'nothing', node: 'n' },
      ],
    });
    expect(await granted(store, 'a')).toEqual(['n']);
    expect(await store.permits('k')).toHaveLength(1);
  });

  test('[STO-35] a refused write neither asks nor gives back', async ({ store }) => {
    await put(store, 'a');
    const frame = { seq: 9, at: 1, entries: '[]' };
    await store.append([{ executionId: 'a', frame, permits: { at: 1, asks: [ask('n', 1)] }, cache: [row('x')] }]);
    expect(await store.permits('k')).toEqual([]);
    expect(await store.cached('x', 1)).toBeUndefined();
  });

  test('[STO-36] a rate gives up to its limit at once, then when the first of them is a period ago', async ({
    store,
  }) => {
    await put(store, 'a');
    const rates = ['n', 'm', 'o', 'p', 's'].map((node) => moment(node));
    expect(await change(store, 'a', { at: 100, rates })).toEqual([100, 100, 1_100, 1_100, 2_100]);
    const later = [moment('q'), { ...moment('r'), key: 'other' }];
    expect(await change(store, 'a', { at: 5_000, rates: later })).toEqual([5_000, 5_000]);
  });

  test('[STO-36] no time as long as the period has more than the limit, wherever it begins', async ({ store }) => {
    await put(store, 'a');
    const given: number[] = [];
    for (let at = 0; at < 6_000; at += 170) {
      const ask = { ...moment(`n${at}`), limit: 3 };
      given.push(...(await change(store, 'a', { at, rates: [ask] })));
    }
    for (const from of given) {
      expect(given.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(3);
    }
    expect(given).toEqual(given.toSorted((a, b) => a - b));
  });

  test('[STO-40] the same ask for a moment gets the same one, and takes no other', async ({ store }) => {
    await put(store, 'a');
    await put(store, 'b');
    const rates = [moment('n'), moment('m'), moment('o')];
    expect(await change(store, 'a', { at: 100, rates })).toEqual([100, 100, 1_100]);
    expect(await change(store, 'a', { at: 200, rates })).toEqual([100, 100, 1_100]);
    expect(await change(store, 'a', { at: 200, rates: [moment('n', '2')] })).toEqual([1_100]);
    expect(await change(store, 'b', { at: 200, rates: [moment('n')] })).toEqual([2_100]);
  });

  test('[STO-39] a write that requires a place is refused when somebody has it', async ({ store }) => {
    const permits = { at: 5, asks: [{ ...ask('', 1), isRequired: true }] };
    expect(await store.append([creating('a', { permits })])).toMatchObject([{ ok: true }]);
    expect(await store.append([creating('b', { permits, cache: [row('x')] })])).toEqual([
      { ok: false, heldBy: holder('a') },
    ]);
    expect(await store.execution('b')).toBeUndefined();
    expect(await store.cached('x', 1)).toBeUndefined();
    expect(await store.permits('k')).toEqual([{ executionId: 'a', node: '', isHeld: true }]);
    // One that exists is refused for that, whoever has the place.
    expect(await store.append([creating('a', { permits })])).toEqual([{ ok: false }]);
    const releases = [{ key: 'k', node: '' }];
    expect(
      await store.append([
        creating('b', { permits }),
        framed('a', 2, { permits: { at: 6, releases } }),
        creating('c', { permits }),
        creating('d', { permits }),
        framed('c', 2),
      ]),
    ).toMatchObject([
      { ok: false, heldBy: holder('a') },
      { ok: true },
      { ok: true },
      { ok: false, heldBy: holder('c') },
      { ok: true },
    ]);
    expect(await store.permits('k')).toEqual([{ executionId: 'c', node: '', isHeld: true }]);
  });

  test('[STO-39] a place that is required and given back by one write is nobody’s afterwards', async ({ store }) => {
    const releases = [{ key: 'k', node: '' }];
    const brief = { at: 5, asks: [{ ...ask('', 1), isRequired: true }], releases };
    expect(await store.append([creating('a', { permits: brief })])).toMatchObject([{ ok: true }]);
    expect(await store.permits('k')).toEqual([]);
    const permits = { at: 5, asks: brief.asks };
    await store.append([creating('b', { permits })]);
    expect(await store.append([creating('c', { permits: brief })])).toEqual([{ ok: false, heldBy: holder('b') }]);
  });

  test('[STO-65] who wants room made has the oldest before it told, as many as must go', async ({ store }) => {
    const wish = (id: string, limit: number) => ({
      asks: [{ ...ask('', limit), makesRoom: { messageId: `room for ${id}`, body: `go ${id}` } }],
    });
    for (const id of ['a', 'b', 'c', 'd', 'e']) await put(store, id);
    for (const id of ['a', 'b', 'c']) await change(store, id, wish(id, 2));
    const inboxes = () => Promise.all(['a', 'b', 'c', 'd'].map((id) => granted(store, id)));
    expect(await inboxes()).toEqual([['', 'go c'], [''], [], []]);
    expect((await store.execution('a'))?.wakeAt).toBe(5);
    // One has been told already, and will make room for c: so the next must go, too.
    await change(store, 'd', wish('d', 2));
    expect(await inboxes()).toEqual([['', 'go c', 'go d'], ['', 'go d'], [], []]);
    await change(store, 'a', { releases: [{ key: 'k', node: '' }] });
    await change(store, 'b', { releases: [{ key: 'k', node: '' }] });
    expect(await store.permits('k')).toEqual([
      { executionId: 'c', node: '', isHeld: true },
      { executionId: 'd', node: '', isHeld: true },
    ]);
    // Whoever only waits makes room as well, when nobody before it is left to go.
    await change(store, 'e', wish('e', 2));
    expect(await granted(store, 'c')).toEqual(['', 'go e']);
    expect(await granted(store, 'd')).toEqual(['']);
  });

  test('[STO-42] how long nodes take is kept with the write that says so', async ({ store }) => {
    await put(store, 'a');
    const durations = [
      { workflowId: 'w', node: 'n', ms: 10 },
      { workflowId: 'w', node: 'm', ms: 20 },
      { workflowId: 'v', node: 'n', ms: 30 },
    ];
    await store.append([{ executionId: 'a', durations }]);
    await store.append([{ executionId: 'none', durations: [{ workflowId: 'w', node: 'n', ms: 99 }] }]);
    await store.append([{ executionId: 'a', durations: [{ workflowId: 'w', node: 'm', ms: 25 }] }]);
    expect([...(await store.durations('w'))].sort()).toEqual([
      ['m', 25],
      ['n', 10],
    ]);
    expect([...(await store.durations('nothing'))]).toEqual([]);
  });

  test('[STO-37] outputs are found by key until they expire', async ({ store }) => {
    await put(store, 'a');
    const cache = [row('x', { expiresAt: 10 }), row('y', { at: 2, output: '2' }), row('z', { family: 'g' })];
    await store.append([{ executionId: 'a', cache }]);
    expect(await store.cached('x', 9)).toEqual(row('x', { expiresAt: 10 }));
    expect(await store.cached('x', 10)).toBeUndefined();
    expect(await store.newestCached('f', 1)).toMatchObject([{ key: 'y' }]);
    expect(await store.newestCached('f', 2)).toMatchObject([{ key: 'y' }, { key: 'x' }]);
    expect(await store.newestCached('none', 2)).toEqual([]);
    await store.append([{ executionId: 'a', cache: [row('y', { at: 3, output: '3' })] }]);
    expect(await store.cached('y', 9)).toMatchObject({ output: '3' });
    expect(await store.purgeCache(10, 5)).toEqual(['x']);
    expect(await store.purgeCache(10, 5)).toEqual([]);
  });

  test('[STO-66] outputs are listed page by page, and forgotten', async ({ store }) => {
    await put(store, 'a');
    const of = (key: string, family: string, at: number) => row(key, { family, at });
    const cache = [of('5', 'http@1#2', 1), of('1', 'http@1#1', 9), of('3', 'http@1#1', 2), of('2', 'http@1#1', 2)];
    await store.append([{ executionId: 'a', cache: [...cache, of('4', 'httpx@1#1', 1)] }]);
    const keys = async (prefix: string) => {
      const found: string[] = [];
      for (let after: CacheRow | undefined; ; ) {
        const page = await store.cachedOutputs({ prefix, limit: 2, ...(after !== undefined && { after }) });
        found.push(...page.map(({ key }) => key));
        after = page.at(-1);
        if (page.length < 2) return found;
      }
    };
    expect(await keys('')).toEqual(['2', '3', '1', '5', '4']);
    expect(await keys('http@')).toEqual(['2', '3', '1', '5']);
    expect(await keys('http@1#2')).toEqual(['5']);
    expect(await store.forgetCached({ key: '1' }, 5)).toEqual(['1']);
    expect(await store.forgetCached({ key: '1' }, 5)).toEqual([]);
    expect(await store.forgetCached({ prefix: 'http@' }, 2)).toEqual(['2', '3']);
    expect(await store.forgetCached({ prefix: 'http@' }, 2)).toEqual(['5']);
    expect(await keys('')).toEqual(['4']);
    expect(await store.forgetCached({ prefix: '' }, 5)).toEqual(['4']);
  });

  test('[STO-38] a signal goes to one listener, the oldest, or is kept for the next', async ({ store }) => {
    for (const id of ['a', 'b', 'c']) await put(store, id);
    const listen = (executionId: string, node = 'n', key = 'k') =>
      store.append([{ executionId, listeners: { at: 5, add: [{ signal: 's', key, node }] } }]);
    const publish = (messageId: string, key = 'k') =>
      store.publish({ signal: 's', key, messageId, body: messageId, at: 6, expiresAt: 100 });
    await listen('a');
    await listen('b');
    expect(await publish('m1')).toBe('a');
    expect(await publish('m1')).toBeUndefined();
    expect(await publish('m2')).toBe('b');
    expect(await publish('m3')).toBeUndefined();
    expect(await publish('other', 'x')).toBeUndefined();
    await listen('c');
    expect([await granted(store, 'a'), await granted(store, 'b'), await granted(store, 'c')]).toEqual([
      ['m1'],
      ['m2'],
      ['m3'],
    ]);
    expect((await store.execution('c'))?.wakeAt).toBe(5);
    await store.append([
      { executionId: 'c', listeners: { at: 7, remove: ['n'], add: [{ signal: 's', key: 'x', node: 'o' }] } },
    ]);
    expect(await granted(store, 'c')).toEqual(['m3', 'other']);
  });

  test('[STO-38] a listener that is gone hears nothing, and a kept signal expires', async ({ store }) => {
    await put(store, 'a');
    const add = [{ signal: 's', key: '', node: 'n' }];
    await store.append([{ executionId: 'a', listeners: { at: 1, add } }]);
    await store.append([{ executionId: 'a', listeners: { at: 1, remove: ['n'] } }]);
    await store.publish({ signal: 's', key: '', messageId: 'm', body: 'm', at: 2, expiresAt: 10 });
    await store.append([{ executionId: 'a', listeners: { at: 10, add } }]);
    expect(await store.inbox('a')).toEqual([]);
  });
}
