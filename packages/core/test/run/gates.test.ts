import { describe, expect, it } from 'vitest';
import { drive } from './drive.ts';

describe('gates', () => {
  it('[RUN-170] a node with a concurrency key waits until it is granted a place, and gives it back at its end', () => {
    const run = drive(
      { nodes: { a: { concurrency: { key: '{{ $input.who }}', limit: 2 } } } },
      { input: { who: 'ann' } },
    );
    expect(run.statusOf('a')).toBe('waiting');
    expect(run.asks).toEqual([{ node: 'a', gate: { kind: 'concurrency', key: 'ann', limit: 2 } }]);
    run.step({ type: 'granted', node: 'a', gate: 'concurrency' });
    expect(run.running()).toEqual(['a']);
    run.complete('a');
    expect(run.freed).toEqual([{ key: 'key:ann', node: 'a' }]);
    expect(run.status).toBe('completed');
  });

  it('[RUN-170] a retry asks again; a cancelled one gives up its place in the line', () => {
    const run = drive({ nodes: { a: { concurrency: { key: 'k', limit: 1 }, retry: { attempts: 2, delay: '1s' } } } });
    run.step({ type: 'granted', node: 'a', gate: 'concurrency' }).fail('a');
    expect(run.freed).toHaveLength(1);
    run.advance(1_000);
    expect(run.asks).toHaveLength(2);
    run.cancel();
    expect(run.freed).toHaveLength(2);
    expect(run.status).toBe('cancelled');
  });

  it('[RUN-240] between attempts a node keeps what it works out for the cache, and gives its place back', () => {
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
    expect(run.asks.map(({ gate }) => gate.kind)).toEqual(['cache', 'reserve', 'concurrency', 'concurrency']);
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
    expect(run.asks).toEqual([{ node: 'a', gate: { kind: 'rate', key: 'api', limit: 1, perMs: 60_000 } }]);
    run.step({ type: 'granted', node: 'a', gate: 'rate', until: run.now + 5_000 });
    expect(run.running()).toEqual([]);
    run.advance(5_000);
    expect(run.running()).toEqual(['a']);
  });

  it('[RUN-173] what the cache has is the output, without an attempt; what it has not is run', () => {
    const flow = {
      nodes: {
        a: { cache: { version: '1' }, with: { n: '{{ $input.n }}' } },
        b: { needs: ['a'], with: { a: '{{ $a }}' } },
      },
    };
    const hit = drive(flow, { input: { n: 1 } });
    expect(hit.asks).toEqual([{ node: 'a', gate: { kind: 'cache' } }]);
    expect(hit.document.nodes.a?.attempts).toBe(0);
    hit.step({ type: 'cached', node: 'a', output: { value: 7 }, hit: { executionId: 'exe_old', node: 'a', at: 1 } });
    expect(hit.attempts.get('b')?.input).toEqual({ a: 7 });
    const miss = { key: 'h', family: 'do@1#1', input: '{}', earlier: null };
    const run = drive(flow, { input: { n: 1 } });
    run.step({ type: 'granted', node: 'a', gate: 'cache', miss });
    expect(run.asks.at(-1)).toEqual({ node: 'a', gate: { kind: 'reserve', ...miss } });
    run.step({ type: 'granted', node: 'a', gate: 'reserve' });
    expect(run.attempts.get('a')?.input).toEqual({ n: 1 });
    run.complete('a');
    expect(run.freed).toEqual([{ key: 'cache:h', node: 'a' }]);
  });

  it('[RUN-174] what was asked and not answered is asked again after a crash', () => {
    const run = drive({ nodes: { a: { concurrency: { key: 'k', limit: 1 } } } });
    run.step({ type: 'wake', lost: [], jitter: 0 });
    expect(run.asks).toHaveLength(2);
    run.step({ type: 'granted', node: 'a', gate: 'concurrency' }, { type: 'granted', node: 'a', gate: 'concurrency' });
    expect(run.running()).toEqual(['a']);
  });

  it('[RUN-175] a paused run asks for nothing until it is resumed', () => {
    const run = drive({ nodes: { a: {}, b: { needs: ['a'], concurrency: { key: 'k', limit: 1 } } } });
    run.step({ type: 'pause' }).complete('a');
    expect(run.asks).toEqual([]);
    run.step({ type: 'resume' });
    expect(run.asks).toHaveLength(1);
  });
});
