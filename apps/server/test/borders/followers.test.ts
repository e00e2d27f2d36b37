/** Streams that many open and nobody reads. */

import { expect, it } from 'vitest';
import { NOBODY } from '../../src/identity/principal.ts';
import { LIVE_LIMITS } from '../../src/limits.ts';
import { Followers } from '../../src/live/followers.ts';
import { Replays } from '../../src/live/replays.ts';

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
  const replays = new Replays<string>();
  let [running, most, reads] = [0, 0, 0];
  const load = (page: string) => async (): Promise<string> => {
    reads++;
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return page;
  };
  const all = Array.from({ length: 1_000 }, (_, index) =>
    replays.read(`page ${index % 10}`, load(`page ${index % 10}`), () => true),
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

it('[SRV-499] a page that may still grow is read again', async () => {
  const replays = new Replays<number>();
  let reads = 0;
  const read = () =>
    replays.read(
      'tail',
      async () => ++reads,
      () => false,
    );
  expect([await read(), await read()]).toEqual([1, 2]);
});
