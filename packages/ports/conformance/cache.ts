/** Outputs that runs reuse. */

import type { CacheRow } from '@nebula/ports';
import { expect } from 'vitest';
import { portSuite, put, outputRow as row } from './store-subject.ts';

export const cacheSuite = portSuite('output cache', (test) => {
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
});
