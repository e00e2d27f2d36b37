import { describe, expect, it } from 'vitest';
import { readDefinition } from '../../../src/index.ts';
import { nodeAt } from '../../../src/run.ts';
import { drive, planOf } from '../drive.ts';

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

  it('[RUN-311] are allowed in time limits, loops, keys and rules', () => {
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
    ['deadline', { signal: 's', deadline: '{{ $input.v }}' }, -1],
    ['deadline', { signal: 's', deadline: '{{ $input.v }}' }, 0],
    ['deadline', { signal: 's', deadline: '{{ $input.v }}' }, 'soon'],
  ])('[RUN-312] %s of a wait: %j with %j fails the node, with the key', (key, wait, v) => {
    const run = drive({ nodes: { a: { wait, retry: { attempts: 3, delay: '0s' } } } }, { input: { v } });
    expect(run.error).toMatchObject({ code: 'EXPRESSION_VALUE', node: 'a' });
    expect(run.error?.message).toContain(`\`wait.${key}\` must be a duration`);
  });

  it('[RUN-420] the priority of a node orders ready nodes, also after a crash', () => {
    const config = { maxParallelism: 1 };
    const one = { priority: '{{ $item }}' };
    const each = { forEach: { in: [1, 9, 5], parallel: true }, do: { nodes: { x: one } } };
    const run = drive({ config, nodes: { each } });
    expect(run.entries).toContainEqual({ type: 'node.configured', node: 'each/1/x', values: { priority: 9 } });
    const began: string[] = [];
    for (let left = 3; left > 0; left--) {
      const [path = ''] = run.running();
      began.push(path);
      run.complete(path);
    }
    expect(began).toEqual(['each/1/x', 'each/2/x', 'each/0/x']);
  });

  it('[RUN-420] the priority of the workflow is evaluated for nodes that run an action, and no others', () => {
    const config = { priority: '{{ $input.p }}' };
    const nodes = { s: { set: { v: 1 } }, a: { needs: ['s'] }, b: { needs: ['s'], priority: 2 } };
    const run = drive({ config, nodes }, { input: { p: 7 } });
    const configured = run.entries.filter(({ type }) => type === 'node.configured');
    expect(configured).toEqual([{ type: 'node.configured', node: 'a', values: { priority: 7 } }]);
    expect(drive({ config, nodes }, { input: { p: 10 } }).error).toMatchObject({ code: 'EXPRESSION_VALUE', node: 'a' });
  });

  it.each([
    [undefined, 2_000],
    ['1s', 1_000],
    [{ attempt: '3s' }, 2_000],
    [{ attempt: '{{ 500 }}' }, 500],
  ])('[RUN-421] merge.timeout is evaluated when the split is ready; beside timeout %j it is %i ms', (timeout, ms) => {
    const split = { needs: ['first'], split: { in: [1, 2] }, ...(timeout && { timeout }) };
    const nodes = {
      first: {},
      s: split,
      x: { needs: ['s'] },
      m: { needs: ['x'], merge: { timeout: '{{ $first.ms }}' } },
    };
    const run = drive({ nodes });
    run
      .complete('first', { ms: 2_000 })
      .complete('s/0/x')
      .advance(ms - 1);
    expect(run.running()).toEqual(['s/1/x']);
    run.advance(1).breakOff('s/1/x');
    expect(run.error).toMatchObject({ code: 'TIMEOUT', details: { limit: 'attempt', limitMs: ms } });
  });

  it('[RUN-421] merge.timeout that is written out holds beside a limit of the split', () => {
    const nodes = { s: { split: { in: [1] }, timeout: '9s' }, x: { needs: ['s'] } };
    const run = drive({ nodes: { ...nodes, m: { needs: ['x'], merge: { timeout: '2s' } } } });
    expect(run.advance(2_000).breakOff('s/0/x').error).toMatchObject({ code: 'TIMEOUT', details: { limitMs: 2_000 } });
  });

  it('[RUN-422] until takes a number as milliseconds since the epoch, as every date in an expression', () => {
    const run = (v: unknown) => drive({ nodes: { a: { wait: { until: '$input.v' } } } }, { input: { v } as never });
    const { now } = run('2030-01-01T00:00:00Z');
    expect(run(now + 1_500).advance(1_499).status).toBe('running');
    expect(run(now + 1_500).advance(1_500).status).toBe('completed');
    expect(run(now - 1).advance(0).status).toBe('completed');
    // A date stays where it is while the run is paused.
    expect(run(now + 1_500).entries.at(-1)).toMatchObject({ waits: [{ at: now + 1_500, fixed: true }] });
  });

  it.each([['5m'], [1e300], [null], ['soon'], [true]])('[RUN-422] until %j fails the node', (v) => {
    const run = drive({ nodes: { a: { wait: { until: '$input.v' } } } }, { input: { v } });
    expect(run.error).toMatchObject({ code: 'EXPRESSION_VALUE', node: 'a' });
    expect(run.error?.message).toContain('`wait.until` must be a date');
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

  it('[DEF-90] are written as one expression; reading a node that is not upstream is an error', () => {
    const text = (keys: string): string => `id: x\nnodes: { a: { action: y, ${keys} } }`;
    const codesOf = (keys: string): string[] => readDefinition(text(keys)).problems.map(({ code }) => code);
    expect(codesOf('retry: { attempts: "{{ $input.n }}" }, timeout: "{{ $input.t }}s"')).toEqual([]);
    expect(codesOf('retry: { attempts: "3" }')).toEqual(['WRONG_TYPE']);
    expect(codesOf('retry: { attempts: "n {{ $input.n }}" }')).toEqual(['WRONG_TYPE']);
    expect(() => planOf({ nodes: { a: { timeout: '{{ $b }}' }, b: {} } })).toThrow();
  });

  it.each([
    ['nodes: { a: { action: y, join: "{{ 1 }}" } }', "'join' cannot be an expression"],
    ['nodes: { a: { action: y, estimate: "{{ $input.s }}s" } }', "'estimate' cannot be an expression"],
    ['nodes: { a: { workflow: { id: w, version: "{{ 1 }}" } } }', "'version' cannot be an expression"],
    ['config: { timeout: "{{ $input.t }}" }', "'timeout' cannot be an expression"],
    ['config: { maxParallelism: "{{ $input.n }}" }', "'maxParallelism' cannot be an expression"],
    ['config: { maxTotalRetries: "{{ $input.n }}" }', "'maxTotalRetries' cannot be an expression"],
    ['config: { retention: "{{ $input.n }}d" }', "'retention' cannot be an expression"],
    ['triggers: [{ interval: { every: "{{ 1 }}s" } }]', "'every' cannot be an expression"],
  ])('[DEF-91] %s: the number must be known earlier', (keys, message) => {
    const { problems } = readDefinition(`id: x\n${keys}`);
    const [problem] = problems.filter(({ severity }) => severity === 'error');
    expect(problem).toMatchObject({ code: 'MISPLACED_EXPRESSION' });
    expect(problem?.message).toContain(message);
    expect(problem?.hint).toMatch(/^write /);
  });

  it.each([
    'labels: ["{{ $input.l }}"]',
    'labels: "{{ $input.l }}"',
    'cache: { version: "{{ 1 }}" }',
    'retry: { attempts: 2, on: ["{{ $input.c }}"] }',
  ])('[DEF-92] %s would be taken as it stands, and is refused', (keys) => {
    const { problems } = readDefinition(`id: x\nnodes: { a: { action: y, ${keys} } }`);
    expect(problems.map(({ code }) => code)).toEqual(['MISPLACED_EXPRESSION']);
  });

  it('[PLN-67] a compensation has its numbers written out', () => {
    const compensate = { action: 'do@1', retry: { attempts: '{{ 2 }}' } };
    expect(() => planOf({ nodes: { a: { compensate } } })).toThrow('MISPLACED_EXPRESSION');
  });
});
