import type { Action } from '@nebula/core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Booted, boot } from './support/boot.ts';

let booted: Booted;
beforeAll(async () => {
  const big: Action = { id: 'big', version: '1', effect: 'pure', run: () => 'x'.repeat(100_000) };
  const small: Action = { id: 'bigger', version: '2', effect: 'pure', run: () => 1 };
  booted = await boot({ actions: [big, small] });
  const cache = { version: 1 };
  const nodes = {
    a: { action: 'big@1', with: { n: '{{ $input.n }}' }, cache },
    b: { action: 'bigger@2', with: { n: '{{ $input.n }}' }, cache },
  };
  await booted.client.call('registerWorkflow', { body: { definition: { id: 'w', nodes, output: 1 } } });
  for (let n = 0; n < 3; n++) {
    await booted.client.call('startExecution', { body: { workflowId: 'w', input: { n } }, query: { wait: '10s' } });
  }
});
afterAll(() => booted.close());

it('[SRV-310] outputs are listed, and forgotten with their values', async () => {
  const { client, parts } = booted;
  const all = async (query: { action?: string } = {}) => {
    const found: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const { items, next } = await client.call('listCache', {
        query: { ...query, limit: 2, ...(cursor && { cursor }) },
      });
      found.push(...items.map(({ action }) => action));
      if (next === null) return found;
      cursor = next;
    }
  };
  const blobs = async () => {
    let count = 0;
    for await (const name of parts.blobs.executions()) if (name.startsWith('cache-')) count++;
    return count;
  };
  expect(await all()).toEqual(['big@1', 'big@1', 'big@1', 'bigger@2', 'bigger@2', 'bigger@2']);
  expect(await all({ action: 'big' })).toHaveLength(3);
  expect(await all({ action: 'big@2' })).toEqual([]);
  expect(await blobs()).toBe(3);
  const key = (await client.call('listCache', { query: { action: 'big' } })).items[0]?.key as string;
  expect(await client.call('forgetCache', { query: { key } })).toEqual({ forgotten: 1 });
  expect([await all({ action: 'big@1' }), await blobs()]).toEqual([['big@1', 'big@1'], 2]);
  expect(await client.call('forgetCache', { query: { action: 'big' } })).toEqual({ forgotten: 2 });
  expect([await all(), await blobs()]).toEqual([['bigger@2', 'bigger@2', 'bigger@2'], 0]);
  expect(await client.call('forgetCache')).toEqual({ forgotten: 3 });
  expect(await all()).toEqual([]);
  await expect(client.call('listCache', { query: { cursor: 'x' } })).rejects.toMatchObject({ code: 'CURSOR_INVALID' });
  await expect(client.call('forgetCache', { query: { key, action: 'big' } })).rejects.toMatchObject({
    code: 'QUERY_INVALID',
  });
});
