import { describe, expect, it } from 'vitest';
import { explainNode, explainRun, holderCauses } from '../../src/run.ts';
import { drive } from '../run/drive.ts';

describe('an explanation', () => {
  it('[VIEW-12] names the code, the node, the figures and the execution of each cause', () => {
    const run = drive(
      {
        nodes: {
          a: { retry: { attempts: 3, delay: '1s' } },
          c: { workflow: { id: 'other', mode: 'child' } },
          later: { needs: ['a', 'c'] },
        },
      },
      {},
    ).fail('a', { code: 'BUSY' });
    const until = run.now + 1_000;
    const causesOf = (node: string) => explainNode(run.state, node, run.now)?.causes;
    expect(causesOf('a')).toMatchObject([
      { code: 'attempt-failed', value: { attempt: 1, code: 'BUSY', until } },
      { code: 'retries', value: { retries: [{ used: 1, of: 2 }] } },
    ]);
    expect(causesOf('c')).toMatchObject([{ code: 'child-running', link: { executionId: 'exe_child0' } }]);
    expect(causesOf('later')).toMatchObject([{ code: 'upstream', value: { sources: { a: 'waiting', c: 'running' } } }]);
    const whole = explainRun(run.state, run.now);
    expect(whole.causes.map(({ code, node }) => [code, node])).toEqual([
      ['attempt-failed', 'a'],
      ['child-running', 'c'],
      ['pending', undefined],
    ]);
    expect(whole.reasons).toEqual(whole.causes.map(({ message }) => message));
  });

  it('[VIEW-12] names the edges that decided, with their verdicts', () => {
    const run = drive({
      config: { onFailure: 'finish-running' },
      nodes: { a: {}, b: {}, mend: {}, join: { needs: ['a', 'b'] } },
      edges: [{ from: 'a', to: 'mend', on: 'error' }],
    });
    run.complete('b').fail('a', { code: 'BAD' });
    const edges = explainNode(run.state, 'join', run.now)?.causes.flatMap(({ edge }) => edge ?? []);
    expect(edges).toEqual([
      { from: 'a', to: 'join', on: 'success', verdict: 'failure' },
      { from: 'b', to: 'join', on: 'success', verdict: 'taken' },
    ]);
    expect(explainNode(run.state, 'a', run.now)?.causes).toMatchObject([
      { code: 'error', value: { code: 'BAD' } },
      { code: 'handling', value: { handling: 'handled' } },
      { code: 'retries' },
      { code: 'edge', edge: { to: 'join', verdict: 'failure' } },
    ]);
  });

  it('[VIEW-13] names the holders of a key, and the number of waiters before', () => {
    const holders = [
      { executionId: 'exe_1', node: 'pay', since: 1_000 },
      { executionId: 'exe_2', node: 'pay', since: null },
    ];
    const causes = holderCauses({ holders, before: 2 }, 4_000);
    expect(causes.map(({ message }) => message)).toEqual([
      'It is held by pay of exe_1 (for 3s).',
      'It is held by pay of exe_2 (not begun yet); 2 others wait before it.',
    ]);
    expect(causes[0]).toMatchObject({ code: 'held-by', link: { executionId: 'exe_1', node: 'pay' } });
    expect(holderCauses({ holders: [], before: 0 }, 0)[0]?.message).toBe('No one holds it now.');
  });
});
