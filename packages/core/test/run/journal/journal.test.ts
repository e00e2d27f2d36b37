import { describe, expect, it } from 'vitest';
import { type Entry, isJsonObject, type Json, type RunError, timelineOf } from '../../../src/index.ts';
import { evolve } from '../../../src/run/evolve/evolve.ts';
import {
  blobsToDecide,
  blobsToStart,
  decide,
  explainNode,
  explainRun,
  foldFrames,
  inlineValue,
  NULL_VALUE,
  newRunState,
  newTurn,
  nextReady,
  type Settlement,
  type StoredValue,
  seal,
  startAttempt,
  wakeTime,
} from '../../../src/run.ts';
import { drive, planOf } from '../drive.ts';
import { everyEntry } from '../scenario.ts';

describe('effects and the journal', () => {
  it('[RUN-60] drops stale, duplicate and foreign reports', () => {
    const run = drive({ nodes: { a: { retry: { attempts: 2, delay: '1s' } }, b: { needs: ['a'] } } });
    const first = { type: 'ended', node: 'a', attempt: 1, jitter: 0 } as const;
    const completed = { ...first, outcome: { status: 'completed', output: inlineValue(1) } } as const;
    run.fail('a').advance(1_000);
    run.step(completed);
    expect(run.statusOf('a')).toBe('running');
    run.complete('a');
    const frames = run.frames.length;
    run.step({ ...completed, attempt: 2 }, { ...completed, attempt: 3 }, { ...completed, node: 'nobody' });
    expect(run.frames.length).toBe(frames);
  });

  it('[RUN-61] repeats a lost idempotent attempt with the same key', () => {
    const run = drive({ nodes: { a: {} } });
    const key = run.attempts.get('a')?.idempotencyKey;
    run.loseWorker();
    expect(run.running()).toEqual(['a']);
    expect(run.attempts.get('a')).toMatchObject({ attempt: 2, idempotencyKey: key });
    expect(run.entries).toContainEqual(expect.objectContaining({ type: 'node.retrying', node: 'a' }));
  });

  it('[RUN-61] a poisonous node ends when too many of its attempts were lost', () => {
    const run = drive({ nodes: { a: { retry: { lost: 3, delay: '1s' } } } });
    for (let i = 0; i < 4; i++) run.loseWorker().advance(1_000);
    expect(run.status).toBe('failed');
    expect(run.error?.code).toBe('WORKER_LOST');
  });

  it.each([
    ['lost', (run: ReturnType<typeof drive>) => run.loseWorker()],
    ['aborted', (run: ReturnType<typeof drive>) => run.breakOff('pay')],
    ['timed out', (run: ReturnType<typeof drive>) => run.advance(60_000)],
  ])('[RUN-62] a once attempt that was %s leaves the outcome unknown', (_, happen) => {
    const run = drive({
      nodes: { pay: { action: 'pay@1', timeout: '10s', retry: { attempts: 9 } }, b: { needs: ['pay'] } },
    });
    happen(run);
    expect(run.statusOf('pay')).toBe('unknown');
    expect(run.running()).toEqual([]);
    expect(run.status).toBe('running');
    expect(run.advance(1_000_000).statusOf('pay')).toBe('unknown');
  });

  it('[RUN-62] a once attempt that says it failed is retried as any other', () => {
    const run = drive({ nodes: { pay: { action: 'pay@1', retry: { attempts: 2, delay: '1s' } } } });
    expect(run.fail('pay').statusOf('pay')).toBe('waiting');
  });

  it('[RUN-62] the node may say that its effect is harmless', () => {
    const run = drive({ nodes: { pay: { action: 'pay@1', effect: 'idempotent' } } }).loseWorker();
    expect(run.running()).toEqual(['pay']);
  });

  it('[RUN-63] a person settles an unknown outcome', () => {
    const unknown = () => drive({ nodes: { pay: { action: 'pay@1' }, b: { needs: ['pay'] } } }).loseWorker();
    const happened = unknown().settle('pay', { happened: true, output: { id: 7 } });
    expect(happened.document.nodes.pay).toMatchObject({ status: 'completed', output: { id: 7 } });
    expect(happened.running()).toEqual(['b']);
    const retried = unknown().settle('pay', { happened: false, then: 'retry' });
    expect(retried.running()).toEqual(['pay']);
    expect(retried.attempts.get('pay')?.attempt).toBe(2);
    const failed = unknown().settle('pay', { happened: false, then: 'fail' });
    expect(failed.status).toBe('failed');
    expect(failed.error).toMatchObject({ code: 'WORKER_LOST', node: 'pay' });
  });

  it('[RUN-64] a handed-back attempt is queued again and costs nothing', () => {
    const run = drive({ nodes: { a: { retry: { attempts: 1, lost: 0 } } } });
    for (let i = 0; i < 20; i++) run.handBack('a');
    expect(run.running()).toEqual(['a']);
    expect(run.complete('a').status).toBe('completed');
    expect(run.document.nodes.a?.attempts).toBe(21);
  });

  it('[RUN-65] [RUN-66] journal and snapshot give the same state at every frame of a run that meets every entry', () => {
    // Drive compares both after every step.
    const run = everyEntry();
    expect(run.status).toBe('cancelled');
    expect(run.statuses()).toEqual({
      e1: 'completed',
      e2: 'completed',
      a: 'completed',
      b: 'skipped',
      c: 'completed',
      pay: 'completed',
      d: 'completed',
      off: 'skipped',
      f: 'cancelled',
      g: 'cancelled',
      never: 'skipped',
    });
  });

  it('[RUN-67] a node that starts in the frame that made it ready has no scheduled entry', () => {
    const at = drive({ nodes: { a: {}, b: { needs: ['a'] } } }).complete('a');
    expect(at.entries.filter((entry) => entry.type === 'node.scheduled')).toEqual([]);
    const later = drive({ nodes: { a: {}, b: {} } }, { starts: false });
    expect(later.entries.at(-1)).toEqual({ type: 'node.scheduled', nodes: ['a', 'b'] });
    expect(later.start('a').statuses()).toEqual({ a: 'running', b: 'queued' });
  });

  it('[RUN-68] refuses an entry that it does not know', () => {
    const state = newRunState(planOf({ nodes: { a: {} } }), 'exe_1');
    const strange = { type: 'node.teleported', node: 'a' } as unknown as Entry;
    expect(() => evolve(state, strange, 1)).toThrow(expect.objectContaining({ code: 'JOURNAL_TOO_NEW' }));
  });

  it('[RUN-69] deciding on a node looks only at its own neighbourhood', () => {
    const nodes: Record<string, Record<string, unknown>> = { a: {}, b: { needs: ['a'] } };
    for (let i = 0; i < 500; i++) nodes[`n${i}`] = {};
    const plan = planOf({ nodes, config: { maxParallelism: 1_000 } });
    const state = newRunState(plan, 'exe_1');
    const begin = newTurn(state, 1, () => null);
    decide(begin, { type: 'start', input: {}, trigger: null });
    for (const { node, attempt } of nextReady(state, 1_000)) startAttempt(begin, node, attempt, 'w');
    const touched = new Set<string>();
    for (const node of plan.root.nodes) {
      const { outgoing, incoming } = node;
      const watch = <T>(value: T) => ({
        get: () => {
          touched.add(node.id);
          return value;
        },
      });
      Object.defineProperties(node, { outgoing: watch(outgoing), incoming: watch(incoming) });
    }
    const turn = newTurn(state, 2, () => null);
    const outcome = { status: 'completed', output: NULL_VALUE } as const;
    decide(turn, { type: 'ended', node: 'a', attempt: 1, outcome, jitter: 0 });
    expect([...touched].sort()).toEqual(['a']);
  });

  it('[RUN-93] names the spilled values that are needed next', () => {
    const nodes = {
      big: {},
      reader: { needs: ['big'], with: { x: '{{ $nodes.big.output.x }}' } },
      stranger: { needs: ['big'], with: { y: 1 } },
    };
    const run = drive({ nodes, output: '{{ $nodes.big.output }}' });
    const blob = { sha256: 'ab'.repeat(32), bytes: 99 };
    const ended = {
      type: 'ended',
      node: 'big',
      attempt: 1,
      outcome: { status: 'completed', output: { blob } },
      jitter: 0,
    } as const;
    expect(blobsToDecide(run.state, [ended])).toEqual([blob]);
    run.step(ended);
    expect(run.state.spilled).toBe(1);
    expect(blobsToStart(run.state, 'reader')).toEqual([blob]);
    expect(blobsToStart(run.state, 'stranger')).toEqual([]);
  });

  it('[RUN-66] a node may be called __proto__', () => {
    const nodes = JSON.parse('{ "__proto__": {}, "constructor": { "needs": ["__proto__"] } }');
    const run = drive({ nodes }).complete('__proto__', 1);
    expect(run.running()).toEqual(['constructor']);
    expect(run.complete('constructor', 2).output).toEqual({ constructor: 2 });
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
    const state = foldFrames(newRunState(run.plan, 'exe_test'), run.frames);
    const turn = newTurn(state, run.now, () => null);
    const error: RunError = { code: 'X', kind: 'USER', message: 'x' };
    decide(turn, { type: 'ended', node: 'a', attempt: 3, outcome: { status: 'failed', error }, jitter: 0 });
    seal(turn);
    expect(turn.entries.at(-1)).toEqual({ type: 'node.scheduled', nodes: ['a'] });
    expect(state.ready.size).toBe(1);
  });
});

describe('explaining', () => {
  it('[RUN-90] says why, for every status', () => {
    const run = drive({
      config: { maxParallelism: 2, onFailure: 'finish-running' },
      nodes: {
        a: { priority: 9 },
        pay: { action: 'pay@1', priority: 8 },
        q: { priority: 7 },
        p: { needs: ['a'] },
        s: { when: 'false' },
        off: { enabled: false },
        r: { needs: ['off'], priority: 6, retry: { attempts: 2, delay: '1m' } },
      },
    });
    const reasons = (node: string): string => explainNode(run.state, node, run.now)?.reasons.join(' ') ?? '';
    expect(reasons('a')).toContain('Attempt 1 has been running');
    expect(reasons('q')).toContain('2 of 2 (maxParallelism) are held by a, pay');
    expect(reasons('p')).toContain('It waits for a (running)');
    expect(reasons('s')).toContain('its condition is false (`when`)');
    expect(reasons('off')).toContain('disabled');
    run.loseWorker();
    expect(reasons('pay')).toContain('It is unknown whether attempt 1 took effect');
    expect(explainNode(run.state, 'pay', run.now)?.next[0]).toContain('nebula executions settle exe_test pay');
    run.fail('a');
    expect(reasons('a')).toContain('BROKEN');
    expect(reasons('p')).toContain('Skipped: `a` failed, and `join: all` tolerates no failed step');
    run.complete('q');
    expect(reasons('q')).toContain('completed with attempt 1');
    run.fail('r');
    expect(reasons('r')).toContain('the next one comes in 1m');
    expect(explainRun(run.state, run.now).reasons.join(' ')).toContain('pay: It is unknown');
    run.cancel();
    expect(reasons('r')).toContain('run ended as cancelled');
    expect(explainNode(run.state, 'nobody', run.now)).toBeUndefined();
    expect(explainRun(run.state, run.now).next[0]).toContain('retry');
  });

  it('[RUN-91] the document lists every node with its times', () => {
    const run = drive({ nodes: { a: {}, b: { needs: ['a'] }, c: { when: 'false' } } }, { input: { x: 1 } });
    run.now += 50;
    run.complete('a', { ok: true });
    expect(run.document.nodes).toMatchObject({
      a: { status: 'completed', attempts: 1, output: { ok: true }, error: null },
      b: { status: 'running', attempts: 1, output: null, finishedAt: null },
      c: { status: 'skipped', attempts: 0, startedAt: null },
    });
    const { startedAt, finishedAt } = run.document.nodes.a as { startedAt: string; finishedAt: string };
    expect(Date.parse(finishedAt) - Date.parse(startedAt)).toBe(50);
  });

  it('[RUN-92] the timeline has the names that dashboards know', () => {
    const run = drive({ nodes: { a: { retry: { attempts: 2, delay: '1s' } }, b: { when: 'false' } } });
    run.fail('a').advance(1_000).complete('a');
    const events = run.frames.flatMap((frame) => frame.entries.flatMap((entry) => timelineOf(entry, frame.at)));
    expect(events.map((event) => event.type)).toEqual([
      'WorkflowStarted',
      'NodeSkipped',
      'NodeStarted',
      'NodeRetried',
      'NodeStarted',
      'NodeCompleted',
      'WorkflowCompleted',
    ]);
  });

  it('[RUN-87] the wake time is never later than the next timer', () => {
    const run = drive({ config: { timeout: '1h' }, nodes: { a: { retry: { attempts: 2, delay: '2s' } } } });
    expect(wakeTime(run.state, run.now, 30_000)).toBe(run.now + 30_000);
    run.fail('a');
    expect(wakeTime(run.state, run.now, 30_000)).toBe(run.now + 2_000);
    const parked = drive({ nodes: { pay: { action: 'pay@1' } } }).loseWorker();
    expect(wakeTime(parked.state, parked.now, 30_000)).toBeNull();
  });
});

describe('verify', () => {
  it('[RUN-70] verify settles the outcome; if it cannot tell, a person does', () => {
    const unknown = () => drive({ nodes: { pay: { action: 'pay@1' } } }).loseWorker();
    const verified = (settlement: Settlement) =>
      unknown().step({ type: 'settle', node: 'pay', by: 'verify', settlement });
    expect(verified({ happened: true, output: 1 }).status).toBe('completed');
    expect(verified({ happened: false, then: 'retry' }).running()).toEqual(['pay']);
    const unclear = verified({ happened: 'unknown' });
    expect(unclear.statusOf('pay')).toBe('unknown');
    expect(unclear.settle('pay', { happened: true, output: 2 }).status).toBe('completed');
  });
});

it('[RUN-579] an entry about something that the plan does not have, or that was never opened, stops the fold', () => {
  const { state, now } = drive({
    nodes: { a: {}, l: { needs: ['a'], forEach: { in: '[1]' }, do: { nodes: { x: {} } } } },
  });
  expect(() => evolve(state, { type: 'node.completed', node: 'gone' }, now)).toThrow(
    "the journal of exe_test names node 'gone', which its plan does not have",
  );
  expect(() => evolve(state, { type: 'scopes.opened', node: 'l', from: 0, to: 1 }, now)).toThrow("'l' has been opened");
});

describe('large values', () => {
  const blob = { sha256: 'ab', bytes: 9 };
  const values = { store: (value: Json) => (value === 'large' ? { blob } : inlineValue(value)), lookup: () => 'large' };

  it('[RUN-592] are foreseen for everything that a timer may end', () => {
    const nodes = { a: {}, w: { wait: { for: '1m' } }, b: { needs: ['w', 'a'], when: '$a == 1' } };
    const run = drive({ nodes }, { values }).complete('a', 'large');
    expect(blobsToDecide(run.state, [{ type: 'wake', lost: [], jitter: 0 }])).toEqual([blob]);
    expect(blobsToDecide(run.state, [{ type: 'answer', node: 'gone', approved: true, by: 'Ada' }])).toEqual([]);
  });

  it('[RUN-593] are foreseen for an attempt that reads the input, the items or its own parameters', () => {
    const store = (value: Json): StoredValue => {
      const sha256 = isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : '';
      return sha256.includes('large') ? { blob: { sha256, bytes: 9 } } : inlineValue(value);
    };
    const lookup = ({ sha256 }: { sha256: string }) => JSON.parse(sha256);
    const a = { with: { large: 'parameter' }, retry: { attempts: 2, delay: '1s' } };
    const nodes = { each: { forEach: { in: ['large item'] }, do: { nodes: { a } } } };
    const run = drive({ nodes }, { input: { large: 'input' }, values: { store, lookup } }).fail('each/0/a');
    expect(blobsToStart(run.state, 'each/0/a').map(({ sha256 }) => sha256)).toEqual([
      '{"large":"input"}',
      '["large item"]',
      '{"large":"parameter"}',
    ]);
    expect(run.advance(1_000).attempts.get('each/0/a')?.input).toEqual({ large: 'parameter' });
  });
});
