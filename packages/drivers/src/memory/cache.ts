import type { CacheCursor, CacheRow, OutputCache } from '@nebula/ports';
import { byCodePoints } from '@nebula/ports/rows';
import type { OpenData } from './data.ts';

export function memoryCache(open: OpenData): OutputCache {
  const cachedOutputs: OutputCache['cachedOutputs'] = async ({ prefix, after, limit }) =>
    [...open.get().permits.cache.values()]
      .filter((row) => row.family.startsWith(prefix) && (after === undefined || byPlace(row, after) > 0))
      .sort(byPlace)
      .slice(0, Math.max(0, limit));
  return {
    cachedOutputs,
    async cached(key, now) {
      const row = open.get().permits.cache.get(key);
      return row === undefined || isExpired(row, now) ? undefined : row;
    },
    async newestCached(family, limit) {
      const rows = [...open.get().permits.cache.values()].filter((row) => row.family === family);
      return rows.sort((a, b) => b.at - a.at).slice(0, limit);
    },
    async forgetCached(which, limit) {
      const { cache } = open.get().permits;
      if ('key' in which) return cache.delete(which.key) ? [which.key] : [];
      const gone = await cachedOutputs({ ...which, limit });
      for (const { key } of gone) cache.delete(key);
      return gone.map(({ key }) => key);
    },
    async purgeCache(now, limit) {
      const { cache } = open.get().permits;
      const gone = [...cache.values()].filter((row) => isExpired(row, now)).slice(0, limit);
      for (const { key } of gone) cache.delete(key);
      return gone.map(({ key }) => key);
    },
  };
}

function isExpired({ expiresAt }: CacheRow, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function byPlace(a: CacheCursor, b: CacheCursor): number {
  return byCodePoints(a.family, b.family) || a.at - b.at || byCodePoints(a.key, b.key);
}
