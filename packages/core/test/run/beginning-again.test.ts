/** Keys, attempt numbers and iterations of nodes that begin again: by a retry, by a replay, or after they were undone. */

import { describe, expect, it } from 'vitest';
import { inlineValue } from '../../src/run.ts';
import { type Drive, drive } from './drive.ts';

const UNDO = { action: 'look@1', with: { of: '{{ $self.output }}' } };

const keyOf = (run: Drive, node: string): string => run.attempts.get(node)?.idempotencyKey ?? '';

describe('nodes that begin as something new', () => {
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
    // A late report of the old attempt is not taken for the new one.
    run.step({
      type: 'ended',
      node: 'each/0/x',
      attempt: first?.attempt ?? 0,
      outcome: { status: 'completed', output: inlineValue('old') },
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

  it('[RUN-145] include a loop that was cut off and depends on an undone node', () => {
    const run = drive({
      nodes: { a: { compensate: UNDO }, each: { needs: ['a'], forEach: { in: [1, 2] }, do: { nodes: { x: {} } } } },
    });
    run.complete('a').complete('each/0/x');
    const key = keyOf(run, 'each/0/x');
    run.cancel().handBack('each/1/x').complete('~undo/a').retry().complete('a');
    expect(run.running()).toEqual(['each/0/x']);
    expect(keyOf(run, 'each/0/x')).not.toBe(key);
  });

  it('[RUN-145] include nodes of a loop that depends on an undone node', () => {
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
});

describe('a replay inside a loop', () => {
  it('[RUN-149] continues the other iterations that were cut off', () => {
    const run = drive({ nodes: { each: { forEach: { in: [1, 2, 3], parallel: true }, do: { nodes: { x: {} } } } } });
    run.fail('each/0/x').handBack('each/1/x').handBack('each/2/x');
    expect(run.status).toBe('failed');
    run.step({ type: 'replay', node: 'each/1/x', input: { edited: true } });
    expect(run.attempts.get('each/1/x')?.input).toEqual({ edited: true });
    expect(run.running().sort()).toEqual(['each/0/x', 'each/1/x', 'each/2/x']);
    for (const iteration of [0, 1, 2]) run.complete(`each/${iteration}/x`, iteration);
    expect(run.output).toEqual({ each: [0, 1, 2] });
  });
});

describe('an iteration that succeeded', () => {
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

describe('a loop that took too long', () => {
  it('[RUN-211] has its whole time again', () => {
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

describe('a run that is undone', () => {
  it('[RUN-140] does not begin a node again that is settled as not happened', () => {
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
  it('[RUN-117] is continued by a retry', () => {
    const run = drive({ nodes: { a: { dynamic: { action: 'do@1' } }, b: { needs: ['a'] } } });
    run.cancel().complete('a', { nodes: { x: { action: 'do@1' } } });
    expect(run.statuses()).toMatchObject({ a: 'cancelled', b: 'cancelled' });
    expect(run.retry().running()).toEqual(['a/x']);
    run.complete('a/x', 7).complete('b');
    expect(run.status).toBe('completed');
  });
});

describe('a retry leaves nothing of the end behind', () => {
  it('[RUN-548] a run that was cancelled before its time completes when it is retried', () => {
    const run = drive({ nodes: { a: {} } }, { delay: 60_000 }).cancel();
    expect(run.status).toBe('cancelled');
    run.retry();
    expect(run.running()).toEqual(['a']);
    expect(run.complete('a').status).toBe('completed');
  });

  it('[RUN-549] an iteration whose output cannot be evaluated fails again, and the run does not wait for ever', () => {
    const body = { nodes: { x: {} }, output: '{{ $nodes.x.output.a.b }}' };
    const run = drive({ nodes: { each: { forEach: { in: [1] }, do: body } } });
    run.complete('each/0/x', 'text');
    expect(run.status).toBe('failed');
    const closed = () => run.entries.filter(({ type }) => type === 'scope.closed').length;
    expect(closed()).toBe(1);
    run.retry();
    expect([run.status, closed()]).toEqual(['failed', 2]);
  });

  it('[RUN-550] the failure node runs again when the run fails again', () => {
    const run = drive({ config: { failureNode: 'tell' }, nodes: { a: {}, tell: {} } });
    run.fail('a').complete('tell').retry();
    expect(run.running()).toEqual(['a']);
    run.fail('a');
    expect(run.running()).toEqual(['tell']);
    expect(run.complete('tell').status).toBe('failed');
  });
});

it('[RUN-582] a composite node that begins again as a whole is listed without the nodes inside', () => {
  const group = { nodes: { x: {}, y: { needs: ['x'] } } };
  const run = drive({ nodes: { a: { compensate: UNDO }, g: { needs: ['a'], group } } });
  // The retry repeats the failed node inside, and then everything after the node that was undone.
  run.complete('a').complete('g/x').fail('g/y').complete('~undo/a').retry();
  const reopened = run.entries.findLast(({ type }) => type === 'run.reopened');
  expect(reopened).toMatchObject({ nodes: ['a', 'g'], renewed: ['a', 'g'] });
  expect(reopened).not.toHaveProperty('open');
});
