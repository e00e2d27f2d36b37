/** Streams that many open and nobody reads. */

import { expect, it } from 'vitest';
import { RequestPacer } from '../../src/http/request-pacer.ts';
import { NOBODY } from '../../src/identity/principal.ts';
import { HTTP_LIMITS, LIVE_LIMITS } from '../../src/limits.ts';
import { CatchUpPages } from '../../src/live/catch-up.ts';
import { Followers } from '../../src/live/followers.ts';

async function* endless(): AsyncGenerator<[]> {
  for (;;) yield [];
}
const who = (name: string) => ({ ...NOBODY, kind: 'key', name }) as const;
const full = expect.objectContaining({ code: 'TOO_MANY_FOLLOWERS' });

it('[SRV-498] followers are limited, together and of each caller, until they leave', async () => {
  const followers = new Followers({ maxFollowers: 3, maxFollowersPerCaller: 2 });
  const first = followers.count(who('a'), endless())[Symbol.asyncIterator]();
  followers.count(who('a'), endless());
  expect(() => followers.count(who('a'), endless())).toThrow(full);
  followers.count(who('b'), endless());
  expect(() => followers.count(who('c'), endless())).toThrow(full);
  await first.next();
  await first.return?.();
  await first.return?.();
  expect(() => followers.count(who('a'), endless())).not.toThrow();
  expect(() => followers.count(who('c'), endless())).toThrow(full);
});

it('[SRV-499] a page of the past is read once for all, few at a time, and others have their turn in between', async () => {
  const replays = new CatchUpPages<string>();
  let [running, most, reads] = [0, 0, 0];
  const load = (page: string) => async (): Promise<string> => {
    reads++;
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return page;
  };
  const all = Array.from({ length: 1_000 }, (_, index) =>
    replays.read(`page ${index % 10}`, 0, load(`page ${index % 10}`), () => 'whole'),
  );
  let turns = 0;
  let isOver = false;
  const reading = Promise.all(all).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    turns++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(new Set(await reading).size).toBe(10);
  expect([reads, most]).toEqual([10, LIVE_LIMITS.maxReplays]);
  expect(turns).toBeGreaterThan(3);
});

it.each([
  ['whole', [1, 1, 1]],
  ['last', [1, 1, 2]],
] as const)('[SRV-652] a page that is %s is read again only where it may have grown', async (kind, expected) => {
  const replays = new CatchUpPages<number>();
  let reads = 0;
  const read = (version: number) =>
    replays.read(
      'page',
      version,
      async () => ++reads,
      () => kind,
    );
  expect([await read(1), await read(1), await read(2)]).toEqual(expected);
});

it('[SRV-652] a page that is being read is not shared with a follower that knows of newer frames', async () => {
  const replays = new CatchUpPages<number>();
  const read = (version: number) =>
    replays.read(
      'page',
      version,
      async () => version,
      () => 'last',
    );
  expect(await Promise.all([read(1), read(1), read(2)])).toEqual([1, 1, 2]);
});

it('[SRV-651] requests that come at once begin a few per turn of the event loop, in order', async () => {
  const turns = new RequestPacer(HTTP_LIMITS.maxBegunPerTurn);
  const begun: number[] = [];
  const counts: number[] = [];
  for (let at = 0; at < 500; at++) void Promise.resolve(turns.take()).then(() => begun.push(at));
  while (begun.length < 500) {
    const before = begun.length;
    await new Promise((resolve) => setImmediate(resolve));
    counts.push(begun.length - before);
  }
  expect(Math.max(...counts)).toBeLessThanOrEqual(2 * HTTP_LIMITS.maxBegunPerTurn);
  expect(counts.length).toBeGreaterThan(500 / (2 * HTTP_LIMITS.maxBegunPerTurn));
  expect(begun).toEqual(begun.toSorted((a, b) => a - b));
});
