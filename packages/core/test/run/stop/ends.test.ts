import { describe, expect, it } from 'vitest';
import type { Entry, RunError } from '../../../src/index.ts';
import { drive } from '../drive.ts';

describe('ends', () => {
  it('[RUN-80] has exactly one completion', () => {
    const run = drive({ nodes: { a: {}, b: {}, c: {} } });
    run.complete('a').complete('b').complete('c').cancel().advance(1_000_000);
    expect(run.entries.filter((entry) => entry.type === 'run.finished')).toHaveLength(1);
    expect(run.status).toBe('completed');
  });

  it('[RUN-81] an empty graph completes at once', () => {
    const run = drive({ nodes: {} });
    expect(run.status).toBe('completed');
    expect(run.frames).toHaveLength(1);
    expect(run.output).toEqual({});
  });

  it('[RUN-82] gives the declared output', () => {
    const run = drive({ nodes: { a: {} }, output: { sum: '{{ $a.x + 1 }}', text: 'x is {{ $a.x }}' } });
    expect(run.complete('a', { x: 2 }).output).toEqual({ sum: 3, text: 'x is 2' });
  });

  it('[RUN-82] gives the outputs of the end nodes that ran', () => {
    const run = drive({ nodes: { a: {}, b: { needs: ['a'] }, c: { needs: ['a'], when: 'false' }, __proto__x: {} } });
    run.complete('a', 1).complete('b', 2).complete('__proto__x', 3);
    expect(run.output).toEqual({ b: 2, __proto__x: 3 });
  });

  it('[RUN-83] an output that cannot be evaluated fails the run', () => {
    const run = drive({ nodes: { a: {} }, output: '{{ $nodes.a.output.missing.deep }}' }).complete('a', {});
    expect(run.status).toBe('failed');
    expect(run.error?.message).toContain('output');
    expect(run.statusOf('a')).toBe('completed');
  });

  it('[RUN-84] nodes that never started show cancelled', () => {
    const run = drive({ nodes: { a: {}, b: { needs: ['a'] } } }).fail('a');
    expect(run.statusOf('b')).toBe('cancelled');
  });

  it('[RUN-85] cancel stops running nodes and starts nothing more', () => {
    const nodes = { a: {}, b: { retry: { attempts: 9, delay: '1s' } }, c: { needs: ['a'] }, q: { priority: 1 } };
    const run = drive({ config: { maxParallelism: 2 }, nodes });
    run.fail('b').cancel('enough');
    expect(run.aborted).toEqual(['a', 'q']);
    run.advance(1_000).complete('a').handBack('q');
    expect(run.status).toBe('cancelled');
    expect(run.error).toMatchObject({ code: 'CANCELLED', message: 'enough' });
    expect(run.statuses()).toEqual({ a: 'completed', b: 'cancelled', c: 'cancelled', q: 'cancelled' });
  });

  it('[RUN-85] a run with nothing under way is cancelled at once', () => {
    const run = drive({ nodes: { pay: { action: 'pay@1' } } })
      .loseWorker()
      .cancel();
    expect(run.status).toBe('cancelled');
    expect(run.statusOf('pay')).toBe('unknown');
  });

  it('[RUN-86] retry from failed runs the failed nodes again, and those not reached because of them', () => {
    const nodes = {
      a: {},
      b: { needs: ['a'] },
      c: { needs: ['b'] },
      d: { needs: ['a'] },
      n: { needs: ['a'], when: 'false' },
    };
    const run = drive({ config: { onFailure: 'finish-running' }, nodes });
    run.complete('a', 1).complete('d', 2);
    const key = run.attempts.get('b')?.idempotencyKey;
    run.fail('b');
    expect(run.status).toBe('failed');
    run.retry();
    expect(run.status).toBe('running');
    expect(run.statuses()).toEqual({ a: 'completed', b: 'running', c: 'pending', d: 'completed', n: 'skipped' });
    expect(run.attempts.get('b')).toMatchObject({ attempt: 2, idempotencyKey: key });
    run.complete('b').complete('c');
    expect(run.status).toBe('completed');
    expect(run.error).toBeNull();
  });

  it('[RUN-86] works after a cancel and after a timeout, with a fresh deadline', () => {
    const run = drive({ config: { timeout: '10s' }, nodes: { a: {}, b: { needs: ['a'] } } });
    run.complete('a').advance(10_000).breakOff('b');
    expect(run.status).toBe('timed-out');
    run.retry();
    expect(run.running()).toEqual(['b']);
    run.advance(9_999);
    expect(run.complete('b').status).toBe('completed');
  });

  it('[RUN-86] leaves a handled failure and a completed run alone', () => {
    const edges = [{ from: 'a', to: 'b', on: 'error' }] as const;
    const run = drive({ nodes: { a: {}, b: {}, c: { needs: ['b'] } }, edges })
      .fail('a')
      .complete('b')
      .fail('c')
      .retry();
    expect(run.statuses()).toEqual({ a: 'failed', b: 'completed', c: 'running' });
    run.complete('c').retry();
    expect(run.status).toBe('completed');
  });

  it('[RUN-148] a failure node that is a loop ends, whatever halts inside', () => {
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

  it('[RUN-89] retry from failed fails nodes again whose edge cannot be evaluated', () => {
    const edges = [{ from: 'a', to: 'b', when: '$input.nothing.here' }];
    const run = drive({ nodes: { a: {}, b: {}, c: { needs: ['b'] } }, edges }).complete('a');
    expect(run.status).toBe('failed');
    run.retry();
    expect(run.document).toMatchObject({ status: 'failed', error: { node: 'b' } });
    expect(run.document.nodes.a?.attempts).toBe(1);
  });

  it('[RUN-67] a run that ends and is retried in one turn schedules each node once', () => {
    const run = drive({ nodes: { a: { retry: { attempts: 2, delay: '0s' } }, b: {} } }, { starts: false });
    run.start('a');
    const error: RunError = { code: 'X', kind: 'USER', message: 'x' };
    const failed = { type: 'ended', node: 'a', attempt: 1, outcome: { status: 'failed', error }, jitter: 0 } as const;
    run.step(failed, { type: 'cancel', reason: 'enough' }, { type: 'retry' });
    const last = run.entries.at(-1) as Extract<Entry, { type: 'node.scheduled' }>;
    expect([...last.nodes].sort()).toEqual(['a', 'b']);
  });
});
