import { describe, expect, it } from 'vitest';
import {
  decide,
  documentOf,
  explainNode,
  inlineValue,
  NULL_VALUE,
  newRunState,
  newTurn,
  nextReady,
  nodeAt,
  type RunState,
  recallDispatched,
  seal,
  startAttempt,
  stopReason,
} from '../../../src/run.ts';
import { drive, planOf, type Short } from '../drive.ts';

const far = { labels: ['far'] };

function begun(short: Short): RunState {
  const state = newRunState(planOf(short), 'exe_test');
  decide(
    newTurn(state, 0, () => null),
    { type: 'start', input: {}, trigger: null },
  );
  return state;
}

const names = (state: RunState, window: number): string[] => nextReady(state, window).map(({ node }) => node);

describe('nodes that remote workers run', () => {
  it('[RUN-226] neither these nor those of this process take the place of the others', () => {
    const nodes = { a: far, b: far, c: far, d: {}, e: {}, f: {} };
    const state = begun({ nodes });
    expect(names(state, 2)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(names(state, 2)).toEqual([]);
    const turn = newTurn(state, 1, () => null);
    for (const node of ['a', 'b', 'd']) startAttempt(turn, node, 1, 'w');
    expect([state.dispatched, state.dispatchedRemote, state.runningRemote]).toEqual([2, 1, 2]);
    expect(names(state, 2)).toEqual([]);
    const output = NULL_VALUE;
    decide(turn, { type: 'ended', node: 'd', attempt: 1, outcome: { status: 'completed', output }, jitter: 0 });
    decide(turn, { type: 'ended', node: 'a', attempt: 1, outcome: { status: 'completed', output }, jitter: 0 });
    expect(names(state, 2)).toEqual(['f']);
    recallDispatched(state);
    expect([state.dispatched, state.dispatchedRemote, state.runningRemote]).toEqual([0, 0, 1]);
    expect(names(state, 9)).toEqual(['c', 'e', 'f']);
  });

  it('[RUN-543] a task that was taken before a pause does not start an attempt in it', () => {
    const state = begun({ nodes: { a: {} } });
    expect(names(state, 9)).toEqual(['a']);
    decide(
      newTurn(state, 1, () => null),
      { type: 'pause' },
    );
    const turn = newTurn(state, 2, () => null);
    expect(startAttempt(turn, 'a', 1, 'w')).toBeUndefined();
    expect(turn.entries).toEqual([]);
    decide(turn, { type: 'resume' });
    expect(names(state, 9)).toEqual(['a']);
    expect(startAttempt(turn, 'a', 1, 'w')).toMatchObject({ node: 'a', attempt: 1 });
  });

  it('[RUN-226] maxParallelism counts all, the most urgent first', () => {
    const nodes = { a: far, b: { ...far, priority: 9 }, c: { priority: 8 }, d: {} };
    expect(names(begun({ config: { maxParallelism: 2 }, nodes }), 9)).toEqual(['b', 'c']);
    const one = begun({ config: { mode: 'sequential' }, nodes });
    expect(names(one, 9)).toEqual(['a']);
    expect(names(one, 9)).toEqual([]);
  });

  it('[RUN-227] only the worker that has the attempt may report on it', () => {
    const run = drive({ nodes: { a: far } });
    const end = { type: 'ended', node: 'a', attempt: 1, jitter: 0 } as const;
    const outcome = { status: 'completed', output: inlineValue(1) } as const;
    const report = (worker: string) =>
      decide(
        newTurn(run.state, 1, () => null),
        { ...end, worker, outcome },
      );
    expect(report('somebody else')).toBe(false);
    expect(run.status).toBe('running');
    expect(report('wrk_test')).toBe(true);
    expect(run.status).toBe('completed');
    expect(report('wrk_test')).toBe(false);
  });

  it('[RUN-228] why an attempt is to stop is known from the state', () => {
    const run = drive({
      nodes: { a: far, loop: { forEach: { in: [1] }, do: { nodes: { x: far, y: {} } } } },
    });
    const nodeOf = (path: string) => nodeAt(run.state, path) as NonNullable<ReturnType<typeof nodeAt>>;
    expect(stopReason(run.state, nodeOf('loop/0/x'))).toBeNull();
    run.fail('loop/0/y');
    expect(stopReason(run.state, nodeOf('loop/0/x'))).toBe('loop/0/y is broken');
    expect(stopReason(run.state, nodeOf('a'))).toBeNull();
    run.cancel('enough');
    expect(stopReason(run.state, nodeOf('a'))).toBe('enough');
  });

  it('[RUN-229] it is explained for which worker a node waits', () => {
    const state = newRunState(planOf({ nodes: { a: { labels: ['b', 'a'] } } }), 'exe_test');
    const turn = newTurn(state, 5, () => null);
    decide(turn, { type: 'start', input: {}, trigger: null });
    seal(turn);
    const { nodes } = documentOf(state, () => null);
    expect(nodes['a']?.status).toBe('queued');
    expect(explainNode(state, 'a', 5)?.reasons[0]).toContain('a remote worker with do@1 and the labels a, b');
  });
});
