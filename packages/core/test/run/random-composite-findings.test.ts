/** What random lives of composite nodes have found, each as a small life of its own. */
import { describe, expect, it } from 'vitest';
import { newRunState, replay, wakeTime } from '../../src/index.ts';
import { type Drive, drive } from './drive.ts';

const UNDO = { action: 'look@1', with: { of: '{{ $self.output }}' } };

const keyOf = (run: Drive, node: string): string => run.attempts.get(node)?.idempotencyKey ?? '';

describe('what begins as something new', () => {
  it('[RUN-145] is undone under a key and an attempt of its own', () => {
    const run = drive({ nodes: { a: { compensate: UNDO }, b: { needs: ['a'] } } });
    run.complete('a').fail('b');
    const first = run.attempts.get('~undo/a');
    run.complete('~undo/a').retry().complete('a').fail('b');
    const second = run.attempts.get('~undo/a');
    expect(first?.idempotencyKey).toBe('exe_test:~undo/a:0');
    expect(second?.idempotencyKey).toBe('exe_test:~undo/a:1');
    expect(second?.attempt).toBeGreaterThan(first?.attempt ?? 0);
  });

  it('[RUN-149] has attempts in a loop whose numbers were not used before', () => {
    const run = drive({ nodes: { each: { forEach: { in: [1] }, do: { nodes: { x: {} } } } } });
    const first = run.attempts.get('each/0/x');
    run.complete('each/0/x').step({ type: 'replay', node: 'each' });
    const second = run.attempts.get('each/0/x');
    expect(second?.attempt).toBeGreaterThan(first?.attempt ?? 0);
    expect(second?.idempotencyKey).not.toBe(first?.idempotencyKey);
    // What the old attempt reports late is not taken for the new one's.
    run.step({
      type: 'ended',
      node: 'each/0/x',
      attempt: first?.attempt ?? 0,
      outcome: { status: 'completed', output: { value: 'old' } },
      jitter: 0,
    });
    expect(run.statusOf('each/0/x')).toBe('running');
  });

  it('[RUN-149] has another key however deep the replays before it were', () => {
    const run = drive({
      nodes: { each: { forEach: { in: [1] }, do: { nodes: { x: {}, y: { needs: ['x'] } } } } },
    });
    const keys = [keyOf(run, 'each/0/x')];
    run.complete('each/0/x').fail('each/0/y').step({ type: 'replay', node: 'each/0/x' });
    keys.push(keyOf(run, 'each/0/x'));
    run.complete('each/0/x').complete('each/0/y').step({ type: 'replay', node: 'each' });
    keys.push(keyOf(run, 'each/0/x'));
    expect(new Set(keys).size).toBe(3);
  });

  it('[RUN-145] is a loop, too, that was cut off and depends on what was undone', () => {
    const run = drive({
      nodes: { a: { compensate: UNDO }, each: { needs: ['a'], forEach: { in: [1, 2] }, do: { nodes: { x: {} } } } },
    });
    run.complete('a').complete('each/0/x');
    const key = keyOf(run, 'each/0/x');
    run.cancel().handBack('each/1/x').complete('~undo/a').retry().complete('a');
    expect(run.running()).toEqual(['each/0/x']);
    expect(keyOf(run, 'each/0/x')).not.toBe(key);
  });
});

describe('a replay inside a loop', () => {
  it('[RUN-149] goes on with the other rounds that were cut off', () => {
    const run = drive({ nodes: { each: { forEach: { in: [1, 2, 3], parallel: true }, do: { nodes: { x: {} } } } } });
    run.fail('each/0/x').handBack('each/1/x').handBack('each/2/x');
    expect(run.status).toBe('failed');
    run.step({ type: 'replay', node: 'each/1/x', input: { edited: true } });
    expect(run.attempts.get('each/1/x')?.input).toEqual({ edited: true });
    expect(run.running().sort()).toEqual(['each/0/x', 'each/1/x', 'each/2/x']);
    for (const round of [0, 1, 2]) run.complete(`each/${round}/x`, round);
    expect(run.output).toEqual({ each: [0, 1, 2] });
  });
});

describe('a round that went well', () => {
  it('[RUN-211] is not ended again by a retry, though the outcome of something in it is unknown', () => {
    const run = drive({
      nodes: {
        w: {
          while: { condition: '$index < 2', maxIterations: 1 },
          do: {
            nodes: {
              l: {
                forEach: { in: [1] },
                timeout: '5s',
                onError: 'ignore',
                do: { nodes: { p: { action: 'pay@1' } } },
              },
            },
          },
        },
      },
    });
    run.breakOff('w/0/l/0/p').advance(6_000);
    expect(run.error?.code).toBe('MAX_ITERATIONS');
    run.retry();
    expect(run.running()).toEqual(['w/1/l/0/p']);
    expect(run.entries.filter((entry) => entry.type === 'scope.closed' && entry.scope === 'w/0')).toHaveLength(1);
  });

  it('[RUN-149] cannot be replayed from the inside: the loop can', () => {
    const nodes = { p: { action: 'pay@1' } };
    const inner = { forEach: { in: [1, 2], parallel: true }, timeout: '5s', onError: 'ignore', do: { nodes } };
    const run = drive({ nodes: { w: { while: { condition: '$index < 1' }, do: { nodes: { l: inner } } } } });
    run.breakOff('w/0/l/0/p').complete('w/0/l/1/p').advance(6_000);
    expect(run.status).toBe('completed');
    run.step({ type: 'replay', node: 'w/0/l/0/p' });
    expect(run.status).toBe('completed');
    run.step({ type: 'replay', node: 'w' });
    expect(run.running().sort()).toEqual(['w/0/l/0/p', 'w/0/l/1/p']);
  });
});

describe('a run that is undone', () => {
  it('[RUN-140] begins nothing again of which somebody says that it did not happen', () => {
    const run = drive({ nodes: { a: { compensate: UNDO }, p: { action: 'pay@1' }, b: { needs: ['a'] } } });
    run.complete('a').breakOff('p').fail('b');
    expect(run.status).toBe('compensating');
    run.settle('p', { happened: false, then: 'retry' });
    expect(run.statusOf('p')).toBe('cancelled');
    expect(run.running()).toEqual(['~undo/a']);
    expect(run.complete('~undo/a').status).toBe('failed');
  });
});

describe('a graph that is returned while the run is being stopped', () => {
  it('[RUN-117] is what a retry goes on with', () => {
    const run = drive({ nodes: { a: { dynamic: { action: 'do@1' } }, b: { needs: ['a'] } } });
    run.cancel().complete('a', { nodes: { x: { action: 'do@1' } } });
    expect(run.statuses()).toMatchObject({ a: 'cancelled', b: 'cancelled' });
    expect(run.retry().running()).toEqual(['a/x']);
    run.complete('a/x', 7).complete('b');
    expect(run.status).toBe('completed');
  });
});

describe('a journal that is folded again', () => {
  it('[RUN-130] knows that what a resumption let begin has begun', () => {
    const run = drive({ nodes: { a: {}, w: { needs: ['a'], wait: { signal: 's' } } } });
    run.step({ type: 'pause' }).complete('a').step({ type: 'resume' });
    const folded = replay(newRunState(run.plan, 'exe_test'), run.frames);
    expect(folded.listening.size).toBe(1);
    expect(folded.released.size).toBe(0);
  });
});

describe('gates', () => {
  const gated = { concurrency: { key: 'k', limit: 1 } };

  it('[RUN-170] what is cut off in the turn in which it asks again asks for nothing', () => {
    const run = drive({
      nodes: { each: { forEach: { in: [1] }, timeout: '5s', onError: 'ignore', do: { nodes: { x: gated } } } },
    });
    expect(run.asks).toHaveLength(1);
    run.advance(6_000);
    expect(run.status).toBe('completed');
    expect(run.asks).toHaveLength(1);
    expect(run.freed).toEqual([{ key: 'key:k', node: 'each/0/x' }]);
  });

  it('[RUN-174] a run that waits to hear of a moment or of the cache has a wake time', () => {
    const rate = drive({ nodes: { a: { rateLimit: { key: 'k', limit: 1, per: '1s' } } } });
    expect(wakeTime(rate.state, rate.now, 30_000)).toBe(rate.now + 30_000);
    const place = drive({ nodes: { a: gated } });
    expect(wakeTime(place.state, place.now, 30_000)).toBeNull();
  });

  it('[RUN-173] what the cache had was not done here, and is not undone here', () => {
    const run = drive({
      nodes: { a: { action: 'do@1', cache: { version: '1' }, compensate: UNDO }, b: { needs: ['a'] } },
    });
    run.step({ type: 'cached', node: 'a', output: { value: 7 }, hit: { executionId: 'exe_old', node: 'a', at: 1 } });
    run.fail('b');
    expect(run.status).toBe('failed');
    expect(run.attempts.has('~undo/a')).toBe(false);
  });
});

describe('children', () => {
  it('[RUN-150] are looked for once, by whoever is awake, after they were asked for', () => {
    const run = drive({ nodes: { a: { workflow: { id: 'sub', mode: 'child' } } } });
    const asked = run.now;
    expect(wakeTime(run.state, run.now, 30_000)).toBe(asked + 30_000);
    expect(wakeTime(run.advance(30_000).state, run.now, 30_000)).toBeNull();
  });
});
