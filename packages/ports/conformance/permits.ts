/** Permits of keys and moments of rates. */

import type { PermitChanges, Store } from '@nebula/ports';
import { expect } from 'vitest';
import { bodies, creating, framed, portSuite, put, outputRow as row } from './store-subject.ts';

const request = (node: string, limit: number, key = 'k') => ({
  key,
  node,
  limit,
  messageId: `granted ${node}`,
  body: node,
});

const holder = (executionId: string) => ({ key: 'k', executionId });

const moment = (node: string, requestId = '1') => ({ key: 'r', node, requestId, limit: 2, perMs: 1_000 });

/** Changes of permits without a frame. */
async function change(store: Store, executionId: string, permits: Partial<PermitChanges>): Promise<readonly number[]> {
  const [outcome] = await store.append([{ executionId, permits: { at: 5, ...permits } }]);
  expect(outcome).toMatchObject({ ok: true });
  return (outcome?.ok ? outcome.rates : undefined) ?? [];
}

export const permitsSuite = portSuite('permits', (test) => {
  test('[STO-34] permits are granted up to the limit, and then in the order of the requests', async ({ store }) => {
    for (const id of ['a', 'b', 'c', 'd']) await put(store, id);
    for (const id of ['a', 'b', 'c', 'd']) await change(store, id, { requests: [request('n', 2)] });
    expect(await Promise.all(['a', 'b', 'c', 'd'].map((id) => bodies(store, id)))).toEqual([['n'], ['n'], [], []]);
    expect((await store.execution('a'))?.wakeAt).toBe(5);
    expect(await store.permits('k')).toEqual([
      { executionId: 'a', node: 'n', isHeld: true },
      { executionId: 'b', node: 'n', isHeld: true },
      { executionId: 'c', node: 'n', isHeld: false },
      { executionId: 'd', node: 'n', isHeld: false },
    ]);
    await change(store, 'b', { at: 9, releases: [{ key: 'k', node: 'n' }] });
    expect([await bodies(store, 'c'), await bodies(store, 'd')]).toEqual([['n'], []]);
    expect((await store.execution('c'))?.wakeAt).toBe(9);
    await change(store, 'd', { releases: [{ key: 'k', node: 'n' }] });
    await change(store, 'a', { releases: [{ key: 'k', node: 'n' }] });
    expect(await store.permits('k')).toEqual([{ executionId: 'c', node: 'n', isHeld: true }]);
  });

  test('[STO-34] one run may hold several permits, and keys are independent of each other', async ({ store }) => {
    await put(store, 'a');
    await change(store, 'a', { requests: [request('n', 1), request('m', 1), request('o', 1, 'other')] });
    expect(await bodies(store, 'a')).toEqual(['n', 'o']);
    await change(store, 'a', { releases: [{ key: 'k', node: 'n' }] });
    expect(await bodies(store, 'a')).toEqual(['n', 'o', 'm']);
  });

  test('[STO-35] a repeated request and the release of a permit that is not held change nothing', async ({ store }) => {
    await put(store, 'a');
    await put(store, 'b');
    await change(store, 'a', { requests: [request('n', 1)] });
    await change(store, 'a', { requests: [request('n', 1)] });
    await change(store, 'b', {
      releases: [
        { key: 'k', node: 'n' },
        { key: 'nothing', node: 'n' },
      ],
    });
    expect(await bodies(store, 'a')).toEqual(['n']);
    expect(await store.permits('k')).toHaveLength(1);
  });

  test('[STO-35] a refused write neither requests nor releases permits', async ({ store }) => {
    await put(store, 'a');
    const frame = { seq: 9, at: 1, entries: '[]' };
    await store.append([
      { executionId: 'a', frame, permits: { at: 1, requests: [request('n', 1)] }, cache: [row('x')] },
    ]);
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
      const rate = { ...moment(`n${at}`), limit: 3 };
      given.push(...(await change(store, 'a', { at, rates: [rate] })));
    }
    for (const from of given) {
      expect(given.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(3);
    }
    expect(given).toEqual(given.toSorted((a, b) => a - b));
  });

  test('[STO-40] a repeated request for a moment gets the same one, and uses up no other', async ({ store }) => {
    await put(store, 'a');
    await put(store, 'b');
    const rates = [moment('n'), moment('m'), moment('o')];
    expect(await change(store, 'a', { at: 100, rates })).toEqual([100, 100, 1_100]);
    expect(await change(store, 'a', { at: 200, rates })).toEqual([100, 100, 1_100]);
    expect(await change(store, 'a', { at: 200, rates: [moment('n', '2')] })).toEqual([1_100]);
    expect(await change(store, 'b', { at: 200, rates: [moment('n')] })).toEqual([2_100]);
  });

  test('[STO-39] a write that requires a permit is refused while another run holds it', async ({ store }) => {
    const permits = { at: 5, requests: [{ ...request('', 1), isRequired: true }] };
    expect(await store.append([creating('a', { permits })])).toMatchObject([{ ok: true }]);
    expect(await store.append([creating('b', { permits, cache: [row('x')] })])).toEqual([
      { ok: false, heldBy: holder('a') },
    ]);
    expect(await store.execution('b')).toBeUndefined();
    expect(await store.cached('x', 1)).toBeUndefined();
    expect(await store.permits('k')).toEqual([{ executionId: 'a', node: '', isHeld: true }]);
    // An execution that exists already is refused for that, whoever holds the permit.
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

  test('[STO-39] a permit that one write requires and releases is free afterwards', async ({ store }) => {
    const releases = [{ key: 'k', node: '' }];
    const brief = { at: 5, requests: [{ ...request('', 1), isRequired: true }], releases };
    expect(await store.append([creating('a', { permits: brief })])).toMatchObject([{ ok: true }]);
    expect(await store.permits('k')).toEqual([]);
    const permits = { at: 5, requests: brief.requests };
    await store.append([creating('b', { permits })]);
    expect(await store.append([creating('c', { permits: brief })])).toEqual([{ ok: false, heldBy: holder('b') }]);
  });

  test('[STO-65] a request that makes room sends its message to the oldest holders and waiters, as many as must end', async ({
    store,
  }) => {
    const wish = (id: string, limit: number) => ({
      requests: [{ ...request('', limit), makesRoom: { messageId: `room for ${id}`, body: `go ${id}` } }],
    });
    for (const id of ['a', 'b', 'c', 'd', 'e']) await put(store, id);
    for (const id of ['a', 'b', 'c']) await change(store, id, wish(id, 2));
    const inboxes = () => Promise.all(['a', 'b', 'c', 'd'].map((id) => bodies(store, id)));
    expect(await inboxes()).toEqual([['', 'go c'], [''], [], []]);
    expect((await store.execution('a'))?.wakeAt).toBe(5);
    // One was told already, and will make room for c; so the next one must end too.
    await change(store, 'd', wish('d', 2));
    expect(await inboxes()).toEqual([['', 'go c', 'go d'], ['', 'go d'], [], []]);
    await change(store, 'a', { releases: [{ key: 'k', node: '' }] });
    await change(store, 'b', { releases: [{ key: 'k', node: '' }] });
    expect(await store.permits('k')).toEqual([
      { executionId: 'c', node: '', isHeld: true },
      { executionId: 'd', node: '', isHeld: true },
    ]);
    // A waiter makes room as well, if no holder before it is left to end.
    await change(store, 'e', wish('e', 2));
    expect(await bodies(store, 'c')).toEqual(['', 'go e']);
    expect(await bodies(store, 'd')).toEqual(['']);
  });
});
