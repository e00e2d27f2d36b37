/** Cases that a hostile reader thought of: what is lost, skipped or stuck where two features meet. */
import { describe, expect, it } from 'vitest';
import { decide, decodeSnapshot, encodeSnapshot, newTurn, type RunState } from '../../src/index.ts';
import { evolve } from '../../src/run/evolve.ts';
import { drive } from './drive.ts';

describe('gates and what else may happen', () => {
  it('[RUN-170] a place that is granted while the run is paused does not open the gates after it', () => {
    const run = drive({
      nodes: { a: { concurrency: { key: 'k', limit: 1 }, rateLimit: { key: 'api', limit: 1, per: '1m' } } },
    });
    run.step({ type: 'pause' }).step({ type: 'granted', node: 'a', gate: 'concurrency' });
    expect(run.running()).toEqual([]);
    run.step({ type: 'resume' });
    expect(run.running()).toEqual([]);
    expect(run.asks.at(-1)?.gate.kind).toBe('rate');
    run.step({ type: 'granted', node: 'a', gate: 'rate' });
    expect(run.running()).toEqual(['a']);
  });

  it('[RUN-174] what the cache says while the run is paused is asked for again', () => {
    const run = drive({ nodes: { a: { cache: { version: '1' } } } });
    const miss = { key: 'h', family: 'do@1#1', input: '{}', earlier: null };
    run.step({ type: 'pause' }).step({ type: 'granted', node: 'a', gate: 'cache', miss });
    run.step({ type: 'resume' });
    expect(run.running()).toEqual([]);
    run.step({ type: 'granted', node: 'a', gate: 'cache', miss });
    expect(run.asks.at(-1)?.gate.kind).toBe('reserve');
  });

  it('[RUN-170] a run that ends with an outcome that nobody knows gives its place back', () => {
    const run = drive({ nodes: { a: { action: 'pay@1', concurrency: { key: 'k', limit: 1 } } } });
    run.step({ type: 'granted', node: 'a', gate: 'concurrency' }).cancel().breakOff('a');
    expect(run.status).toBe('cancelled');
    expect(run.freed).toEqual([{ key: 'key:k', node: 'a' }]);
    run.retry().settle('a', { happened: false, then: 'retry' });
    expect(run.running()).toEqual([]);
    expect(run.asks).toHaveLength(2);
    run.step({ type: 'granted', node: 'a', gate: 'concurrency' });
    expect(run.running()).toEqual(['a']);
  });

  it('[RUN-170] the time limit over all attempts counts while a node waits for its place', () => {
    const run = drive({ nodes: { a: { concurrency: { key: 'k', limit: 1 }, timeout: { total: '1m' } } } });
    run.advance(60_000);
    expect(run.error).toMatchObject({ code: 'TIMEOUT', details: { limit: 'total' } });
    expect(run.freed).toHaveLength(1);
  });
});

describe('beginning again', () => {
  it('[RUN-211] a loop that took too long has its whole time again', () => {
    const run = drive({
      nodes: { each: { forEach: { in: [1] }, timeout: { total: '1m' }, do: { nodes: { x: {} } } } },
    });
    run.advance(60_000).breakOff('each/0/x');
    expect(run.error?.code).toBe('TIMEOUT');
    run.retry().advance(1);
    expect(run.running()).toEqual(['each/0/x']);
    run.complete('each/0/x');
    expect(run.status).toBe('completed');
  });
});

describe('what was undone', () => {
  it('[RUN-145] in a loop that depends on something undone begins again with the loop', () => {
    const undo = { compensate: { action: 'look@1', with: {} } };
    const run = drive({
      nodes: {
        a: undo,
        each: { needs: ['a'], forEach: { in: [1] }, do: { nodes: { x: undo, y: { needs: ['x'] } } } },
      },
    });
    run.complete('a').complete('each/0/x').fail('each/0/y').complete('~undo/each:0:x').complete('~undo/a');
    expect(run.status).toBe('failed');
    run.retry();
    expect(run.running()).toEqual(['a']);
    run.complete('a').complete('each/0/x').complete('each/0/y');
    expect(run.status).toBe('completed');
  });

  it('[RUN-145] is found in time that grows with the number of nodes', () => {
    const count = 3_000;
    const undo = { compensate: { action: 'look@1', with: {} } };
    const nodes: Record<string, Record<string, unknown>> = {};
    for (let n = 0; n < count; n++) nodes[`n${n}`] = n === 0 ? undo : { needs: [`n${n - 1}`], ...undo };
    const run = drive({ nodes }, { foldEvery: Number.POSITIVE_INFINITY });
    for (let n = 0; n < count - 1; n++) run.complete(`n${n}`);
    run.fail(`n${count - 1}`);
    for (let n = count - 2; n >= 0; n--) run.complete(`~undo/n${n}`);
    expect(run.retry().running()).toEqual(['n0']);
  });
});

describe('loops that grow', () => {
  it('[RUN-207] see their own item, whichever round emitted it', () => {
    const run = drive({
      nodes: {
        each: {
          forEach: { in: [5] },
          do: {
            nodes: { x: { with: { n: '{{ $item }}' }, emit: '{{ $self.output == 0 ? [] : [$self.output - 1, 0] }}' } },
            output: '{{ $item }}',
          },
        },
      },
    });
    for (let [node] = run.running(); node !== undefined; [node] = run.running()) {
      const { input } = run.attempts.get(node) ?? {};
      const { n } = input as { n: number };
      run.complete(node, n);
    }
    expect(run.output).toEqual({ each: [5, 4, 0, 3, 0, 2, 0, 1, 0, 0, 0] });
  });
});

describe('ends', () => {
  it('[RUN-148] a failure node that is a loop ends, whatever halts in it', () => {
    const run = drive({
      config: { failureNode: 'tell' },
      nodes: {
        a: {},
        tell: { forEach: { in: [1] }, do: { nodes: { x: { onError: 'halt' }, y: { needs: ['x'] } } } },
      },
    });
    run.fail('a').fail('tell/0/x');
    expect(run.status).toBe('failed');
    expect(run.error?.node).toBe('a');
  });

  it('[RUN-141] a compensation that is cancelled does not stop the others', () => {
    const undo = { compensate: { action: 'look@1', with: {} } };
    const run = drive({ nodes: { a: undo, b: { needs: ['a'], ...undo }, c: { needs: ['b'] } } });
    run.complete('a').complete('b').fail('c');
    run.step({ type: 'cancel', reason: 'hangs', node: '~undo/b' });
    expect(run.running()).toEqual(['~undo/a']);
    run.complete('~undo/a');
    expect(run.status).toBe('failed');
  });

  it('[RUN-145] 150,000 things that were undone are noted', () => {
    const { state } = drive({ nodes: { a: {} } });
    const undone = Array.from({ length: 150_000 }, (_, at) => ({ path: `p${at}` }));
    // Put there by hand: doing and undoing them one by one would take its time.
    state.root.undoing = {
      undoItems: undone,
      nodes: undone.map(() => ({ phase: { status: 'completed' } })),
    } as unknown as RunState['root'];
    evolve(state, { type: 'run.finished', status: 'failed' }, 0);
    expect(state.undone).toHaveLength(undone.length);
  });
});

describe('snapshots', () => {
  it('[RUN-218] an outcome that nobody knows is kept although its round has failed', () => {
    const run = drive({
      nodes: { r: { retryUntil: { attempts: 3 }, do: { nodes: { pay: { action: 'pay@1' }, x: {} } } } },
    });
    run.breakOff('r/0/pay').fail('r/0/x');
    expect(run.status).toBe('failed');
    expect(run.state.unknown.size).toBe(1);
    const restored = decodeSnapshot(run.plan, 'exe_test', encodeSnapshot(run.state)) as RunState;
    expect(restored.unknown.size).toBe(1);
  });

  it('[RUN-178] rounds that are to be ended in the next turn are known after one', () => {
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
    expect(run.state.settled.size).toBeGreaterThan(0);
    const restored = decodeSnapshot(run.plan, 'exe_test', encodeSnapshot(run.state)) as RunState;
    expect(restored.settled.size).toBe(run.state.settled.size);
    decide(
      newTurn(restored, run.now, () => null),
      { type: 'wake', lost: [], jitter: 0 },
    );
    expect(restored.status).toBe('completed');
  });

  it('[RUN-124] the wait that has waited longest is the first after one, too', () => {
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
});
