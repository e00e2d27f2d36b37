/** Points on which documents once differed: what the run does, and all documents say. */
import { describe, expect, it } from 'vitest';
import { gateRequestId, type NodeState } from '../../../src/run.ts';
import { drive } from '../drive.ts';

describe('terminate', () => {
  it('[RUN-349] ends the run from the body of a loop', () => {
    const run = drive({
      nodes: {
        each: { forEach: { in: [1, 2] }, do: { nodes: { end: { terminate: 'completed', with: { output: 'over' } } } } },
        after: { needs: ['each'] },
      },
    });
    expect([run.status, run.output]).toEqual(['completed', 'over']);
    expect(run.statusOf('after')).toBe('cancelled');
  });

  it('[RUN-349] ends the run from a workflow that runs inside', () => {
    const run = drive(
      { nodes: { sub: { workflow: { id: 'other' } }, after: { needs: ['sub'] } } },
      { workflows: { other: { nodes: { end: { terminate: 'completed', with: { output: 'over' } } } } } },
    );
    expect([run.status, run.output]).toEqual(['completed', 'over']);
    expect(run.statusOf('after')).toBe('cancelled');
  });
});

describe('a call by the path of the node', () => {
  it('[RUN-350] that comes before the node waits changes nothing', () => {
    const run = drive({ nodes: { a: {}, ring: { needs: ['a'], wait: { callback: true } } } });
    run.step({ type: 'callback', node: 'ring', payload: 'early' }).complete('a');
    expect(run.statusOf('ring')).toBe('waiting');
    run.step({ type: 'callback', node: 'ring', payload: 'late' });
    expect(run.document.nodes.ring?.output).toMatchObject({ payload: 'late' });
  });
});

describe('the place for a key', () => {
  const keyed = (more: object = {}) => ({ concurrency: { key: 'k', limit: 1 }, ...more });
  const permits = (node: string, run: ReturnType<typeof drive>): readonly string[] =>
    run.state.root.nodes.find(({ plan }) => plan.id === node)?.permits ?? [];
  const granted = { type: 'granted', node: 'a', gate: 'concurrency' } as const;

  it('[RUN-351] is released between attempts, also after a lost one', () => {
    const failed = drive({ nodes: { a: keyed({ retry: { attempts: 2, delay: '1h' } }) } }).step(granted);
    expect(permits('a', failed)).toEqual(['key:k']);
    expect(permits('a', failed.fail('a'))).toEqual([]);
    const lost = drive({ nodes: { a: keyed({ retry: { attempts: 2, delay: '1h' } }) } }).step(granted);
    lost.loseWorker();
    expect(lost.running()).toEqual([]);
    expect(lost.statusOf('a')).toBe('waiting');
  });

  it('[RUN-351] is kept while the outcome of a `once` attempt is unknown', () => {
    const run = drive({ nodes: { a: keyed({ action: 'pay@1' }) } })
      .step(granted)
      .loseWorker();
    expect(run.statusOf('a')).toBe('unknown');
    expect(permits('a', run)).toEqual(['key:k']);
    run.settle('a', { happened: true, output: null });
    expect(permits('a', run)).toEqual([]);
  });
});

describe('the place for a key in a finally', () => {
  it('[RUN-455] is requested anew, and an earlier grant has no effect', () => {
    const run = drive({
      nodes: { a: {}, b: { retry: { attempts: 1 } }, tidy: { concurrency: { key: 'k', limit: 1 } } },
      edges: [{ from: 'a', to: 'tidy', on: 'always' }],
    }).complete('a');
    const tidy = run.state.root.nodes.find(({ plan }) => plan.id === 'tidy') as NodeState;
    const before = gateRequestId(run.state, tidy);
    run.fail('b');
    const granted = { type: 'granted', node: 'tidy', gate: 'concurrency' } as const;
    expect(run.statusOf('tidy')).toBe('waiting');
    expect(run.step({ ...granted, ask: before }).statusOf('tidy')).toBe('waiting');
    expect(run.step({ ...granted, ask: gateRequestId(run.state, tidy) }).statusOf('tidy')).toBe('running');
  });

  it('[RUN-455] is not requested anew by a node that began before and waits between two attempts', () => {
    const key = { concurrency: { key: 'k', limit: 1 }, retry: { attempts: 3, delay: '1s' } };
    const run = drive({
      nodes: { a: {}, b: { retry: { attempts: 1 } }, tidy: key },
      edges: [{ from: 'a', to: 'tidy', on: 'always' }],
    }).complete('a');
    const granted = { type: 'granted', node: 'tidy', gate: 'concurrency' } as const;
    run.step(granted).fail('tidy').advance(1_000);
    const tidy = run.state.root.nodes.find(({ plan }) => plan.id === 'tidy') as NodeState;
    const ask = gateRequestId(run.state, tidy);
    expect(run.statusOf('tidy')).toBe('waiting');
    expect(run.fail('b').statusOf('tidy')).toBe('waiting');
    expect(run.step({ ...granted, ask }).statusOf('tidy')).toBe('running');
  });
});

describe('mode sequential', () => {
  it('[RUN-53] follows the order of the definition, whatever the priority', () => {
    const run = drive({ config: { mode: 'sequential' }, nodes: { a: { priority: 0 }, b: { priority: 9 } } });
    expect(run.running()).toEqual(['a']);
  });
});

describe('$index in until', () => {
  it('[RUN-217] is the number of iterations so far', () => {
    const run = drive({
      nodes: { p: { retryUntil: { until: '$index == 2', attempts: 9 }, do: { nodes: { x: {} } } } },
    });
    run.complete('p/0/x').advance(60_000);
    expect(run.statusOf('p')).toBe('running');
    run.complete('p/1/x');
    expect(run.statusOf('p')).toBe('completed');
  });

  it('[EXP-112] edges share a budget: plain conditions of a thousand are taken, costly ones are not', () => {
    const targets = Array.from({ length: 1_000 }, (_, index) => `b${index}`);
    const flow = (when: string) => ({
      nodes: { a: {}, ...Object.fromEntries(targets.map((id) => [id, {}])) },
      edges: targets.map((to) => ({ from: 'a', to, when })),
    });
    const plain = drive(flow('$nodes.a.output.n > 1')).complete('a', { n: 2 });
    expect(plain.statusOf('b999')).not.toBe('failed');
    const costly = drive(flow("'x'.repeat(900000).slug().length > 1")).complete('a', { n: 2 });
    expect(costly.statusOf('b0')).not.toBe('failed');
    expect(costly.error).toMatchObject({ code: 'EXPRESSION_LIMIT' });
    expect(costly.error?.message).toContain('the expressions of this node take too long together');
  });
});
