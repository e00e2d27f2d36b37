import { describe, expect, it } from 'vitest';
import { createBudget, EXPRESSION_LIMITS, type RetryRule, type RunError } from '../../src/index.ts';
import type { RetryPlan } from '../../src/plan/plan.ts';
import { decideRepeat, decideRetry } from '../../src/retry/retry.ts';
import { TIMEOUT_MARGIN_MS } from '../../src/run/timers/timers.ts';
import { nodeAt } from '../../src/run.ts';
import { drive } from './drive.ts';

const plan = (over: Partial<RetryRule> = {}): RetryPlan => ({
  rules: [{ policy: 'fixed', initialMs: 100, maxMs: 1_000, multiplier: 2, attempts: 10, on: undefined, ...over }],
  lost: 3,
});
const newBudget = () => createBudget(EXPRESSION_LIMITS);
const user: RunError = { code: 'X', kind: 'USER', message: 'x' };
const system: RunError = { code: 'Y', kind: 'SYSTEM', message: 'y' };
const delays = (retry: RetryPlan, error: RunError, jitter = 0.5): (number | null)[] =>
  [0, 1, 2, 3, 4].map((past) => {
    const decision = decideRetry(retry, error, { path: 'a', retries: [past], lost: 99 }, { jitter, newBudget });
    return decision.retry ? decision.delayMs : null;
  });
const lostDelays = (retry: RetryPlan): (number | null)[] =>
  [0, 1, 2, 3, 4].map((lost) => {
    const decision = decideRepeat(
      retry,
      { ...system, code: 'WORKER_LOST' },
      { path: 'a', retries: [99], lost },
      { jitter: 0.5, newBudget },
    );
    return decision.retry ? decision.delayMs : null;
  });

describe('retry policies', () => {
  it('[RET-1] fixed and exponential delays, at most max', () => {
    expect(delays(plan(), user)).toEqual([100, 100, 100, 100, 100]);
    expect(delays(plan({ policy: 'exponential' }), user)).toEqual([100, 200, 400, 800, 1_000]);
    expect(delays(plan({ policy: 'exponential', multiplier: 3 }), user)).toEqual([100, 300, 900, 1_000, 1_000]);
  });

  it('[RET-2] jitter draws from 0 to the exponential delay', () => {
    expect(delays(plan({ policy: 'exponential-jitter' }), user, 0)).toEqual([0, 0, 0, 0, 0]);
    expect(delays(plan({ policy: 'exponential-jitter' }), user, 0.25)).toEqual([25, 50, 100, 200, 250]);
  });

  it('[RET-3] a custom policy decides, or gives up', () => {
    expect(delays(plan({ policy: (k) => (k > 2 ? null : k * 7) }), user)).toEqual([7, 14, null, null, null]);
    expect(delays(plan({ policy: () => Number.NaN }), user)[0]).toBeNull();
    const throws = (): number => {
      throw new Error('broken policy');
    };
    expect(delays(plan({ policy: throws }), user)[0]).toBeNull();
    expect(delays(plan({ policy: (_, error) => (error.code === 'X' ? 1 : null) }), user)[0]).toBe(1);
  });

  it('[RET-4] attempts limits errors of every kind together', () => {
    expect(delays(plan({ attempts: 3 }), user)).toEqual([100, 100, null, null, null]);
    expect(delays(plan({ attempts: 1 }), system)).toEqual([null, null, null, null, null]);
    const run = drive({ nodes: { a: { retry: { attempts: 3, delay: '1s' } } } });
    run.fail('a', { kind: 'SYSTEM' }).advance(1_000).fail('a').advance(1_000).fail('a', { kind: 'SYSTEM' });
    expect(run.status).toBe('failed');
    expect(run.document.nodes.a?.attempts).toBe(3);
  });

  it('[RET-4] without retry a SYSTEM error ends the node', () => {
    const run = drive({ nodes: { a: {} } }).fail('a', { kind: 'SYSTEM' });
    expect(run.document.nodes.a).toMatchObject({ status: 'failed', attempts: 1 });
  });

  it('[RET-9] lost attempts and errors do not use each other up', () => {
    const run = drive({ nodes: { a: { retry: { attempts: 2, lost: 2, delay: '1s' } } } });
    run.loseWorker().loseWorker().advance(1_000).fail('a').advance(1_000);
    expect(run.running()).toEqual(['a']);
    expect(run.document.nodes.a?.attempts).toBe(4);
    run.loseWorker();
    expect(run.document.nodes.a).toMatchObject({ status: 'failed', attempts: 4 });
    expect(run.error?.code).toBe('WORKER_LOST');
  });

  it('[RET-9] ten lost attempts are repeated without a word about it', () => {
    const run = drive({ nodes: { a: {} } });
    for (let i = 0; i < 10; i++) run.loseWorker().advance(300_000);
    expect(run.running()).toEqual(['a']);
    expect(run.loseWorker().status).toBe('failed');
    expect(run.document.nodes.a?.attempts).toBe(11);
  });

  it('[RET-9] an action that calls its own error WORKER_LOST gains nothing', () => {
    const own = { code: 'WORKER_LOST', kind: 'SYSTEM' } as const;
    expect(drive({ nodes: { a: {} } }).fail('a', own).status).toBe('failed');
    const run = drive({ nodes: { a: { retry: { attempts: 2, delay: '1s' } } } }).fail('a', own);
    expect(nodeAt(run.state, 'a')).toMatchObject({ retries: [1], lost: 0 });
  });

  it('[DEF-115] a rule that names WORKER_LOST counts lost attempts with the errors that it names', () => {
    const run = drive({ nodes: { a: { retry: { attempts: 2, delay: '0s', on: ['FLAKY', 'WORKER_LOST'] } } } });
    run.loseWorker().advance(1);
    expect(run.running()).toEqual(['a']);
    expect(nodeAt(run.state, 'a')).toMatchObject({ retries: [1], lost: 0 });
    expect(run.fail('a', { code: 'FLAKY' }).document.nodes.a).toMatchObject({ status: 'failed', attempts: 2 });
    const twice = drive({ nodes: { a: { retry: { attempts: 2, delay: '0s', on: ['FLAKY', 'WORKER_LOST'] } } } });
    expect(twice.loseWorker().advance(1).loseWorker().status).toBe('failed');
  });

  it('[RET-9] an older journal, which names no rule, folds', () => {
    const run = drive({ nodes: { a: { retry: { attempts: 3, lost: 1, delay: '1s' } } } });
    run.loseWorker().fail('a', { kind: 'SYSTEM' });
    expect(run.entries.some((entry) => 'rule' in entry)).toBe(false);
    expect(nodeAt(run.state, 'a')).toMatchObject({ retries: [1], lost: 1 });
  });

  it('[RET-5] only the named codes are retried, and lost attempts', () => {
    const retry = plan({ on: { names: new Set(['X']), patterns: [] } });
    expect(delays(retry, user)[0]).toBe(100);
    expect(delays(retry, { ...user, code: 'Z' })[0]).toBeNull();
    expect(lostDelays(retry)[0]).toBe(0);
  });

  it('[RET-7] waits as long as the error asks, up to an hour', () => {
    expect(delays(plan(), { ...system, details: { retryAfterMs: 250 } })[0]).toBe(250);
    expect(delays(plan(), { ...system, details: { retryAfterMs: 20 } })[0]).toBe(100);
    expect(delays(plan(), { ...system, details: { retryAfterMs: 1e12 } })[0]).toBe(3_600_000);
  });

  it('[RET-6] the first retry after a lost worker comes at once', () => {
    expect(lostDelays(plan())).toEqual([0, 100, 100, null, null]);
  });
});

describe('retries and time limits of a run', () => {
  it('[RUN-40] repeats a failed attempt after its delay, within its budget', () => {
    const run = drive({ nodes: { a: { retry: { policy: 'exponential', initial: '1s', attempts: 3 } } } });
    run.fail('a');
    expect(run.statusOf('a')).toBe('waiting');
    expect(run.advance(999).running()).toEqual([]);
    expect(run.advance(1).running()).toEqual(['a']);
    run.fail('a').advance(1_999);
    expect(run.statusOf('a')).toBe('waiting');
    run.advance(1).fail('a');
    expect(run.status).toBe('failed');
    expect(run.document.nodes.a).toMatchObject({ status: 'failed', attempts: 3 });
  });

  it('[RUN-40] takes the default of the workflow, and the node over it', () => {
    const config = { retry: { attempts: 2, delay: '1s' } };
    const run = drive({ config, nodes: { a: {}, b: { retry: { attempts: 1 } } } });
    run.fail('a');
    expect(run.statusOf('a')).toBe('waiting');
    run.fail('b');
    expect(run.statusOf('b')).toBe('failed');
  });

  it('[RUN-41] resolves parameters once and uses them again', () => {
    const nodes = { a: { with: { n: '{{ $input.n + 1 }}' }, retry: { attempts: 2, delay: '1s' } } };
    const run = drive({ nodes }, { input: { n: 1 } });
    expect(run.attempts.get('a')?.input).toEqual({ n: 2 });
    run.fail('a').advance(1_000);
    expect(run.attempts.get('a')).toMatchObject({ attempt: 2, input: { n: 2 } });
    const started = run.entries.filter((entry) => entry.type === 'node.started');
    expect(started.map((entry) => entry.input)).toEqual([{ value: { n: 2 } }, undefined]);
  });

  it('[RUN-41] parameters that cannot be resolved fail the node', () => {
    const run = drive({ nodes: { a: { with: { n: '{{ $input.nothing.here }}' } } } });
    expect(run.status).toBe('failed');
    expect(run.error).toMatchObject({ node: 'a', code: 'EXPRESSION_REFERENCE' });
  });

  it('[RUN-42] maxTotalRetries bounds the retries of the run', () => {
    const retry = { attempts: 9, delay: '1s' };
    const run = drive({
      config: { maxTotalRetries: 2, onFailure: 'finish-running' },
      nodes: { a: { retry }, b: { retry } },
    });
    run.fail('a').fail('b').advance(1_000).fail('a');
    expect(run.statuses()).toEqual({ a: 'failed', b: 'running' });
  });

  it('[RUN-43] an attempt beyond its limit fails with TIMEOUT and is retried', () => {
    const run = drive({ nodes: { a: { timeout: '10s', retry: { attempts: 2, delay: '1s' } } } });
    run.advance(10_000 + TIMEOUT_MARGIN_MS - 1);
    expect(run.running()).toEqual(['a']);
    run.advance(1);
    expect(run.aborted).toEqual(['a']);
    expect(run.statusOf('a')).toBe('waiting');
    run.advance(1_000).advance(10_000 + TIMEOUT_MARGIN_MS);
    expect(run.error).toMatchObject({ code: 'TIMEOUT', kind: 'USER', details: { limit: 'attempt' }, node: 'a' });
  });

  it('[RUN-44] a node beyond its queued limit fails without retry', () => {
    const nodes = { a: { priority: 9 }, b: { timeout: { queued: '5s' }, retry: { attempts: 5 } } };
    const run = drive({ nodes }, { slots: 1 });
    expect(run.statuses()).toEqual({ a: 'running', b: 'queued' });
    run.advance(5_000).breakOff('a');
    expect(run.error).toMatchObject({ code: 'TIMEOUT', details: { limit: 'queued' }, node: 'b' });
    expect(run.document.nodes.b?.attempts).toBe(0);
  });

  it('[RUN-45] total counts from ready over all attempts', () => {
    const node = { timeout: { total: '10s' }, retry: { attempts: 9, delay: '4s' } };
    const waiting = drive({ nodes: { a: node } })
      .fail('a')
      .advance(4_000)
      .fail('a')
      .advance(4_000)
      .fail('a');
    expect(waiting.statusOf('a')).toBe('waiting');
    waiting.advance(2_000);
    expect(waiting.error).toMatchObject({ code: 'TIMEOUT', details: { limit: 'total' } });
    const running = drive({ nodes: { a: node } }).advance(10_000 + TIMEOUT_MARGIN_MS);
    expect(running.error).toMatchObject({ code: 'TIMEOUT', details: { limit: 'total' } });
    expect(running.document.nodes.a?.attempts).toBe(1);
  });

  it('[RUN-46] a workflow beyond its timeout ends as timed-out', () => {
    const run = drive({ config: { timeout: '1m' }, nodes: { a: {}, b: { needs: ['a'] } } });
    run.advance(59_999);
    expect(run.status).toBe('running');
    run.advance(1);
    expect(run.aborted).toEqual(['a']);
    run.breakOff('a');
    expect(run.status).toBe('timed-out');
    expect(run.error).toMatchObject({ code: 'TIMEOUT', details: { limit: 'workflow' } });
    expect(run.statuses()).toEqual({ a: 'cancelled', b: 'cancelled' });
  });
});

describe('delays', () => {
  const plan = (over: Partial<RetryRule>): RetryPlan => {
    const rule = { initialMs: 1_000, maxMs: 300_000, multiplier: 2, attempts: 1_000_000, on: undefined, ...over };
    return { rules: [{ policy: 'exponential', ...rule }], lost: 10 };
  };
  const error: RunError = { code: 'X', kind: 'USER', message: 'x' };
  const delay = (over: Partial<RetryRule>, failures: number, jitter = 0.3, failure = error): number | null => {
    const decision = decideRetry(
      plan(over),
      failure,
      { path: 'a', retries: [failures - 1], lost: 0 },
      {
        jitter,
        newBudget: () => createBudget(EXPRESSION_LIMITS),
      },
    );
    return decision.retry ? decision.delayMs : null;
  };

  it('[RET-8] are whole milliseconds', () => {
    for (let failures = 1; failures < 12; failures++) {
      for (const policy of ['exponential', 'exponential-jitter'] as const) {
        expect(Number.isInteger(delay({ policy, multiplier: 1.37 }, failures))).toBe(true);
      }
    }
    expect(delay({}, 1, 0, { ...error, details: { retryAfterMs: 1_500.5 } })).toBe(1_501);
    expect(delay({ policy: () => 0.25 }, 1)).toBe(1);
  });

  it('[RET-8] stay numbers however often a node is retried, and below ten years whatever a policy says', () => {
    expect(delay({ initialMs: 0 }, 5_000)).toBe(0);
    expect(delay({ initialMs: 0, policy: 'exponential-jitter', multiplier: 1_000 }, 200)).toBe(0);
    expect(delay({}, 5_000)).toBe(300_000);
    expect(delay({ policy: () => 1e300 }, 1)).toBe(10 * 365.25 * 86_400_000);
  });
});

it('[RUN-591] expressions see the number of attempts of a node', () => {
  const retry = { attempts: 3, delay: '1s' };
  const nodes = {
    a: { retry },
    once: {},
    b: { needs: ['a', 'once'], with: { a: '{{ $nodes.a.attempts }}', once: '{{ $nodes.once.attempts }}' } },
  };
  const run = drive({ nodes }).complete('once').fail('a').advance(1_000).complete('a');
  expect(run.attempts.get('b')?.input).toEqual({ a: 2, once: 1 });
});

it('[RUN-591] an edge sees how the node before it has ended', () => {
  const edge = (to: string, when: string) => ({ from: 'a', to, on: 'always', when }) as const;
  const edges = [
    edge('good', '$nodes.a.success'),
    edge('bad', '!$nodes.a.success'),
    edge('first', '$nodes.a.attempts == 1'),
  ];
  const nodes = { a: { onError: 'ignore' }, good: {}, bad: {}, first: {} };
  expect(drive({ nodes, edges }).complete('a').running()).toEqual(['good', 'first']);
  expect(drive({ nodes, edges }).fail('a').running()).toEqual(['bad', 'first']);
});
