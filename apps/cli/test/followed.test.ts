import type { NebulaClient } from '@nebula/client';
import { describe, expect, test } from 'vitest';
import { Followed } from '../src/live/followed.ts';
import type { LiveView } from '../src/live/live-view.ts';
import { ShownRun } from '../src/live/shown-run.ts';
import { runDocument } from './support/runs.ts';

/** A stream whose items the test sends. */
class Stream<T> {
  readonly #waiting: T[] = [];
  #wake = Promise.withResolvers<void>();
  #isOver = false;

  send(item: T): void {
    this.#waiting.push(item);
    this.#wake.resolve();
  }

  end(): void {
    this.#isOver = true;
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      for (const item of this.#waiting.splice(0)) yield item;
      if (this.#isOver) return;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers<void>();
    }
  }
}

const at = '2026-11-18T02:00:00.000Z';

function follow() {
  const events = new Stream<object>();
  const lines = new Stream<object>();
  const shown: string[] = [];
  const view = {
    event: (_, { type, node }) => shown.push(`${type} ${node ?? ''}`.trim()),
    log: (_, { message }) => shown.push(message),
  } as Partial<LiveView> as LiveView;
  const api = {
    events: () => events,
    logs: () => lines,
    call: async (operation: string) =>
      operation === 'listLogs' ? { items: [], next: null } : runDocument({ status: 'running', finishedAt: null }),
  } as unknown as NebulaClient;
  const followed = new Followed(api, new ShownRun('exe_1', 'order', []), view, { hasLogs: true, known: 0 });
  let position = 0;
  return {
    shown,
    start: (node: string, attempt = 1) =>
      events.send({ at, type: 'NodeStarted', node, details: { attempt, worker: 'w' } }),
    log: (node: string | null, message: string, attempt: number | null = 1) =>
      lines.send({ at, node, message, attempt, level: 'info', position: ++position }),
    end: async () => {
      events.end();
      lines.end();
      await followed.close();
    },
  };
}

describe('the lines of a run that is followed', () => {
  test('[CLI-594] a log line comes after the start of its attempt, although it arrives earlier', async () => {
    const run = follow();
    run.log('a', 'one');
    run.log(null, 'of the run', null);
    await expect.poll(() => run.shown).toEqual(['of the run']);
    run.log('b', 'two');
    run.start('a');
    await expect.poll(() => run.shown).toEqual(['of the run', 'NodeStarted a', 'one']);
    run.log('a', 'again', 2);
    run.log('a', 'three');
    await expect.poll(() => run.shown.at(-1)).toBe('three');
    run.start('a', 2);
    await expect.poll(() => run.shown.slice(-2)).toEqual(['NodeStarted a', 'again']);
    await run.end();
    expect(run.shown.at(-1)).toBe('two');
  });
});
