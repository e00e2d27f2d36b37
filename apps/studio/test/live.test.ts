import type { LiveEvent } from '@nebula/client';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { LiveUpdates, type Socket } from '../src/data/live.ts';

/** A connection whose server is the test. */
class TestSocket implements Socket {
  readonly sent: Readonly<Record<string, unknown>>[] = [];
  isClosed = false;
  onopen: Socket['onopen'] = null;
  onmessage: Socket['onmessage'] = null;
  onclose: Socket['onclose'] = null;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.isClosed = true;
  }

  open(): void {
    this.onopen?.call(this as unknown as WebSocket, {} as Event);
  }

  receive(message: unknown): void {
    this.onmessage?.call(this as unknown as WebSocket, { data: JSON.stringify(message) } as MessageEvent);
  }

  drop(): void {
    this.onclose?.call(this as unknown as WebSocket, {} as CloseEvent);
  }
}

const event = (id: string) => ({ id, at: '2026-11-18T10:00:00.000Z', type: 'NodeStarted', node: 'a', details: {} });

describe('[STU-20] live updates', () => {
  let sockets: TestSocket[];
  let live: LiveUpdates;

  beforeEach(() => {
    vi.useFakeTimers();
    sockets = [];
    live = new LiveUpdates(() => {
      const socket = new TestSocket();
      sockets.push(socket);
      return socket;
    });
    return () => vi.useRealTimers();
  });

  const socket = (at: number): TestSocket => sockets[at] as TestSocket;

  test('share one connection', () => {
    live.subscribe({ executionId: 'exe_1' }, {});
    live.subscribe({ project: 'default', after: 'now' }, {});
    expect(sockets).toHaveLength(1);
    socket(0).open();
    live.subscribe({ executionId: 'exe_2' }, {});
    expect(sockets).toHaveLength(1);
    expect(socket(0).sent).toEqual([
      { subscribe: 's1', executionId: 'exe_1' },
      { subscribe: 's2', project: 'default', after: 'now' },
      { subscribe: 's3', executionId: 'exe_2' },
    ]);
    expect(live.connection).toBe('live');
  });

  test('that follow from now on tell when events may have been missed', async () => {
    const onGap = vi.fn();
    const onOther = vi.fn();
    live.subscribe({ project: 'default', after: 'now' }, { onGap });
    live.subscribe({ executionId: 'exe_1' }, { onGap: onOther });
    socket(0).open();
    expect(onGap).toHaveBeenCalledTimes(1);
    socket(0).drop();
    await vi.advanceTimersByTimeAsync(300);
    socket(1).open();
    expect(onGap).toHaveBeenCalledTimes(2);
    socket(1).receive({ subscription: 's1', events: [event('3.0')] });
    socket(1).drop();
    await vi.advanceTimersByTimeAsync(300);
    socket(2).open();
    expect(socket(2).sent[0]).toMatchObject({ after: '3.0' });
    expect([onGap.mock.calls.length, onOther.mock.calls.length]).toEqual([2, 0]);
  });

  test('continue behind the last event after a break', async () => {
    const seen: string[] = [];
    const onEvents = (events: readonly LiveEvent[]): void => {
      for (const { id } of events) seen.push(id as string);
    };
    live.subscribe({ executionId: 'exe_1' }, { onEvents });
    socket(0).open();
    socket(0).receive({ subscription: 's1', events: [event('1.0'), event('2.0')] });
    socket(0).drop();
    expect(live.connection).toBe('lost');
    await vi.advanceTimersByTimeAsync(300);
    socket(1).open();
    expect(socket(1).sent).toEqual([{ subscribe: 's1', executionId: 'exe_1', after: '2.0' }]);
    // A late message of the old connection is not taken twice.
    socket(0).receive({ subscription: 's1', events: [event('2.0')] });
    socket(1).receive({ subscription: 's1', events: [event('3.0')] });
    expect(seen).toEqual(['1.0', '2.0', '3.0']);
  });

  test('try again at growing intervals, and at once when told', async () => {
    live.subscribe({ executionId: 'exe_1' }, {});
    socket(0).drop();
    await vi.advanceTimersByTimeAsync(250);
    expect(sockets).toHaveLength(2);
    socket(1).drop();
    await vi.advanceTimersByTimeAsync(499);
    expect(sockets).toHaveLength(2);
    live.retryNow();
    expect(sockets).toHaveLength(3);
  });

  test('end with the last subscription', async () => {
    const end = live.subscribe({ executionId: 'exe_1' }, {});
    socket(0).open();
    end();
    expect(socket(0).sent.at(-1)).toEqual({ unsubscribe: 's1' });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(socket(0).isClosed).toBe(true);
    expect(live.connection).toBe('idle');
  });

  test('tell of the end of a run and of a refused subscription', async () => {
    const onEnd = vi.fn();
    const onProblem = vi.fn();
    live.subscribe({ executionId: 'exe_1' }, { onEnd });
    live.subscribe({ executionId: 'exe_2' }, { onProblem });
    socket(0).open();
    socket(0).receive({ subscription: 's1', end: { executionId: 'exe_1', status: 'completed' } });
    socket(0).receive({ subscription: 's2', problem: { code: 'UNKNOWN_EXECUTION', detail: 'There is none.' } });
    expect(onEnd).toHaveBeenCalledOnce();
    expect(onProblem).toHaveBeenCalledWith({ code: 'UNKNOWN_EXECUTION', detail: 'There is none.' });
    socket(0).drop();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sockets).toHaveLength(1);
  });
});
