/** One test for each thing that random runs, or reading the core as an enemy, brought to light. */
import { describe, expect, it } from 'vitest';
import {
  blobsToDecide,
  createBudget,
  decide,
  decideRetry,
  decodeSnapshot,
  type Entry,
  EXPRESSION_LIMITS,
  encodeSnapshot,
  evolve,
  explainNode,
  newRunState,
  newTurn,
  nextReady,
  type RetryPlan,
  type RetryRule,
  RUN_DEFAULTS,
  type RunError,
  type RunState,
  recallDispatched,
  replay,
  seal,
  take,
  wakeTime,
} from '../../src/index.ts';
import { drive, planOf } from './drive.ts';

const pay = (more: Record<string, unknown> = {}) => ({ action: 'pay@1', ...more });

describe('failure', () => {
  it('[RUN-31] an error edge that matches takes the failure of a node that ignores its failures', () => {
    const edges = [{ from: 'a', to: 'mend', on: 'error', match: { code: 'KNOWN' } }] as const;
    const short = { nodes: { a: { onError: 'ignore' }, mend: {}, b: { needs: ['a'] } }, edges };
    expect(drive(short).fail('a', { code: 'KNOWN' }).statuses()).toMatchObject({ mend: 'running', b: 'skipped' });
    expect(drive(short).fail('a', { code: 'OTHER' }).statuses()).toMatchObject({ mend: 'skipped', b: 'running' });
  });

  it('[RUN-31] an always edge does not stand in the way of ignoring', () => {
    const edges = [{ from: 'a', to: 'after', on: 'always' }] as const;
    const run = drive({ nodes: { a: { onError: 'ignore' }, after: {}, b: { needs: ['a'] } }, edges }).fail('a');
    expect(run.running()).toEqual(['after', 'b']);
  });

  it('[RUN-90] a node that was skipped names the failures before it', () => {
    const edges = [{ from: 'handled', to: 'mend', on: 'error' }] as const;
    const nodes = { handled: {}, bad: {}, mend: {}, c: { needs: ['handled', 'bad'] } };
    const run = drive({ config: { onFailure: 'finish-running' }, nodes, edges })
      .fail('handled')
      .fail('bad');
    expect(explainNode(run.state, 'c', run.now)?.reasons[0]).toContain('`handled` failed, `bad` failed');
  });

  it('[RUN-46] the timeout of a run that is being stopped changes nothing', () => {
    const run = drive({ config: { timeout: '3s' }, nodes: { a: {}, b: {} } }).fail('a', { code: 'FIRST' });
    run.advance(4_000);
    expect(run.status).toBe('running');
    run.breakOff('b');
    expect(run.document).toMatchObject({ status: 'failed', error: { code: 'FIRST' } });
  });
});

describe('retry from failed', () => {
  it('[RUN-89] leaves an unknown outcome as it is, and hears a settlement of it again', () => {
    const run = drive({ nodes: { pay: pay(), b: { needs: ['pay'] } } })
      .loseWorker()
      .cancel();
    expect(explainNode(run.state, 'pay', run.now)?.next[0]).toBe('nebula executions retry exe_test');
    run.settle('pay', { happened: true, output: 1 });
    expect(run.statusOf('pay')).toBe('unknown');
    run.retry();
    expect(run.statuses()).toEqual({ pay: 'unknown', b: 'pending' });
    expect(wakeTime(run.state, run.now, 1_000)).toBeNull();
    run.settle('pay', { happened: true, output: 1 });
    expect(run.running()).toEqual(['b']);
  });

  it('[RUN-89] fails again what failed by an edge that cannot be evaluated', () => {
    const edges = [{ from: 'a', to: 'b', when: '$input.nothing.here' }];
    const run = drive({ nodes: { a: {}, b: {}, c: { needs: ['b'] } }, edges }).complete('a');
    expect(run.status).toBe('failed');
    run.retry();
    expect(run.document).toMatchObject({ status: 'failed', error: { node: 'b' } });
    expect(run.document.nodes.a?.attempts).toBe(1);
  });

  it('[RUN-86] a retry with nothing to do leaves a run that was loaded from a snapshot as it is', () => {
    const run = drive({ config: { timeout: '10s' }, nodes: { a: {} } }).complete('a');
    const state = decodeSnapshot(run.plan, 'exe_test', encodeSnapshot(run.state)) as RunState;
    const turn = newTurn(state, run.now + 60_000, () => null);
    decide(turn, { type: 'retry' });
    expect(turn.entries).toEqual([]);
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

describe('unknown outcomes', () => {
  it('[RUN-72] what is known of one attempt says nothing about a later one', () => {
    const run = drive({ nodes: { pay: pay() } })
      .loseWorker()
      .settle('pay', { happened: false, then: 'retry' })
      .loseWorker();
    const late = { type: 'settle', node: 'pay', by: 'verify', settlement: { happened: false, then: 'retry' } } as const;
    run.step({ ...late, attempt: 1 });
    expect(run.statusOf('pay')).toBe('unknown');
    run.step({ ...late, attempt: 2 });
    expect(run.attempts.get('pay')?.attempt).toBe(3);
  });

  it('[RUN-73] a settlement stands, whatever else comes in its turn', () => {
    const run = drive({ nodes: { pay: pay(), b: {} } }).breakOff('pay');
    const settlement = { happened: false, then: 'retry' } as const;
    const settle = { type: 'settle', node: 'pay', by: 'person', settlement } as const;
    run.step(settle, settle, { type: 'cancel', reason: 'enough' }).breakOff('b');
    expect(run.statuses()).toEqual({ pay: 'cancelled', b: 'cancelled' });
    expect(run.entries.filter(({ type }) => type === 'node.settled')).toHaveLength(1);
    expect(run.retry().running().sort()).toEqual(['b', 'pay']);
  });

  it('[RUN-73] what is to be repeated while the run is being stopped is known not to have happened', () => {
    const run = drive({ nodes: { pay: pay(), b: {} } })
      .breakOff('pay')
      .cancel();
    run.settle('pay', { happened: false, then: 'retry' });
    expect(run.statusOf('pay')).toBe('cancelled');
    expect(run.breakOff('b').status).toBe('cancelled');
  });

  it('[RUN-47] a node whose total time is up is not started again, unless a person says so', () => {
    const unknown = () => drive({ nodes: { pay: pay({ timeout: { total: '10s' } }) } }).advance(60_000);
    expect(unknown().statusOf('pay')).toBe('unknown');
    const settlement = { happened: false, then: 'retry' } as const;
    const verified = unknown().step({ type: 'settle', node: 'pay', by: 'verify', settlement });
    expect(verified.document.nodes.pay).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'TIMEOUT' } });
    const asked = unknown().settle('pay', settlement);
    expect(asked.attempts.get('pay')).toMatchObject({ attempt: 2, totalLeftMs: 10_000 });
    expect(asked.advance(9_000).running()).toEqual(['pay']);
  });

  it('[RUN-47] a slot that comes after the total time is up starts nothing', () => {
    const run = drive({ nodes: { a: { timeout: { total: '10s' } } } }, { starts: false });
    run.now += 10_000;
    run.start('a');
    expect(run.document.nodes.a).toMatchObject({ status: 'failed', attempts: 0, error: { code: 'TIMEOUT' } });
  });
});

describe('slots', () => {
  it('[RUN-54] a task that was called back and comes all the same does not exceed maxParallelism', () => {
    const nodes = { a: {}, b: {}, urgent: { priority: 9, needs: ['first'] }, first: { priority: 8 } };
    const state = newRunState(planOf({ config: { maxParallelism: 2 }, nodes }), 'exe_1');
    const turn = newTurn(state, 1_000, () => null);
    decide(turn, { type: 'start', input: {}, trigger: null });
    const early = nextReady(state, 10);
    expect(early.map(({ node }) => node)).toEqual(['first', 'a']);
    take(turn, 'first', 1, 'w');
    const outcome = { status: 'completed', output: { value: null } } as const;
    decide(turn, { type: 'ended', node: 'first', attempt: 1, outcome, jitter: 0 });
    recallDispatched(state);
    expect(nextReady(state, 10).map(({ node }) => node)).toEqual(['urgent', 'a']);
    recallDispatched(state);
    expect(nextReady(state, 1).map(({ node }) => node)).toEqual(['urgent']);
    const started = ['b', 'a', 'urgent'].filter((node) => take(turn, node, 1, 'w') !== undefined);
    expect(started).toEqual(['b', 'urgent']);
    expect(state.running.size).toBe(2);
  });

  it('[RUN-54] nor does it pass a level', () => {
    const nodes = { a: {}, b: {}, c: { needs: ['a'], join: 'any' } };
    const run = drive({ config: { mode: 'levels' }, nodes }).complete('a');
    const turn = newTurn(run.state, run.now, () => null);
    expect(take(turn, 'c', 1, 'w')).toBeUndefined();
  });

  it('[RUN-87] a run whose ready nodes are held back by an unknown outcome is not woken', () => {
    const nodes = { pay: pay(), a: {}, c: { needs: ['a'] } };
    const run = drive({ config: { mode: 'levels' }, nodes })
      .complete('a')
      .breakOff('pay');
    expect(run.statuses()).toEqual({ pay: 'unknown', a: 'completed', c: 'queued' });
    expect(wakeTime(run.state, run.now, 1_000)).toBeNull();
    expect(run.settle('pay', { happened: true, output: null }).running()).toEqual(['c']);
  });

  it('[RUN-276] [RUN-29] a second cancel gives its own grace time, also to an engine that loads the journal', () => {
    const edges = [{ from: 'a', to: 'tidy', on: 'always' }] as const;
    const run = drive({ nodes: { a: {}, tidy: {} }, edges })
      .cancel()
      .breakOff('a')
      .advance(3_000)
      .cancel('now');
    const loaded = replay(newRunState(run.plan, run.state.executionId), run.frames);
    const until = run.now + RUN_DEFAULTS.cancelGraceMs;
    expect([run.state, loaded].map((state) => wakeTime(state, run.now, 1e12))).toEqual([until, until]);
  });

  it('[RUN-55] an attempt that the journal has closed is told to be over, one that is only asked to stop is not', () => {
    const over = (run: ReturnType<typeof drive>, ms: number) => {
      const turn = newTurn(run.state, run.now + ms, () => null);
      decide(turn, { type: 'wake', lost: [], jitter: 0 });
      return turn.aborts.map(({ node, isOver }) => [node, isOver]);
    };
    expect(over(drive({ nodes: { a: { timeout: '1s' } } }), 2_000)).toEqual([['a', true]]);
    expect(over(drive({ config: { timeout: '1s' }, nodes: { a: {} } }), 1_000)).toEqual([['a', false]]);
    expect(over(drive({ nodes: { a: {} } }).cancel(), 5_000)).toEqual([['a', true]]);
  });
});

describe('journal and snapshot', () => {
  it('[RUN-66] a node may be called __proto__', () => {
    const nodes = JSON.parse('{ "__proto__": {}, "constructor": { "needs": ["__proto__"] } }');
    const run = drive({ nodes }).complete('__proto__', 1);
    expect(run.running()).toEqual(['constructor']);
    expect(run.complete('constructor', 2).output).toEqual({ constructor: 2 });
  });

  it('[RUN-74] a snapshot that cannot be read is not used', () => {
    const { plan, state } = drive({ nodes: { a: {} } });
    const text = encodeSnapshot(state);
    for (const damaged of ['', '{', 'null', '7', text.slice(0, -5), text.replace(/"format":\d/, '"format":9')]) {
      expect(decodeSnapshot(plan, 'exe_test', damaged)).toBeUndefined();
    }
  });

  it('[RUN-68] refuses a journal of a newer format', () => {
    const state = newRunState(planOf({ nodes: { a: {} } }), 'exe_1');
    const entry = { type: 'run.started', format: 2, workflowId: 'w', version: 1, input: {}, trigger: null };
    expect(() => evolve(state, entry as unknown as Entry, 1)).toThrow(
      expect.objectContaining({ code: 'JOURNAL_TOO_NEW' }),
    );
  });

  it('[RUN-65] an earlier retry for the same moment does not make a node ready twice', () => {
    const run = drive({ nodes: { a: { retry: { attempts: 9, delay: '0s' } }, b: { priority: 9 } } }, { slots: 2 });
    run.fail('a').fail('a');
    const state = replay(newRunState(run.plan, 'exe_test'), run.frames);
    const turn = newTurn(state, run.now, () => null);
    const error: RunError = { code: 'X', kind: 'USER', message: 'x' };
    decide(turn, { type: 'ended', node: 'a', attempt: 3, outcome: { status: 'failed', error }, jitter: 0 });
    seal(turn);
    expect(turn.entries.at(-1)).toEqual({ type: 'node.scheduled', nodes: ['a'] });
    expect(state.ready.size).toBe(1);
  });
});

describe('cost', () => {
  it('[RUN-75] timers of a run that goes on for ever do not pile up', () => {
    const plan = planOf({
      config: { timeout: '365d' },
      nodes: { a: { timeout: { attempt: '1d', total: '300d' }, retry: { attempts: 1_000_000, delay: '1s' } } },
    });
    const state = newRunState(plan, 'exe_1');
    const error: RunError = { code: 'X', kind: 'USER', message: 'x' };
    const at = (now: number, ...stimuli: Parameters<typeof decide>[1][]): void => {
      const turn = newTurn(state, now, () => null);
      for (const stimulus of stimuli) decide(turn, stimulus);
      for (const { node, attempt } of nextReady(state, 1)) take(turn, node, attempt, 'w');
      seal(turn);
    };
    at(0, { type: 'start', input: {}, trigger: null });
    for (let attempt = 1; attempt <= 5_000; attempt++) {
      const now = attempt * 1_000;
      at(now, { type: 'ended', node: 'a', attempt, outcome: { status: 'failed', error }, jitter: 0 });
      at(now + 1_000, { type: 'wake', lost: [], jitter: 0 });
    }
    expect(state.timers.size).toBeLessThan(2_000);
    expect(wakeTime(state, 5_001_000, 1e12)).toBe(5_001_000 + 86_400_000 + 1_000);
  });

  it('[RUN-69] the edges out of one node are decided in time that grows with their number', () => {
    const count = 20_000;
    const nodes: Record<string, Record<string, unknown>> = { a: {} };
    for (let n = 0; n < count; n++) nodes[`n${n}`] = {};
    const edges = Array.from({ length: count }, (_, n) => ({ from: 'a', to: `n${n}`, when: 'false' }));
    const state = newRunState(planOf({ nodes, edges }), 'exe_1');
    const turn = newTurn(state, 1, () => null);
    decide(turn, { type: 'start', input: {}, trigger: null });
    nextReady(state, 1);
    take(turn, 'a', 1, 'w');
    // The journal's list of dead edges, watched: looking through it for every edge would be 20,000 × 20,000.
    let looks = 0;
    const { includes } = Array.prototype;
    Array.prototype.includes = function (...args) {
      if (this.length > 1_000) looks++;
      return includes.apply(this, args);
    };
    try {
      const outcome = { status: 'completed', output: { value: null } } as const;
      decide(turn, { type: 'ended', node: 'a', attempt: 1, outcome, jitter: 0 });
    } finally {
      Array.prototype.includes = includes;
    }
    expect(state.status).toBe('completed');
    expect(looks).toBe(0);
  });

  it('[RUN-93] looking for large values that an end will need stays near it', () => {
    const nodes: Record<string, Record<string, unknown>> = {};
    for (let n = 0; n < 1_000; n++) nodes[`n${n}`] = n === 0 ? {} : { needs: [`n${n - 1}`] };
    const run = drive({ nodes }, { input: 'x' });
    let looks = 0;
    for (const node of run.plan.root.nodes) {
      const { outgoing } = node;
      Object.defineProperty(node, 'outgoing', { get: () => ++looks && outgoing });
    }
    const outcome = { status: 'completed', output: { value: null } } as const;
    blobsToDecide(run.state, [{ type: 'ended', node: 'n0', attempt: 1, outcome, jitter: 0 }]);
    expect(looks).toBeLessThan(200);
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
