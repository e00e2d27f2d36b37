/** The stream of one log, on virtual time and on SQLite. */
import { memoryLogs, virtualClock } from '@nebula/drivers/memory';
import type { LogLine } from '@nebula/ports';
import { expect, it } from 'vitest';
import type { Feed } from '../../src/live/feed.ts';
import { logEvents } from '../../src/live/log-subscription.ts';
import type { Parts } from '../../src/parts.ts';
import { boot, sqliteKeeping } from '../support/boot.ts';
import { verbose } from '../support/workflows.ts';

const line = (message: string): LogLine => ({
  executionId: 'exe_1',
  node: 'n',
  attempt: 1,
  at: 0,
  level: 'info',
  message,
});

/** A run whose end the test decides, and the stream of its log. */
function followed({ finishedAt }: { readonly finishedAt: number }) {
  const clock = virtualClock(1_000);
  const logs = memoryLogs();
  const ended = Promise.withResolvers<void>();
  const feed: Pick<Feed, 'follow'> = {
    async *follow({ signal }) {
      signal.addEventListener('abort', () => ended.resolve());
      await ended.promise;
      if (!signal.aborted) yield [{ event: 'end', json: '{}' }];
    },
  };
  const store = { execution: async () => ({ finishedAt }) };
  const gone = new AbortController();
  const sent: string[] = [];
  const parts = { logs, clock, store } as unknown as Parts;
  const over = (async () => {
    for await (const batch of logEvents(parts, feed, { executionId: 'exe_1' }, gone.signal))
      sent.push(...batch.map(({ event, json }) => event ?? (JSON.parse(json) as { message: string }).message));
    return 'over';
  })();
  return { clock, logs, sent, over, end: () => ended.resolve(), leave: () => gone.abort() };
}

it('[SRV-889] lines that are written shortly after the end of the run come before the end of the stream', async () => {
  const { clock, logs, sent, over, end } = followed({ finishedAt: 1_000 });
  logs.append(line('early'));
  await expect.poll(() => sent).toEqual(['early']);
  end();
  await clock.advance(499);
  logs.append(line('late'));
  expect(sent).toEqual(['early']);
  await clock.advance(1);
  expect(await over).toBe('over');
  expect(sent).toEqual(['early', 'late', 'end']);
});

it('[SRV-889] the stream of a run that ended before ends without a wait, after all pages', async () => {
  const { logs, sent, over, end } = followed({ finishedAt: 0 });
  const messages = Array.from({ length: 1_001 }, (_, n) => String(n));
  for (const message of messages) logs.append(line(message));
  end();
  expect(await over).toBe('over');
  expect(sent).toEqual([...messages, 'end']);
});

it('[SRV-889] a follower that leaves while the run goes on gets no end', async () => {
  const { sent, over, leave } = followed({ finishedAt: 0 });
  leave();
  expect(await over).toBe('over');
  expect(sent).toEqual([]);
});

it('[SRV-889] no line of a long log on SQLite is lost or sent twice', async () => {
  const { keeping, remove } = await sqliteKeeping();
  const booted = await boot({ keeping });
  try {
    const list = Array.from({ length: 700 }, (_, n) => String(n));
    await booted.client.call('registerWorkflow', { body: { definition: verbose() } });
    const { executionId } = await booted.client.start('verbose', { input: { list } });
    const reading = (async () => {
      const messages: string[] = [];
      for await (const { message } of booted.client.logs(executionId)) messages.push(message);
      return messages;
    })();
    await expect.poll(() => booted.server.listeners()).toBe(1);
    await booted.client.call('signalExecution', { params: { executionId }, body: { signal: 'go' } });
    expect(await reading).toEqual(list);
  } finally {
    await booted.close();
    await remove();
  }
});
