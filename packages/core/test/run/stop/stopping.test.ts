/** Stops from outside: children, transactions, and unknown outcomes. */
import { describe, expect, it } from 'vitest';
import { type Json, RUN_DEFAULTS } from '../../../src/index.ts';
import { explainRun, foldFrames, hasEndChecks, isParked, newRunState, undoPlanOf, wakeTime } from '../../../src/run.ts';
import { type Drive, drive } from '../drive.ts';

const undo = { compensate: { action: 'do@1' } };
const LEAVE = { type: 'cancel', reason: 'leave it', compensate: false } as const;
const explained = (run: Drive) => explainRun(run.state, run.now).reasons.join('\n');
const childEnds = (run: Drive, node: string, status = 'cancelled', output: Json = null, more = {}) => {
  const { executionId = '' } = run.children.findLast((child) => child.node === node) ?? {};
  const error = status === 'failed' ? { code: 'X', kind: 'USER', message: 'x' } : null;
  const result = { status, output, error, ...more } as never;
  return run.step({ type: 'child', node, executionId, result, jitter: 0 });
};

describe('attempts', () => {
  it('[RUN-544] that fail while their run is being stopped are not retried', () => {
    const run = drive({ nodes: { a: { retry: { attempts: 3, delay: '1s' } }, b: {} } }).cancel();
    run.fail('a').breakOff('b');
    expect(run.entries.filter(({ type }) => type === 'node.retrying')).toEqual([]);
    expect([run.status, run.statusOf('a')]).toEqual(['cancelled', 'failed']);
  });
});

describe('children', () => {
  const other = { workflow: { id: 'other', mode: 'child' } };
  const flow = { nodes: { p: undo, k: { needs: ['p'], ...other } } };

  it('[RUN-152] are waited for, longer than attempts are', () => {
    const run = drive(flow).complete('p').cancel().advance(3_600_000);
    expect(run.running()).toEqual([]);
    expect(run.status).toBe('running');
    childEnds(run, 'k');
    expect(run.running()).toEqual(['~undo/p']);
    expect(run.complete('~undo/p').status).toBe('cancelled');
  });

  it('[RUN-152] get the compensate option of the cancel, even of a later one', () => {
    const cancels = (run: Drive) => run.cancels.map(({ compensate }) => compensate);
    expect(cancels(drive(flow).complete('p').step(LEAVE))).toEqual([false]);
    expect(cancels(drive(flow).complete('p').cancel().step(LEAVE))).toEqual([true, false]);
    const loop = { forEach: { in: [1] }, do: { nodes: { k: other } } };
    const node = drive({ nodes: { l: loop, z: {} } }).step({ ...LEAVE, node: 'l' });
    expect(cancels(node)).toEqual([false]);
    expect(childEnds(node, 'l/0/k').statusOf('l')).toBe('cancelled');
  });

  it('[RUN-230] that failed, or were cut off, are continued by a retry of the run', () => {
    const run = drive({ nodes: { k: other, f: {} } }).fail('f');
    childEnds(run, 'k').retry();
    const asked = () => run.children.map(({ executionId, again }) => [executionId, again]);
    expect(asked()).toEqual([
      ['exe_child0', false],
      ['exe_child0', true],
    ]);
    childEnds(run, 'k', 'failed').breakOff('f').retry().complete('f');
    expect(asked().at(-1)).toEqual(['exe_child0', true]);
    expect(childEnds(run, 'k', 'completed', 5).output).toEqual({ k: 5, f: null });
  });

  it('[RUN-230] are others after a replay, a retry by policy, and where none could be started', () => {
    const once = { nodes: { k: { ...other, retry: { attempts: 2, delay: '1s' } } } };
    const run = drive(once);
    childEnds(run, 'k', 'failed').advance(1_000);
    childEnds(run, 'k', 'failed').retry();
    childEnds(run, 'k', 'completed').step({ type: 'replay', node: 'k' });
    expect(run.children.map(({ executionId }) => executionId)).toEqual([
      'exe_child0',
      'exe_child1',
      'exe_child1',
      'exe_child3',
    ]);
    const lost = drive({ nodes: { k: other } });
    childEnds(lost, 'k', 'failed', null, { notStarted: true }).retry();
    expect(lost.children.map(({ executionId }) => executionId)).toEqual(['exe_child0', 'exe_child1']);
  });

  it('[RUN-231] that have had their time are cancelled, and their node ends after them', () => {
    const late = { nodes: { k: { timeout: { total: '1s' }, ...other }, z: {} } };
    const run = drive(late).advance(1_000).advance(60_000);
    expect(run.cancelled).toEqual(['exe_child0']);
    expect(run.statusOf('k')).toBe('running');
    expect(explained(run)).toContain('was asked to stop; the node ends after it');
    childEnds(run, 'k').breakOff('z');
    expect(run.error).toMatchObject({ code: 'TIMEOUT', node: 'k' });
    const done = drive(late).advance(1_000);
    expect(childEnds(done, 'k', 'completed', 1).statusOf('k')).toBe('completed');
  });

  it('[RUN-231] of a node that is cancelled are cancelled, and it ends after them', () => {
    const run = drive({ nodes: { k: other, after: { needs: ['k'] }, z: {} } });
    const cancel = { type: 'cancel', reason: 'no', node: 'k' } as const;
    run.step(cancel).step(cancel);
    expect(run.cancelled).toEqual(['exe_child0']);
    expect(run.statusOf('k')).toBe('running');
    childEnds(run, 'k');
    expect(run.statuses()).toMatchObject({ k: 'cancelled', after: 'skipped', z: 'running' });
  });

  it('[RUN-150] are looked for once, by any awake engine, after they were requested', () => {
    const run = drive({ nodes: { a: { workflow: { id: 'sub', mode: 'child' } } } });
    const asked = run.now;
    expect(wakeTime(run.state, run.now, 30_000)).toBe(asked + 30_000);
    expect(wakeTime(run.advance(30_000).state, run.now, 30_000)).toBeNull();
  });
});

describe('transactions', () => {
  const tx = (more = {}) => ({ workflow: { id: 'tx', isolation: 'transactional' }, ...more });
  const workflows = {
    tx: { nodes: { a: undo, b: { needs: ['a'], ...undo }, w: { needs: ['b'], wait: { signal: 'never' } } } },
    slow: { nodes: { a: undo, b: { needs: ['a'] } } },
  };
  const handled = (t: object) => ({ nodes: { t, h: {} }, edges: [{ from: 't', to: 'h', on: 'error' }] }) as never;
  const done = (run: Drive, at = 't') => run.complete(`${at}/a`).complete(`${at}/b`);

  it('[RUN-232] beyond the time of their node are undone first', () => {
    const run = done(drive(handled(tx({ timeout: { total: '1s' } })), { workflows })).advance(1_000);
    expect(run.running()).toEqual(['t/~undo/t:b']);
    expect(explained(run)).toContain('It fails once its running nodes have stopped, and t has been undone');
    run.advance(60_000).complete('t/~undo/t:b');
    expect(run.running()).toEqual(['t/~undo/t:a']);
    run.complete('t/~undo/t:a');
    expect(run.running()).toEqual(['h']);
    expect(run.complete('h').status).toBe('completed');
  });

  it('[RUN-232] that are cancelled are undone first, unless their canceller refuses', () => {
    const run = done(drive({ nodes: { t: tx(), after: { needs: ['t'] }, z: {} } }, { workflows }));
    run.step({ type: 'cancel', reason: 'no', node: 't' });
    expect(run.statusOf('t')).toBe('running');
    run.complete('t/~undo/t:b').complete('t/~undo/t:a');
    expect(run.statuses()).toMatchObject({ t: 'cancelled', after: 'skipped' });
    const kept = done(drive({ nodes: { t: tx(), z: {} } }, { workflows })).step({ ...LEAVE, node: 't' });
    expect(kept.statusOf('t')).toBe('cancelled');
    const half = done(drive({ nodes: { t: tx(), z: {} } }, { workflows }));
    half
      .step({ type: 'cancel', reason: 'no', node: 't' })
      .complete('t/~undo/t:b')
      .step({ ...LEAVE, node: 't' });
    expect(half.aborted).toEqual(['t/~undo/t:a']);
    expect(half.breakOff('t/~undo/t:a').statusOf('t')).toBe('cancelled');
  });

  it('[RUN-232] in iterations that are cut off are undone before the loop ends', () => {
    const loop = { forEach: { in: [1, 2], parallel: true }, do: { nodes: { t: tx(), f: {} } } };
    const run = drive(handled(loop), { workflows });
    done(done(run, 't/0/t'), 't/1/t').complete('t/1/f').fail('t/0/f');
    expect(run.running()).toEqual(['t/0/t/~undo/t:0:t:b']);
    run.complete('t/0/t/~undo/t:0:t:b').complete('t/0/t/~undo/t:0:t:a');
    expect(run.running()).toEqual(['t/1/t/~undo/t:1:t:b']);
    run.complete('t/1/t/~undo/t:1:t:b').complete('t/1/t/~undo/t:1:t:a');
    expect(run.running()).toEqual(['h']);
    run.complete('h');
    expect(run.status).toBe('completed');
  });

  it('[RUN-232] that lose to another iteration are undone before the merge continues', () => {
    const flow = {
      nodes: {
        s: { split: { in: [1, 2] } },
        t: { needs: ['s'], workflow: { id: 'slow', isolation: 'transactional' } },
        m: { needs: ['t'], merge: { wait: 'any' } },
      },
    };
    const run = drive(flow as never, { workflows });
    run.complete('s/0/t/a').complete('s/1/t/a').complete('s/0/t/b').breakOff('s/1/t/b');
    expect(run.running()).toEqual(['s/1/t/~undo/s:1:t:a']);
    expect(run.complete('s/1/t/~undo/s:1:t:a').status).toBe('completed');
  });

  it('[RUN-233] continue their undo while the run is stopped, and nothing is undone twice', () => {
    const flow = { nodes: { first: undo, t: { ...tx(), needs: ['first'] }, z: { needs: ['first'] } } };
    const failing = { tx: { nodes: { a: undo, b: { needs: ['a'], ...undo }, f: { needs: ['b'] } } } };
    const run = done(drive(flow, { workflows: failing }).complete('first')).fail('t/f');
    expect(run.running()).toEqual(['z', 't/~undo/t:b']);
    run.cancel().breakOff('z');
    expect(run.aborted).toEqual(['z']);
    expect(explained(run)).toContain('once t/~undo/t:b has stopped and t has been undone');
    run.advance(60_000).complete('t/~undo/t:b');
    expect(run.running()).toEqual(['t/~undo/t:a']);
    run.complete('t/~undo/t:a');
    expect(run.running()).toEqual(['~undo/first']);
    expect(run.complete('~undo/first').status).toBe('cancelled');
    expect(run.state.undone.toSorted()).toEqual(['first', 't/a', 't/b']);
    expect(run.retry().running()).toEqual(['first']);
  });

  it('[RUN-233] stop their undo when the run is cancelled without compensation', () => {
    const failing = { tx: { nodes: { a: undo, b: { needs: ['a'], ...undo }, f: { needs: ['b'] } } } };
    const run = done(drive({ nodes: { t: tx(), z: {} } }, { workflows: failing }))
      .fail('t/f')
      .step(LEAVE);
    expect(run.aborted.toSorted()).toEqual(['t/~undo/t:b', 'z']);
    run.breakOff('z').complete('t/~undo/t:b');
    expect(run.status).toBe('cancelled');
    expect(run.state.undone).toEqual(['t/b']);
    expect(run.retry().running().toSorted()).toEqual(['t/b', 'z']);
  });

  it('[RUN-233] inside of each other undo one after the other', () => {
    const nested = {
      outer: { nodes: { x: undo, t: { ...tx(), needs: ['x'] }, f: { needs: ['x'] } } },
      tx: { nodes: { a: undo, b: { needs: ['a'], ...undo }, f: { needs: ['b'] } } },
    };
    const run = drive(
      { nodes: { o: { workflow: { id: 'outer', isolation: 'transactional' } } } },
      { workflows: nested },
    );
    done(run.complete('o/x'), 'o/t').fail('o/t/f').fail('o/f');
    expect(run.running()).toEqual(['o/t/~undo/o:t:b']);
    run.complete('o/t/~undo/o:t:b').complete('o/t/~undo/o:t:a');
    expect(run.running()).toEqual(['o/~undo/o:x']);
    expect(run.complete('o/~undo/o:x').status).toBe('failed');
  });
});

describe('unknown outcomes', () => {
  const pay = { action: 'pay@1', ...undo };

  it('[RUN-234] [RUN-236] block a run that is to be undone until they are settled', () => {
    const run = drive({ nodes: { p: pay } })
      .cancel()
      .breakOff('p');
    expect(run.status).toBe('compensating');
    expect(isParked(run.state, run.now)).toBe(true);
    expect(explained(run)).toContain('will end as cancelled once a person has settled p');
    run.settle('p', { happened: true, output: 1 });
    expect(run.running()).toEqual(['~undo/p']);
    expect(run.complete('~undo/p').status).toBe('cancelled');
    const not = drive({ nodes: { p: pay } })
      .cancel()
      .breakOff('p')
      .settle('p', { happened: false, then: 'fail' });
    expect(not.status).toBe('cancelled');
  });

  it('[RUN-248] of a compensation block a run whose undo is stopped, so that a retry knows which nodes to run again', () => {
    const refund = { ...undo, compensate: { action: 'pay@1' } };
    const stopped = () =>
      drive({ nodes: { a: undo, p: { needs: ['a'], ...refund }, f: { needs: ['p'] } } })
        .complete('a')
        .complete('p')
        .fail('f')
        .step(LEAVE)
        .breakOff('~undo/p');
    expect(stopped().status).toBe('compensating');
    expect(explained(stopped())).toContain('will end as failed once a person has settled ~undo/p');
    const was = stopped().settle('~undo/p', { happened: true, output: 1 });
    expect(was.status).toBe('failed');
    expect(was.retry().running()).toEqual(['p']);
    for (const then of ['fail', 'retry'] as const) {
      const not = stopped().settle('~undo/p', { happened: false, then });
      expect(not.status).toBe('failed');
      expect(not.attempts.has('~undo/a')).toBe(false);
      expect(not.retry().running()).toEqual(['f']);
      expect(not.fail('f').running()).toEqual(['~undo/p']);
    }
  });

  it('[RUN-249] the undo plan has completed nodes, last first, and not those that were undone', () => {
    const plan = (run: Drive) => undoPlanOf(run.state, () => null);
    const pay = (of: string) => ({ compensate: { action: 'pay@1', with: { of } } });
    const flow = { nodes: { a: pay('{{ $self.output }}'), b: { needs: ['a'], ...pay('b') }, f: { needs: ['b'] } } };
    const run = drive(flow).complete('a', 1).complete('b');
    const both = [
      { node: 'b', action: 'pay@1', with: { of: 'b' }, problem: null },
      { node: 'a', action: 'pay@1', with: { of: 1 }, problem: null },
    ];
    expect(plan(run)).toEqual({ toUndo: both, undone: [] });
    expect(plan(run.fail('f'))).toEqual({ toUndo: both, undone: [] });
    expect(plan(run.complete('~undo/b'))).toEqual({ toUndo: both.slice(1), undone: ['b'] });
    expect(plan(run.complete('~undo/a'))).toEqual({ toUndo: [], undone: ['b', 'a'] });
    // A retry runs both again, and has nothing to undo until then.
    expect(plan(run.retry())).toEqual({ toUndo: [], undone: [] });
    expect(plan(drive(flow).complete('a', 1).step(LEAVE))).toEqual({ toUndo: [], undone: [] });
  });

  it('[RUN-248] of an undoing holds the transaction whose undoing is stopped', () => {
    const workflows = { tx: { nodes: { p: { compensate: { action: 'pay@1' } }, f: { needs: ['p'] } } } };
    const flow = { nodes: { t: { workflow: { id: 'tx', isolation: 'transactional' } } } };
    const run = drive(flow, { workflows }).complete('t/p').fail('t/f').step(LEAVE).breakOff('t/~undo/t:p');
    expect(run.status).toBe('running');
    run.settle('t/~undo/t:p', { happened: false, then: 'retry' });
    expect(run.status).toBe('cancelled');
  });

  it('[RUN-234] holds no run that is not undone, or has nothing to undo it with', () => {
    expect(
      drive({ nodes: { p: pay } })
        .step(LEAVE)
        .breakOff('p').status,
    ).toBe('cancelled');
    expect(
      drive({ nodes: { p: pay } })
        .cancel()
        .breakOff('p')
        .step(LEAVE).status,
    ).toBe('cancelled');
    expect(
      drive({ nodes: { p: { action: 'pay@1' } } })
        .cancel()
        .breakOff('p').status,
    ).toBe('cancelled');
  });

  it('[RUN-234] holds the transaction around it', () => {
    const workflows = { tx: { nodes: { p: pay, f: {} } } };
    const flow = { nodes: { t: { workflow: { id: 'tx', isolation: 'transactional' } }, z: {} } };
    for (const then of ['fail', 'retry'] as const) {
      const run = drive(flow, { workflows }).breakOff('t/p').fail('t/f');
      expect(run.statusOf('t')).toBe('running');
      // Nothing is left over for a reader of the run: it would stay in memory.
      expect(hasEndChecks(foldFrames(newRunState(run.plan, 'exe_test'), run.frames))).toBe(false);
      run.settle('t/p', { happened: false, then }).breakOff('z');
      expect(run.status).toBe('failed');
    }
    const run = drive(flow, { workflows }).breakOff('t/p').fail('t/f').settle('t/p', { happened: true, output: 1 });
    run.complete('t/~undo/t:p').breakOff('z');
    expect(run.status).toBe('failed');
    expect(run.attempts.has('~undo/t:p')).toBe(false);
  });
});

describe('pausing a run that is ending', () => {
  const flow = {
    config: { failureNode: 'tell' },
    nodes: { a: undo, b: { needs: ['a'], ...undo }, f: { needs: ['b'] }, tell: {} },
  };
  const failing = () => drive(flow).complete('a').complete('b').fail('f');

  it('[RUN-235] holds an undo: running compensations end, none begins until the run is resumed', () => {
    const run = failing().step({ type: 'pause' }).complete('~undo/b').advance(60_000);
    expect([run.status, run.running()]).toEqual(['paused', []]);
    expect(isParked(run.state, run.now)).toBe(true);
    run.step({ type: 'resume' });
    expect([run.status, run.running()]).toEqual(['compensating', ['~undo/a']]);
    run.step({ type: 'pause' }).complete('~undo/a');
    expect([run.status, run.running()]).toEqual(['paused', []]);
    expect(run.step({ type: 'resume' }).running()).toEqual(['tell']);
    expect(run.complete('tell').status).toBe('failed');
  });

  it('[RUN-235] holds a run that is being stopped', () => {
    const run = drive({ nodes: { a: undo, z: { needs: ['a'] } } })
      .complete('a')
      .cancel()
      .step({ type: 'pause' });
    expect([run.breakOff('z').status, run.running()]).toEqual(['paused', []]);
    expect(run.step({ type: 'resume' }).running()).toEqual(['~undo/a']);
    expect(run.complete('~undo/a').status).toBe('cancelled');
  });

  it('[RUN-235] ends when a cancel skips the rest of the undo', () => {
    const run = failing().step({ type: 'pause' }).step(LEAVE).breakOff('~undo/b');
    expect(run.running()).toEqual(['tell']);
    expect(run.complete('tell').status).toBe('failed');
  });
});

describe('a second cancel', () => {
  it('[RUN-276] [RUN-29] gives its own grace time, also to an engine that loads the journal', () => {
    const edges = [{ from: 'a', to: 'tidy', on: 'always' }] as const;
    const run = drive({ nodes: { a: {}, tidy: {} }, edges })
      .cancel()
      .breakOff('a')
      .advance(3_000)
      .cancel('now');
    const loaded = foldFrames(newRunState(run.plan, run.state.executionId), run.frames);
    const until = run.now + RUN_DEFAULTS.cancelGraceMs;
    expect([run.state, loaded].map((state) => wakeTime(state, run.now, 1e12))).toEqual([until, until]);
  });
});
