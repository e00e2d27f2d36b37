/** Many followers of a log, of which few are concerned by a line. */
import type { LogFilter, StoredLogLine } from '@nebula/ports';
import { encodeLine, LogFollowers } from '@nebula/ports/rows';
import { expect, it } from 'vitest';

function followed(count: number, filter: Partial<LogFilter>) {
  const followers = new LogFollowers();
  const stop = new AbortController();
  const reads: LogFilter[] = [];
  const read = async (page: LogFilter): Promise<readonly StoredLogLine[]> => {
    reads.push(page);
    return [];
  };
  for (let at = 0; at < count; at++) {
    void followers.follow({ executionId: 'exe', limit: 10, ...filter }, stop.signal, read).next();
  }
  const say = (node: string | null, level: 'debug' | 'warn' = 'warn', executionId = 'exe'): void =>
    followers.announce(encodeLine({ executionId, node, attempt: 1, at: 0, level, message: 'm' }));
  return { followers, reads, say, stop };
}

/** Followers read one after the other, one in each turn of the event loop. */
async function turns(count = 110): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

it('[LOG-10] only a line that a follower wants makes it read', async () => {
  const { followers, reads, say, stop } = followed(100, { node: 'a', minLevel: 'warn' });
  await turns();
  expect(reads.splice(0)).toHaveLength(100);
  say('b');
  say(null);
  say('a', 'debug');
  say('a', 'warn', 'another');
  await turns();
  expect(reads).toHaveLength(0);
  say('a');
  await turns();
  expect(reads).toHaveLength(100);
  stop.abort();
  await turns();
  expect(followers.isEmpty).toBe(true);
});

it('[LOG-10] lines of other nodes are not read twice', async () => {
  const { followers, reads, say, stop } = followed(1, { node: 'a' });
  await turns();
  followers.noteRead('exe', 1_000);
  await turns();
  say('a');
  await turns();
  expect(reads.map(({ afterPosition }) => afterPosition)).toEqual([0, 0, 1_000]);
  stop.abort();
});

it('[LOG-11] one page is read per turn of the event loop, whatever the number of followers', async () => {
  const { reads, say, stop } = followed(100, {});
  let before = 0;
  for (let turn = 0; turn < 100; turn++) {
    await turns(1);
    expect(reads.length - before).toBeLessThanOrEqual(2);
    before = reads.length;
  }
  expect(before).toBe(100);
  say('a');
  await turns(10);
  expect(reads.length - before).toBeLessThanOrEqual(12);
  stop.abort();
});
