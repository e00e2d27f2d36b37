import { describe, expect, it } from 'vitest';
import { decide, decodeSnapshot, encodeSnapshot, newTurn, type RunState } from '../../src/run.ts';
import { drive } from './drive.ts';

describe('snapshots', () => {
  it('[RUN-218] an unknown outcome is kept although its iteration has failed', () => {
    const run = drive({
      nodes: { r: { retryUntil: { attempts: 3 }, do: { nodes: { pay: { action: 'pay@1' }, x: {} } } } },
    });
    run.breakOff('r/0/pay').fail('r/0/x');
    expect(run.status).toBe('failed');
    expect(run.state.unknown.size).toBe(1);
    const restored = decodeSnapshot(run.plan, 'exe_test', encodeSnapshot(run.state)) as RunState;
    expect(restored.unknown.size).toBe(1);
  });

  it('[RUN-178] iterations that are to be ended in the next turn are known after a snapshot', () => {
    const run = drive(
      {
        nodes: {
          each: {
            forEach: {
              in: Array.from({ length: 1_500 }, (_, n) => n),
              parallel: true,
              maxConcurrency: 1_500,
              minSuccess: 0,
            },
            do: { nodes: { x: {}, y: { needs: ['x'] } } },
          },
        },
        config: { maxParallelism: 2_000 },
      },
      { slots: 2_000, foldEvery: Number.POSITIVE_INFINITY },
    );
    const error = { code: 'BROKEN', kind: 'USER' as const, message: 'broken' };
    const running = run.running();
    expect(running).toHaveLength(1_500);
    run.step(
      ...running.map((node) => ({
        type: 'ended' as const,
        node,
        attempt: 1,
        outcome: { status: 'failed' as const, error },
        jitter: 0,
      })),
    );
    expect(run.state.endChecks.size).toBeGreaterThan(0);
    const restored = decodeSnapshot(run.plan, 'exe_test', encodeSnapshot(run.state)) as RunState;
    expect(restored.endChecks.size).toBe(run.state.endChecks.size);
    decide(
      newTurn(restored, run.now, () => null),
      { type: 'wake', lost: [], jitter: 0 },
    );
    expect(restored.phase.status).toBe('completed');
  });

  it('[RUN-124] the wait that has waited longest is the first after a snapshot, too', () => {
    const run = drive({
      nodes: {
        pause: { wait: { for: '1s' } },
        late: { needs: ['pause'], wait: { signal: 'go' } },
        z: {},
        early: { needs: ['z'], wait: { signal: 'go' } },
      },
    });
    run.complete('z').advance(1_000);
    const restored = decodeSnapshot(run.plan, 'exe_test', encodeSnapshot(run.state)) as RunState;
    expect(Array.from(restored.listening, ({ plan }) => plan.id)).toEqual(
      Array.from(run.state.listening, ({ plan }) => plan.id),
    );
  });

  it('[RUN-74] a snapshot that cannot be read is not used', () => {
    const { plan, state } = drive({ nodes: { a: {} } });
    const text = encodeSnapshot(state);
    for (const damaged of ['', '{', 'null', '7', text.slice(0, -5), text.replace(/"format":\d+/, '"format":0')]) {
      expect(decodeSnapshot(plan, 'exe_test', damaged)).toBeUndefined();
    }
  });

  it('[RUN-86] a retry with nothing to do does not change a run that was loaded from a snapshot', () => {
    const run = drive({ config: { timeout: '10s' }, nodes: { a: {} } }).complete('a');
    const state = decodeSnapshot(run.plan, 'exe_test', encodeSnapshot(run.state)) as RunState;
    const turn = newTurn(state, run.now + 60_000, () => null);
    decide(turn, { type: 'retry' });
    expect(turn.entries).toEqual([]);
  });
});

describe('a run that continues from a snapshot', () => {
  it('[RUN-547] knows its parent, its trace and its start key', () => {
    const parent = { executionId: 'exe_parent', node: 'sub', depth: 2 };
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const run = drive({ nodes: { a: {} } }, { start: { parent, traceparent, key: 'k' } }).reload();
    expect(run.state).toMatchObject({ parent, traceparent, startKey: 'k' });
    run.complete('a');
    expect(run.freed).toEqual([{ key: expect.stringContaining('k'), node: '' }]);
  });

  it('[RUN-66] runs undone nodes again when it is retried', () => {
    const compensate = { action: 'look@1', with: { of: '{{ $self.output }}' } };
    const run = drive({ nodes: { hotel: { compensate }, flight: { needs: ['hotel'] } } });
    run.complete('hotel', 'h1').fail('flight', { code: 'FULL' }).complete('~undo/hotel');
    expect(run.status).toBe('failed');
    run.reload().retry();
    expect(run.running()).toEqual(['hotel']);
    expect(run.complete('hotel', 'h2').complete('flight').status).toBe('completed');
  });

  it('[RUN-66] opens no iteration after a break', () => {
    const body = { nodes: { x: { break: true, when: '$index == 0' }, y: {} } };
    const run = drive({
      nodes: { each: { forEach: { in: [1, 2, 3, 4], parallel: true, maxConcurrency: 2 }, do: body } },
    });
    run.complete('each/0/x', 'found').breakOff('each/0/y');
    expect(run.running()).toEqual(['each/1/y']);
    run.reload().complete('each/1/y');
    expect(run.status).toBe('completed');
    expect(run.entries.filter(({ type }) => type === 'scopes.opened')).toMatchObject([{ from: 0, to: 2 }]);
  });
});
