import { describe, expect, it } from 'vitest';
import { drive } from './drive.ts';

const undo = (input: unknown = '{{ $self.output }}', more = {}) => ({
  compensate: { action: 'look@1', with: { of: input }, ...more },
});

describe('compensation', () => {
  const trip = {
    nodes: {
      hotel: undo(),
      car: { needs: ['hotel'], ...undo() },
      other: { needs: ['hotel'] },
      flight: { needs: ['car'] },
    },
  };

  it('[RUN-140] after a failure what has completed is undone, last first, one after the other; then the run fails', () => {
    const run = drive(trip);
    run.complete('hotel', 'h1').complete('car', 'c1').complete('other').fail('flight', { code: 'FULL' });
    expect(run.status).toBe('compensating');
    expect(run.running()).toEqual(['~undo/car']);
    expect(run.attempts.get('~undo/car')?.input).toEqual({ of: 'c1' });
    run.complete('~undo/car');
    expect(run.attempts.get('~undo/hotel')?.input).toEqual({ of: 'h1' });
    run.complete('~undo/hotel');
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ code: 'FULL', node: 'flight' });
  });

  it('[PLN-30] an attempt has the names of its credentials, and so has its compensation', () => {
    const run = drive({ nodes: { a: { credentials: { account: 'bank' }, ...undo() }, b: { needs: ['a'] } } });
    expect(run.attempts.get('a')?.credentials).toEqual({ account: 'bank' });
    run.complete('a', 'done');
    expect(run.attempts.get('b')?.credentials).toEqual({});
    run.fail('b', { code: 'FULL' });
    expect(run.attempts.get('~undo/a')?.credentials).toEqual({ account: 'bank' });
  });

  it('[RUN-141] a compensation that fails does not stop the others, and never masks the original error', () => {
    const run = drive(trip);
    run.complete('hotel', 'h1').complete('car', 'c1').complete('other').fail('flight', { code: 'FULL' });
    run.fail('~undo/car', { code: 'CANNOT' }).complete('~undo/hotel');
    expect(run.error).toMatchObject({ code: 'FULL' });
    expect(run.statuses()).toMatchObject({ '~undo/car': 'failed', '~undo/hotel': 'completed' });
  });

  it('[RUN-142] a compensation has retries of its own', () => {
    const run = drive({ nodes: { a: undo(1, { retry: { attempts: 2, delay: '1s' } }), b: { needs: ['a'] } } });
    run.complete('a').fail('b').fail('~undo/a').advance(1_000).complete('~undo/a');
    expect(run.status).toBe('failed');
  });

  it('[RUN-143] a timed-out run and a cancelled one are undone, the latter unless its canceller refuses', () => {
    const flow = { config: { timeout: '1m' }, nodes: { a: undo(), b: { needs: ['a'] } } };
    const late = drive(flow).complete('a', 1).advance(60_000).breakOff('b');
    expect(late.running()).toEqual(['~undo/a']);
    expect(late.complete('~undo/a').status).toBe('timed-out');
    const cancelled = drive(flow).complete('a', 1).cancel().breakOff('b');
    expect(cancelled.complete('~undo/a').status).toBe('cancelled');
    const kept = drive(flow).complete('a', 1).step({ type: 'cancel', reason: 'x', compensate: false }).breakOff('b');
    expect(kept.status).toBe('cancelled');
    expect(kept.attempts.has('~undo/a')).toBe(false);
  });

  it('[RUN-144] nodes of finished rounds are undone as well', () => {
    const run = drive({
      nodes: {
        items: {
          forEach: { in: ['x', 'y'] },
          do: { nodes: { pay: undo({ it: '{{ $item }}', out: '{{ $self.output }}' }) } },
        },
        end: { needs: ['items'] },
      },
    });
    run.complete('items/0/pay', 1).complete('items/1/pay', 2).fail('end');
    expect(run.attempts.get('~undo/items:1:pay')?.input).toEqual({ of: { it: 'y', out: 2 } });
    run.complete('~undo/items:1:pay');
    expect(run.attempts.get('~undo/items:0:pay')?.input).toEqual({ of: { it: 'x', out: 1 } });
    run.complete('~undo/items:0:pay');
    expect(run.status).toBe('failed');
  });

  it('[RUN-145] what was undone is done anew by a retry, with another idempotency key, and so is what depends on it', () => {
    const run = drive(trip);
    run.complete('hotel', 'h1').complete('car', 'c1').complete('other').fail('flight');
    const key = run.attempts.get('hotel')?.idempotencyKey;
    run.complete('~undo/car').complete('~undo/hotel').retry();
    expect(run.running()).toEqual(['hotel']);
    expect(run.attempts.get('hotel')?.idempotencyKey).not.toBe(key);
    run.complete('hotel', 'h2').complete('car', 'c2').complete('other').complete('flight');
    expect(run.status).toBe('completed');
  });

  it('[RUN-146] parameters of a compensation that cannot be resolved fail that compensation only', () => {
    const run = drive({ nodes: { a: undo('{{ $self.output.no.thing }}'), b: { needs: ['a'] } } });
    run.complete('a', {}).fail('b', { code: 'B' });
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ code: 'B' });
    expect(run.statusOf('~undo/a')).toBe('failed');
  });

  it('[RUN-147] a run that completes undoes nothing', () => {
    const run = drive({ nodes: { a: undo() } }).complete('a');
    expect(run.status).toBe('completed');
    expect(run.attempts.size).toBe(1);
  });
});

describe('failure node', () => {
  const flow = {
    config: { failureNode: 'tell' },
    nodes: { a: undo(), b: { needs: ['a'] }, tell: { with: { why: '{{ $execution.error.code }}' } } },
  };

  it('[RUN-148] runs after the compensation, sees the error, and changes nothing of the outcome', () => {
    const run = drive(flow);
    expect(run.running()).toEqual(['a']);
    run.complete('a').fail('b', { code: 'B' }).complete('~undo/a');
    expect(run.attempts.get('tell')?.input).toEqual({ why: 'B' });
    run.fail('tell', { code: 'T' });
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ code: 'B' });
  });

  it('[RUN-148] is skipped when all goes well', () => {
    const run = drive(flow).complete('a').complete('b');
    expect(run.status).toBe('completed');
    expect(run.statusOf('tell')).toBe('skipped');
  });
});

describe('replay', () => {
  it('[RUN-149] a node and what depends on it run again as something new; the rest stands', () => {
    const run = drive({ nodes: { a: {}, b: { needs: ['a'] }, c: { needs: ['b'] }, x: {} } });
    run.complete('a', 1).complete('b', 2).complete('c', 3).complete('x');
    const key = run.attempts.get('b')?.idempotencyKey;
    run.step({ type: 'replay', node: 'b', input: { edited: true } });
    expect(run.running()).toEqual(['b']);
    expect(run.attempts.get('b')).toMatchObject({ input: { edited: true } });
    expect(run.attempts.get('b')?.idempotencyKey).not.toBe(key);
    run.complete('b', 20);
    expect(run.running()).toEqual(['c']);
    expect(run.complete('c').status).toBe('completed');
  });
});

describe('child executions', () => {
  const flow = { nodes: { sub: { workflow: { id: 'other', mode: 'child', input: { n: '{{ $input.n }}' } } } } };
  const result = (more: object) => ({ status: 'completed', output: { value: null }, error: null, ...more }) as never;

  it('[RUN-150] asks for an execution, and takes its output', () => {
    const run = drive(flow, { input: { n: 5 } });
    expect(run.children).toMatchObject([{ node: 'sub', workflowId: 'other', input: { n: 5 }, depth: 1 }]);
    const executionId = run.children[0]?.executionId ?? '';
    run.step({ type: 'child', node: 'sub', executionId, result: result({ output: { value: 'out' } }), jitter: 0 });
    expect(run.output).toEqual({ sub: 'out' });
  });

  it('[RUN-151] a failed child fails its node with its error, and may be retried as another execution', () => {
    const run = drive(
      { nodes: { sub: { ...flow.nodes.sub, retry: { attempts: 2, delay: '1s' } } } },
      { input: { n: 1 } },
    );
    const failed = result({ status: 'failed', error: { code: 'X', kind: 'USER', message: 'x', node: 'inner' } });
    run.step({
      type: 'child',
      node: 'sub',
      executionId: run.children[0]?.executionId ?? '',
      result: failed,
      jitter: 0,
    });
    run.advance(1_000);
    expect(run.children).toHaveLength(2);
    run.step({
      type: 'child',
      node: 'sub',
      executionId: run.children[1]?.executionId ?? '',
      result: failed,
      jitter: 0,
    });
    expect(run.error).toMatchObject({ code: 'X', node: 'sub', details: { childNode: 'inner' } });
  });

  it('[RUN-152] a cancelled run cancels its child and waits for it', () => {
    const run = drive(flow, { input: { n: 1 } }).cancel();
    expect(run.cancelled).toEqual([run.children[0]?.executionId]);
    expect(run.status).toBe('running');
    const executionId = run.children[0]?.executionId ?? '';
    run.step({ type: 'child', node: 'sub', executionId, result: result({ status: 'cancelled' }), jitter: 0 });
    expect(run.status).toBe('cancelled');
  });
});
