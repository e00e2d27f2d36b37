import { describe, expect, it } from 'vitest';
import { decodeSnapshot, encodeSnapshot } from '../../../src/run.ts';
import { drive } from '../drive.ts';

describe('order', () => {
  it('[RUN-50] maxParallelism bounds the nodes under way', () => {
    const nodes = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((id) => [id, {}]));
    const run = drive({ config: { maxParallelism: 2 }, nodes });
    expect(run.running()).toEqual(['a', 'b']);
    expect(run.statusOf('c')).toBe('queued');
    run.complete('a');
    expect(run.running()).toEqual(['b', 'c']);
  });

  it('[RUN-50] a node that waits for its retry holds no slot', () => {
    const run = drive({ config: { maxParallelism: 1 }, nodes: { a: { retry: { attempts: 2, delay: '1s' } }, b: {} } });
    run.fail('a');
    expect(run.running()).toEqual(['b']);
  });

  it('[RUN-51] higher priority first, then the longer way to the end', () => {
    const nodes = {
      short: {},
      long: { estimate: '10s' },
      chain: { estimate: '4s' },
      chain2: { needs: ['chain'], estimate: '7s' },
      urgent: { priority: 9 },
      lazy: { priority: 1, estimate: '1h' },
    };
    const run = drive({ config: { maxParallelism: 1 }, nodes });
    const order: string[] = [];
    while (run.status === 'running') {
      const [node] = run.running();
      order.push(node as string);
      run.complete(node as string);
    }
    expect(order).toEqual(['urgent', 'chain', 'long', 'chain2', 'short', 'lazy']);
  });

  it('[RUN-225] the longer way is computed from the estimates of the start, also after a snapshot', () => {
    const nodes = {
      begin: {},
      short: { needs: ['begin'] },
      said: { needs: ['begin'], estimate: '3s' },
      long: { needs: ['begin'] },
      end: { needs: ['short', 'long', 'said'] },
    };
    const estimates = { long: 9_000, constructor: 1, gone: 5 };
    const run = drive({ config: { maxParallelism: 1 }, nodes }, { estimates });
    expect(run.frames[0]?.entries[0]).toMatchObject({ type: 'run.started', estimates });
    const { plan, executionId } = run.state;
    run.complete('begin');
    expect(run.running()).toEqual(['long']);
    const restored = decodeSnapshot(plan, executionId, encodeSnapshot(run.state));
    expect(restored?.root.ranks).toEqual(run.state.root.ranks);
    run.complete('long');
    expect(run.running()).toEqual(['said']);
  });

  it('[RUN-52] levels run one after the other', () => {
    const nodes = { a: {}, b: {}, c: { needs: ['a'], priority: 9 }, d: { needs: ['b'] }, e: { needs: ['c'] } };
    const run = drive({ config: { mode: 'levels' }, nodes });
    run.complete('a');
    expect(run.statuses()).toMatchObject({ b: 'running', c: 'queued' });
    run.complete('b');
    expect(run.running()).toEqual(['c', 'd']);
    run.complete('c');
    expect(run.statusOf('e')).toBe('queued');
    run.complete('d');
    expect(run.complete('e').status).toBe('completed');
  });

  it('[RUN-53] sequential runs one at a time in the order of the definition', () => {
    const nodes = { a: {}, b: { estimate: '1h' }, c: { needs: ['a'] }, d: {} };
    const run = drive({ config: { mode: 'sequential' }, nodes });
    const order: string[] = [];
    while (run.status === 'running') {
      expect(run.running()).toHaveLength(1);
      order.push(run.running()[0] as string);
      run.complete(run.running()[0] as string);
    }
    expect(order).toEqual(['a', 'b', 'c', 'd']);
  });
});

it('[RUN-578] an attempt knows when its node was queued', () => {
  const run = drive({ nodes: { a: {}, b: {} } }, { slots: 1 });
  const queuedAt = run.now;
  run.now += 5_000;
  run.complete('a');
  expect(run.attempts.get('b')?.queuedAt).toBe(queuedAt);
});
