import { describe, expect, it } from 'vitest';
import { nodeAt, readDefinition } from '../../src/index.ts';
import { drive, planOf } from './drive.ts';

describe('numbers and durations that are expressions', () => {
  it('[RUN-311] are evaluated when the node becomes ready, journalled, and used by all its attempts', () => {
    const retry = { attempts: '{{ $vars.n }}', delay: '{{ $input.pause }}' };
    const nodes = {
      first: { set: { n: 3 } },
      a: { needs: ['first'], retry },
      later: { set: { n: 1 }, needs: ['first'] },
    };
    const run = drive({ variables: { n: 1 }, nodes }, { input: { pause: '2s' } });
    const values = { 'retry.attempts': 3, 'retry.delay': 2_000 };
    expect(run.entries).toContainEqual({ type: 'node.configured', node: 'a', values });
    run.fail('a').advance(1_999);
    expect(run.statusOf('a')).toBe('waiting');
    run.advance(1).fail('a').advance(2_000).fail('a');
    expect(run.document.nodes.a).toMatchObject({ status: 'failed', attempts: 3 });
    expect(run.entries.filter(({ type }) => type === 'node.configured')).toHaveLength(1);
  });

  it('[RUN-311] stand in time limits, loops, keys and rules', () => {
    const input = { n: 2, share: '50%', ms: 5_000 };
    const each = {
      forEach: { in: [1, 2, 3, 4], parallel: true, maxConcurrency: '{{ $input.n }}', minSuccess: '{{ $input.share }}' },
      do: { nodes: { x: {} } },
    };
    const loop = drive({ nodes: { each } }, { input });
    expect(loop.running()).toEqual(['each/0/x', 'each/1/x']);
    loop.fail('each/0/x').fail('each/1/x').complete('each/2/x').complete('each/3/x');
    expect(loop.status).toBe('completed');
    const timed = drive({ nodes: { w: { wait: { signal: 'go' }, timeout: '{{ $input.ms }}' } } }, { input });
    expect(timed.advance(5_000).error).toMatchObject({
      code: 'TIMEOUT',
      details: { limit: 'attempt', limitMs: 5_000 },
    });
    const key = { concurrency: { key: 'k', limit: '{{ $input.n }}' } };
    const gated = drive({ nodes: { a: key } }, { input });
    expect(gated.entries).toContainEqual(
      expect.objectContaining({ gate: { kind: 'concurrency', key: 'k', limit: 2 } }),
    );
    const loops = {
      while: { condition: true, maxIterations: '{{ $input.n }}' },
      do: { nodes: { s: { set: { a: 1 } } } },
    };
    expect(drive({ nodes: { loops } }, { input }).error?.code).toBe('MAX_ITERATIONS');
    const until = {
      retryUntil: { attempts: '{{ $input.n }}', backoff: { delay: '{{ $input.ms }}' } },
      do: { nodes: { x: {} } },
    };
    const tried = drive({ nodes: { until } }, { input }).fail('until/0/x').advance(4_999);
    expect(tried.running()).toEqual([]);
    expect(tried.advance(1).fail('until/1/x').status).toBe('failed');
    const rules = [
      { on: ['X'], attempts: 1 },
      { attempts: '{{ $input.n }}', delay: '0s' },
    ];
    const run = drive({ nodes: { a: { retry: rules } } }, { input })
      .fail('a')
      .advance(0)
      .fail('a');
    expect(run.document.nodes.a?.attempts).toBe(2);
  });

  it('[RUN-311] an expression of the workflow is evaluated for each action', () => {
    const config = { retry: { attempts: '{{ $input.n }}', delay: '1s' } };
    const run = drive({ config, nodes: { a: {} } }, { input: { n: 2 } }).fail('a');
    expect(run.statusOf('a')).toBe('waiting');
    expect(nodeAt(run.state, 'a')?.settings).toEqual({ 'retry.attempts': 2 });
  });

  it.each([
    ['retry', { attempts: '{{ $input.v }}' }, -1],
    ['retry', { attempts: '{{ $input.v }}' }, 1.5],
    ['retry', { attempts: '{{ $input.v }}' }, '3'],
    ['retry', { attempts: '{{ $input.v }}' }, 1e9],
    ['retry', { delay: '{{ $input.v }}', attempts: 2 }, 'soon'],
    ['timeout', { attempt: '{{ $input.v }}' }, 0],
    ['timeout', { total: '{{ $input.v }}' }, null],
    ['timeout', { queued: '{{ $input.v }}' }, 1e30],
  ])('[RUN-312] %s: %j with %j fails the node, with the key', (key, value, v) => {
    const run = drive({ nodes: { a: { [key]: value } } }, { input: { v } });
    const [name] = Object.keys(value);
    expect(run.error).toMatchObject({ code: 'EXPRESSION_VALUE', node: 'a' });
    expect(run.error?.message).toContain(`${key}.${name}`);
    expect(run.document.nodes.a?.attempts).toBe(0);
  });

  it.each([
    ['for', { for: '{{ $input.v }}' }, -1],
    ['for', { for: '{{ $input.v }}' }, '-5m'],
    ['for', { any: [{ signal: 's' }, { for: '{{ $input.v }}' }] }, 1e30],
    ['for', { for: '{{ $input.v }}' }, '9000w'],
    ['for', { for: '{{ $input.v }}' }, null],
    ['until', { until: '$input.v' }, -1],
    ['until', { until: '$input.v' }, 1_900_000_000_000],
    ['deadline', { signal: 's', deadline: '{{ $input.v }}' }, -1],
    ['deadline', { signal: 's', deadline: '{{ $input.v }}' }, 0],
    ['deadline', { signal: 's', deadline: '{{ $input.v }}' }, 'soon'],
  ])('[RUN-312] %s of a wait: %j with %j fails the node, with the key', (key, wait, v) => {
    const run = drive({ nodes: { a: { wait, retry: { attempts: 3, delay: '0s' } } } }, { input: { v } });
    expect(run.error).toMatchObject({ code: 'EXPRESSION_VALUE', node: 'a' });
    expect(run.error?.message).toContain(`\`wait.${key}\` must be a duration`);
  });

  it('[RUN-311] a wait takes milliseconds, durations and dates; a date that has passed is no mistake', () => {
    const waits = (v: unknown) =>
      drive({ nodes: { a: { wait: { for: '{{ $input.v }}' } } } }, { input: { v } as never });
    expect([0, '0s', '1970-01-01T00:00:00Z'].map((v) => waits(v).advance(0).status)).toEqual(
      Array(3).fill('completed'),
    );
    expect([1_500, '1500ms'].map((v) => waits(v).advance(1_499).status)).toEqual(['running', 'running']);
    expect([1_500, 1_499.5, '1500ms'].map((v) => waits(v).advance(1_500).status)).toEqual(Array(3).fill('completed'));
  });

  it('[RUN-311] a node that begins again evaluates them again', () => {
    const run = drive({ nodes: { a: { retry: { attempts: '{{ 1 + 1 }}', delay: '0s' } } } });
    run.fail('a').advance(0).fail('a').retry();
    expect(run.entries.filter(({ type }) => type === 'node.configured')).toHaveLength(2);
  });

  it('[DEF-90] are written as one expression; what reads a node that is not upstream is an error', () => {
    const text = (keys: string): string => `id: x\nnodes: { a: { action: y, ${keys} } }`;
    const codesOf = (keys: string): string[] => readDefinition(text(keys)).problems.map(({ code }) => code);
    expect(codesOf('retry: { attempts: "{{ $input.n }}" }, timeout: "{{ $input.t }}s"')).toEqual([]);
    expect(codesOf('retry: { attempts: "3" }')).toEqual(['WRONG_TYPE']);
    expect(codesOf('retry: { attempts: "n {{ $input.n }}" }')).toEqual(['WRONG_TYPE']);
    expect(() => planOf({ nodes: { a: { timeout: '{{ $b }}' }, b: {} } })).toThrow();
  });

  it('[PLN-67] a compensation has its numbers written out', () => {
    const compensate = { action: 'do@1', retry: { attempts: '{{ 2 }}' } };
    expect(() => planOf({ nodes: { a: { compensate } } })).toThrow('MISPLACED_EXPRESSION');
  });
});
