import { describe, expect, it } from 'vitest';
import { explainNode, openAttempts, wakeTime } from '../../src/run.ts';
import { drive } from './drive.ts';

const pay = (more: Record<string, unknown> = {}) => ({ action: 'pay@1', ...more });

describe('unknown outcomes', () => {
  it('[RUN-72] a settlement of one attempt does not apply to a later one', () => {
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

  it('[RUN-540] the loss of an earlier attempt does not break off the open one', () => {
    const run = drive({ nodes: { a: {}, pay: pay() } });
    const lost = openAttempts(run.state);
    run.loseWorker().settle('pay', { happened: false, then: 'retry' });
    const attempts = () => run.running().map((node) => `${node} ${run.attempts.get(node)?.attempt}`);
    expect(attempts().sort()).toEqual(['a 2', 'pay 2']);
    run.step({ type: 'wake', lost, jitter: 0.5 });
    expect(attempts().sort()).toEqual(['a 2', 'pay 2']);
    expect(run.complete('a').complete('pay').status).toBe('completed');
  });

  it('[RUN-73] a settlement stands, whatever else is decided in its turn', () => {
    const run = drive({ nodes: { pay: pay(), b: {} } }).breakOff('pay');
    const settlement = { happened: false, then: 'retry' } as const;
    const settle = { type: 'settle', node: 'pay', by: 'person', settlement } as const;
    run.step(settle, settle, { type: 'cancel', reason: 'enough' }).breakOff('b');
    expect(run.statuses()).toEqual({ pay: 'cancelled', b: 'cancelled' });
    expect(run.entries.filter(({ type }) => type === 'node.settled')).toHaveLength(1);
    expect(run.retry().running().sort()).toEqual(['b', 'pay']);
  });

  it('[RUN-73] a node to be repeated while the run is being stopped is known not to have happened', () => {
    const run = drive({ nodes: { pay: pay(), b: {} } })
      .breakOff('pay')
      .cancel();
    run.settle('pay', { happened: false, then: 'retry' });
    expect(run.statusOf('pay')).toBe('cancelled');
    expect(run.breakOff('b').status).toBe('cancelled');
  });

  it('[RUN-89] a retry from failed keeps an unknown outcome, and accepts its settlement again', () => {
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

  it('[RUN-87] a run whose ready nodes are held back by an unknown outcome is not woken', () => {
    const nodes = { pay: pay(), a: {}, c: { needs: ['a'] } };
    const run = drive({ config: { mode: 'levels' }, nodes })
      .complete('a')
      .breakOff('pay');
    expect(run.statuses()).toEqual({ pay: 'unknown', a: 'completed', c: 'queued' });
    expect(wakeTime(run.state, run.now, 1_000)).toBeNull();
    expect(run.settle('pay', { happened: true, output: null }).running()).toEqual(['c']);
  });
});
