import type { AnswerOf, LiveEvent } from '@nebula/client';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recordOf } from '../src/pages/run/run-record.ts';
import { eventsOf, isTooLong } from '../src/pages/run/run-summary.ts';

const BEGAN = Date.parse('2026-11-18T10:00:00.000Z');

function event(seq: number, type: string, node: string | null, details: unknown = {}): LiveEvent {
  return { id: `${seq}.0`, seq, at: new Date(BEGAN + seq * 100).toISOString(), type, node, details } as LiveEvent;
}

const CHAIN = [
  event(1, 'WorkflowStarted', null, { workflowId: 'w', version: 1 }),
  event(1, 'NodeScheduled', 'fetch'),
  event(2, 'NodeStarted', 'fetch', { attempt: 1, worker: 'w' }),
  event(3, 'NodeRetried', 'fetch', { error: { code: 'X', kind: 'USER', message: 'no' }, until: 0 }),
  event(4, 'NodeStarted', 'fetch', { attempt: 2, worker: 'w' }),
  event(5, 'NodeCompleted', 'fetch'),
  event(5, 'NodeStarted', 'charge', { attempt: 1, worker: 'w' }),
  event(6, 'NodeFailed', 'charge', { error: { code: 'X', kind: 'USER', message: 'no' }, handling: 'unhandled' }),
  event(6, 'WorkflowFailed', null, {}),
];

describe('the record of a run', () => {
  test('[STU-21] has the states of every moment', () => {
    const record = recordOf(CHAIN);
    const statusAt = (index: number, node: string) => record.statesAt(index).get(node)?.status;
    expect([0, 1, 2, 3, 4, 5].map((index) => statusAt(index, 'fetch'))).toEqual([
      undefined,
      'queued',
      'running',
      'waiting',
      'running',
      'completed',
    ]);
    expect(record.statesAt(4).get('fetch')).toMatchObject({ attempts: 2, durationMs: null });
    expect(record.statesAt().get('fetch')).toMatchObject({ status: 'completed', attempts: 2, durationMs: 300 });
    expect(record.statesAt().get('charge')).toMatchObject({ status: 'failed' });
    expect([0, 7, 8].map((index) => record.runStatusAt(index))).toEqual(['running', 'running', 'failed']);
  });

  test('[STU-21] counts the iterations of a loop', () => {
    const record = recordOf([
      event(1, 'NodeOpened', 'items', { items: 3 }),
      ...[0, 1, 2].map((iteration) => event(2, 'RoundStarted', `items/${iteration}`)),
      event(3, 'RoundCompleted', 'items/1'),
      event(4, 'RoundFailed', 'items/0', { error: { code: 'X', kind: 'USER', message: 'no' } }),
    ]);
    expect(record.statesAt(4).get('items')?.iterations).toEqual({ total: 3, open: 2, succeeded: 1, failed: 0 });
    expect(record.statesAt().get('items')?.iterations).toEqual({ total: 3, open: 1, succeeded: 1, failed: 1 });
  });

  test('[STU-21] forgets the nodes that a reopened run runs again', () => {
    const record = recordOf([...CHAIN, event(7, 'WorkflowReopened', null, { nodes: ['charge'] })]);
    expect(record.statesAt().get('charge')).toBeUndefined();
    expect(record.statesAt(8).get('charge')?.status).toBe('failed');
    expect(record.runStatusAt(9)).toBe('running');
  });

  test('[STU-21] gives the same states from a checkpoint as from the beginning', () => {
    const types = ['NodeScheduled', 'NodeStarted', 'NodeCompleted', 'NodeCancelled'] as const;
    const events = fc.array(fc.tuple(fc.constantFrom(...types), fc.integer({ min: 0, max: 30 })), {
      minLength: 1_200,
      maxLength: 1_600,
    });
    fc.assert(
      fc.property(events, fc.nat(), (drawn, cut) => {
        const all = drawn.map(([type, node], at) => event(at + 1, type, `n${node}`, { attempt: at, worker: 'w' }));
        const index = cut % all.length;
        expect(recordOf(all).statesAt(index)).toEqual(recordOf(all.slice(0, index + 1)).statesAt());
      }),
      { numRuns: 20 },
    );
  });

  test('[STU-22] steps from frame to frame', () => {
    const record = recordOf(CHAIN);
    expect(record.indexOfFrame(5)).toBe(6);
    expect(record.neighbour(6, -1)).toBe(4);
    expect(record.neighbour(4, 1)).toBe(6);
    expect(record.neighbour(1, -1)).toBeUndefined();
    expect(record.neighbour(8, 1)).toBeUndefined();
    expect(record.indexAt(BEGAN + 450)).toBe(4);
    expect(record.indexAt(0)).toBe(0);
  });
});

describe('[STU-84] a run with very many events', () => {
  const node = (status: string, from: string | null, to: string | null, more: object = {}) => ({
    status,
    attempts: 1,
    error: null,
    queuedAt: from,
    startedAt: from,
    finishedAt: to,
    durationMs: null,
    ...more,
  });
  const document = (nodes: object, seq = 10) => ({ seq, nodes }) as unknown as AnswerOf<'getExecution'>;

  test('is known by its frames, nodes and iterations', () => {
    const loop = (succeeded: number) => ({
      items: node('completed', null, null, { rounds: { succeeded, failed: 0, open: 0 } }),
    });
    expect(isTooLong(document(loop(100)))).toBe(false);
    expect(isTooLong(document(loop(100_000)))).toBe(true);
    expect(isTooLong(document({}, 1_000_000))).toBe(true);
  });

  test('is shown by its document', () => {
    const [began, ended] = ['2026-11-18T10:00:00.000Z', '2026-11-18T10:00:02.000Z'];
    const record = recordOf(
      eventsOf(
        document({
          later: node('failed', ended, ended, { error: { code: 'X', kind: 'USER', message: 'no' } }),
          first: node('completed', began, ended),
          open: node('running', began, null),
          skipped: node('skipped', null, null),
        }),
      ),
    );
    const states = Object.fromEntries([...record.statesAt()].map(([path, { status }]) => [path, status]));
    expect(states).toEqual({ first: 'completed', open: 'running', later: 'failed' });
    expect(record.history.node('first')).toMatchObject({ status: 'completed', endedAt: Date.parse(ended) });
  });
});
