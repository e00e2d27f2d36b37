import { describe, expect, it } from 'vitest';
import { wakeTime } from '../../../src/run.ts';
import { drive } from '../drive.ts';

const UNDO = { action: 'look@1', with: { of: '{{ $self.output }}' } };

describe('gates', () => {
  it('[RUN-170] a node with a concurrency key waits until it is granted a permit, and releases it at its end', () => {
    const run = drive(
      { nodes: { a: { concurrency: { key: '{{ $input.who }}', limit: 2 } } } },
      { input: { who: 'ann' } },
    );
    expect(run.statusOf('a')).toBe('waiting');
    expect(run.gateRequests).toEqual([{ node: 'a', gate: { kind: 'concurrency', key: 'ann', limit: 2 } }]);
    run.step({ type: 'granted', node: 'a', gate: 'concurrency' });
    expect(run.running()).toEqual(['a']);
    run.complete('a');
    expect(run.freed).toEqual([{ key: 'key:ann', node: 'a' }]);
    expect(run.status).toBe('completed');
  });

  it('[RUN-170] a retry requests again; a cancelled node gives up its position in the line', () => {
    const run = drive({ nodes: { a: { concurrency: { key: 'k', limit: 1 }, retry: { attempts: 2, delay: '1s' } } } });
    run.step({ type: 'granted', node: 'a', gate: 'concurrency' }).fail('a');
    expect(run.freed).toHaveLength(1);
    run.advance(1_000);
    expect(run.gateRequests).toHaveLength(2);
    run.cancel();
    expect(run.freed).toHaveLength(2);
    expect(run.status).toBe('cancelled');
  });

  it('[RUN-240] between attempts a node keeps its cache reservation and releases its permit', () => {
    const run = drive({
      nodes: { a: { cache: {}, concurrency: { key: 'k' }, retry: { attempts: 2, delay: '1s' } } },
    });
    const miss = { key: 'c1', family: 'do', input: '{}', earlier: null };
    const granted = (gate: 'cache' | 'reserve' | 'concurrency') =>
      run.step({ type: 'granted', node: 'a', gate, ...(gate === 'cache' ? { miss } : {}) });
    granted('cache');
    granted('reserve');
    granted('concurrency').loseWorker();
    expect(run.freed).toEqual([{ key: 'key:k', node: 'a' }]);
    expect(run.gateRequests.map(({ gate }) => gate.kind)).toEqual(['cache', 'reserve', 'concurrency', 'concurrency']);
    granted('concurrency').complete('a');
    expect(run.freed.slice(1)).toEqual([
      { key: 'cache:c1', node: 'a' },
      { key: 'key:k', node: 'a' },
    ]);
    expect(run.status).toBe('completed');
  });

  it('[RUN-241] the limit `queued` counts the wait before gates, from the first one on', () => {
    const flow = { nodes: { a: { concurrency: { key: 'k' }, timeout: { queued: '5s' } } } };
    const waiting = drive(flow).advance(5_000);
    expect(waiting.error).toMatchObject({ code: 'TIMEOUT', details: { limit: 'queued' } });
    expect(waiting.freed).toEqual([{ key: 'key:k', node: 'a' }]);
    const late = drive(flow, { starts: false }).advance(3_000);
    late.step({ type: 'granted', node: 'a', gate: 'concurrency' }).advance(2_000);
    expect(late.error).toMatchObject({ code: 'TIMEOUT', details: { limit: 'queued' } });
    const intime = drive(flow).advance(3_000);
    intime.step({ type: 'granted', node: 'a', gate: 'concurrency' }).advance(9_000).complete('a');
    expect(intime.status).toBe('completed');
  });

  it('[RUN-171] a body is a critical section when its node has a key', () => {
    const run = drive({
      nodes: { each: { forEach: { in: [1] }, concurrency: { key: 'k', limit: 1 }, do: { nodes: { x: {} } } } },
    });
    expect(run.running()).toEqual([]);
    run.step({ type: 'granted', node: 'each', gate: 'concurrency' });
    expect(run.running()).toEqual(['each/0/x']);
    run.complete('each/0/x');
    expect(run.freed).toEqual([{ key: 'key:k', node: 'each' }]);
  });

  it('[RUN-172] a node with a rate limit begins at the moment that it is given', () => {
    const run = drive({ nodes: { a: { rateLimit: { key: 'api', limit: 1, per: '1m' } } } });
    expect(run.gateRequests).toEqual([{ node: 'a', gate: { kind: 'rate', key: 'api', limit: 1, perMs: 60_000 } }]);
    run.step({ type: 'granted', node: 'a', gate: 'rate', until: run.now + 5_000 });
    expect(run.running()).toEqual([]);
    run.advance(5_000);
    expect(run.running()).toEqual(['a']);
  });

  it('[RUN-173] a cache hit gives the output without an attempt; a miss runs the node', () => {
    const flow = {
      nodes: {
        a: { cache: { version: '1' }, with: { n: '{{ $input.n }}' } },
        b: { needs: ['a'], with: { a: '{{ $a }}' } },
      },
    };
    const hit = drive(flow, { input: { n: 1 } });
    expect(hit.gateRequests).toEqual([{ node: 'a', gate: { kind: 'cache' } }]);
    expect(hit.document.nodes.a?.attempts).toBe(0);
    hit.step({ type: 'cached', node: 'a', output: 7, hit: { executionId: 'exe_old', node: 'a', at: 1 } });
    expect(hit.attempts.get('b')?.input).toEqual({ a: 7 });
    const miss = { key: 'h', family: 'do@1#1', input: '{}', earlier: null };
    const run = drive(flow, { input: { n: 1 } });
    run.step({ type: 'granted', node: 'a', gate: 'cache', miss });
    expect(run.gateRequests.at(-1)).toEqual({ node: 'a', gate: { kind: 'reserve', ...miss } });
    run.step({ type: 'granted', node: 'a', gate: 'reserve' });
    expect(run.attempts.get('a')?.input).toEqual({ n: 1 });
    run.complete('a');
    expect(run.freed).toEqual([{ key: 'cache:h', node: 'a' }]);
  });

  it('[RUN-174] an unanswered gate request is repeated after a crash', () => {
    const run = drive({ nodes: { a: { concurrency: { key: 'k', limit: 1 } } } });
    run.step({ type: 'wake', lost: [], jitter: 0 });
    expect(run.gateRequests).toHaveLength(2);
    run.step({ type: 'granted', node: 'a', gate: 'concurrency' }, { type: 'granted', node: 'a', gate: 'concurrency' });
    expect(run.running()).toEqual(['a']);
  });

  it('[RUN-175] a paused run asks for nothing until it is resumed', () => {
    const run = drive({ nodes: { a: {}, b: { needs: ['a'], concurrency: { key: 'k', limit: 1 } } } });
    run.step({ type: 'pause' }).complete('a');
    expect(run.gateRequests).toEqual([]);
    run.step({ type: 'resume' });
    expect(run.gateRequests).toHaveLength(1);
  });
});

describe('gates and other events', () => {
  it('[RUN-170] a permit that is granted while the run is paused does not open the gates after it', () => {
    const run = drive({
      nodes: { a: { concurrency: { key: 'k', limit: 1 }, rateLimit: { key: 'api', limit: 1, per: '1m' } } },
    });
    run.step({ type: 'pause' }).step({ type: 'granted', node: 'a', gate: 'concurrency' });
    expect(run.running()).toEqual([]);
    run.step({ type: 'resume' });
    expect(run.running()).toEqual([]);
    expect(run.gateRequests.at(-1)?.gate.kind).toBe('rate');
    run.step({ type: 'granted', node: 'a', gate: 'rate' });
    expect(run.running()).toEqual(['a']);
  });

  it('[RUN-546] a child that is granted its permit during a pause is requested when the run is resumed', () => {
    const run = drive({
      nodes: { sub: { workflow: { id: 'w', mode: 'child' }, concurrency: { key: 'k', limit: 1 } } },
    });
    run.step({ type: 'pause' }).step({ type: 'granted', node: 'sub', gate: 'concurrency' });
    expect(run.children).toEqual([]);
    run.step({ type: 'resume' });
    expect(run.children).toHaveLength(1);
  });

  it('[RUN-174] an answer of the cache during a pause is requested again', () => {
    const run = drive({ nodes: { a: { cache: { version: '1' } } } });
    const miss = { key: 'h', family: 'do@1#1', input: '{}', earlier: null };
    run.step({ type: 'pause' }).step({ type: 'granted', node: 'a', gate: 'cache', miss });
    run.step({ type: 'resume' });
    expect(run.running()).toEqual([]);
    run.step({ type: 'granted', node: 'a', gate: 'cache', miss });
    expect(run.gateRequests.at(-1)?.gate.kind).toBe('reserve');
  });

  it('[RUN-170] a run that ends with an unknown outcome releases its permits', () => {
    const run = drive({ nodes: { a: { action: 'pay@1', concurrency: { key: 'k', limit: 1 } } } });
    run.step({ type: 'granted', node: 'a', gate: 'concurrency' }).cancel().breakOff('a');
    expect(run.status).toBe('cancelled');
    expect(run.freed).toEqual([{ key: 'key:k', node: 'a' }]);
    run.retry().settle('a', { happened: false, then: 'retry' });
    expect(run.running()).toEqual([]);
    expect(run.gateRequests).toHaveLength(2);
    run.step({ type: 'granted', node: 'a', gate: 'concurrency' });
    expect(run.running()).toEqual(['a']);
  });

  it('[RUN-170] the total time limit counts while a node waits for its permit', () => {
    const run = drive({ nodes: { a: { concurrency: { key: 'k', limit: 1 }, timeout: { total: '1m' } } } });
    run.advance(60_000);
    expect(run.error).toMatchObject({ code: 'TIMEOUT', details: { limit: 'total' } });
    expect(run.freed).toHaveLength(1);
  });
});

describe('gates of nodes that are cut off, cached or waiting for an answer', () => {
  const gated = { concurrency: { key: 'k', limit: 1 } };

  it('[RUN-170] a node that is cut off in the turn in which it requests again requests nothing', () => {
    const run = drive({
      nodes: { each: { forEach: { in: [1] }, timeout: '5s', onError: 'ignore', do: { nodes: { x: gated } } } },
    });
    expect(run.gateRequests).toHaveLength(1);
    run.advance(6_000);
    expect(run.status).toBe('completed');
    expect(run.gateRequests).toHaveLength(1);
    expect(run.freed).toEqual([{ key: 'key:k', node: 'each/0/x' }]);
  });

  it('[RUN-174] a run that waits for a moment of a rate or for the cache has a wake time', () => {
    const rate = drive({ nodes: { a: { rateLimit: { key: 'k', limit: 1, per: '1s' } } } });
    expect(wakeTime(rate.state, rate.now, 30_000)).toBe(rate.now + 30_000);
    const run = drive({ nodes: { a: gated } });
    expect(wakeTime(run.state, run.now, 30_000)).toBeNull();
  });

  it('[RUN-173] an output from the cache is not undone', () => {
    const run = drive({
      nodes: { a: { action: 'do@1', cache: { version: '1' }, compensate: UNDO }, b: { needs: ['a'] } },
    });
    run.step({ type: 'cached', node: 'a', output: 7, hit: { executionId: 'exe_old', node: 'a', at: 1 } });
    run.fail('b');
    expect(run.status).toBe('failed');
    expect(run.attempts.has('~undo/a')).toBe(false);
  });
});
