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

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('[LOG-10] only a line that a follower wants makes it read', async () => {
  const { followers, reads, say, stop } = followed(100, { node: 'a', minLevel: 'warn' });
  await turn();
  expect(reads.splice(0)).toHaveLength(100);
  say('b');
  say(null);
  say('a', 'debug');
  say('a', 'warn', 'another');
  await turn();
  expect(reads).toHaveLength(0);
  say('a');
  await turn();
  expect(reads).toHaveLength(100);
  stop.abort();
  await turn();
  expect(followers.isEmpty).toBe(true);
});

it('[LOG-10] lines of other nodes are not read twice', async () => {
  const { followers, reads, say, stop } = followed(1, { node: 'a' });
  await turn();
  followers.looked('exe', 1_000);
  await turn();
  say('a');
  await turn();
  expect(reads.map(({ afterPosition }) => afterPosition)).toEqual([0, 0, 1_000]);
  stop.abort();
});
